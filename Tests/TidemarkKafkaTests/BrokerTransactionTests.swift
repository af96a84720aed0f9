import Foundation
import Testing
import TidemarkKafka

/// What exactly-once rests on: offsets in transactions, fencing of producers and of group members.
extension BrokerTests {
    @Test func offsetsOfATransactionAreCommittedWithIt() throws {
        try createTopic(partitions: 2)
        let other = TopicPartition(topic: name, partition: 1)
        let member = try member()
        pollingAll([member.consumer]) { member.metadata != nil }
        let metadata = try #require(member.metadata)
        let producer = try producer()
        #expect(try member.consumer.committed([partition, other], timeoutMilliseconds: 10_000) == [:])

        try producer.begin()
        try producer.sendOffsets(
            [PartitionOffset(partition, offset: 42)], metadata: metadata, timeoutMilliseconds: 10_000)
        try producer.commit(timeoutMilliseconds: 10_000)
        #expect(try member.consumer.committed([partition, other], timeoutMilliseconds: 10_000) == [partition: 42])

        try producer.begin()
        try producer.sendOffsets(
            [PartitionOffset(partition, offset: 43)], metadata: metadata, timeoutMilliseconds: 10_000)
        let none = try #require(throws: KafkaError.self) {
            try producer.sendOffsets([], metadata: metadata, timeoutMilliseconds: 10_000)
        }
        #expect(none.code == .invalidArgument)
        try producer.abort(timeoutMilliseconds: 10_000)
        #expect(try member.consumer.committed([partition], timeoutMilliseconds: 10_000) == [partition: 42])
        member.consumer.close()
    }

    @Test func undecidedOffsetsAreNotReported() throws {
        try createTopic()
        let member = try member()
        pollingAll([member.consumer]) { member.metadata != nil }
        let metadata = try #require(member.metadata)
        let producer = try producer()
        try producer.begin()
        try producer.sendOffsets(
            [PartitionOffset(partition, offset: 7)], metadata: metadata, timeoutMilliseconds: 10_000)
        // The question waits for the decision, so it ends by its timeout as long as there is none.
        let error = try #require(throws: KafkaError.self) {
            try member.consumer.committed([partition], timeoutMilliseconds: 1_000)
        }
        #expect([.timedOut, .unstableOffsetCommit].contains(error.code))
        try producer.commit(timeoutMilliseconds: 10_000)
        #expect(try member.consumer.committed([partition], timeoutMilliseconds: 10_000) == [partition: 7])
        member.consumer.close()
    }

    @Test func aNewerProducerFencesTheOlder() throws {
        try createTopic()
        let older = try producer()
        try older.begin()
        try older.send("from the older", to: name)
        try older.flush(timeoutMilliseconds: 10_000)
        let newer = try producer()
        let error = try #require(throws: KafkaError.self) { try older.commit(timeoutMilliseconds: 10_000) }
        #expect(error.isFatal)
        #expect(error.code == .fenced)
        #expect(older.fatalError?.code == .fenced)
        let again = try #require(throws: KafkaError.self) { try older.begin() }
        #expect(again.isFatal)
        older.close()

        try newer.begin()
        try newer.send("from the newer", to: name)
        try newer.commit(timeoutMilliseconds: 10_000)
        // The transaction that the older left open was aborted by the takeover.
        #expect(polling(try reader()) { !$0.records.isEmpty }.texts == ["from the newer"])
    }

    @Test func aTransactionThatTimesOutLooksFenced() throws {
        try createTopic()
        let slow = try TransactionalProducer(
            properties: with(["transactional.id": name, "transaction.timeout.ms": "1000"]))
        try slow.initTransactions(timeoutMilliseconds: 30_000)
        try slow.begin()
        try slow.send("too slow", to: name)
        try slow.flush(timeoutMilliseconds: 10_000)
        // The broker's abort marker lets the last stable offset pass the open transaction.
        let consumer = try reader()
        while try consumer.watermarks(of: partition, timeoutMilliseconds: 10_000).high < 2 {
            Thread.sleep(forTimeInterval: 0.1)
        }
        let error = try #require(throws: KafkaError.self) { try slow.commit(timeoutMilliseconds: 10_000) }
        #expect(error.isFatal)
        #expect(error.code == .fenced)
        slow.close()
        #expect(polling(consumer) { $0.ends[0] == 2 }.texts == [])
    }

    @Test func aMembershipFromBeforeARebalanceIsRefused() throws {
        try createTopic(partitions: 2)
        let first = try member()
        pollingAll([first.consumer]) { first.assigned.count == 2 }
        let outdated = try #require(first.metadata)
        let second = try member()
        pollingAll([first.consumer, second.consumer]) { first.assigned.count == 1 && second.assigned.count == 1 }
        let current = try #require(first.metadata)

        let producer = try producer()
        let offset = PartitionOffset(first.assigned[0], offset: 1)
        try producer.begin()
        let error = try #require(throws: KafkaError.self) {
            try producer.sendOffsets([offset], metadata: outdated, timeoutMilliseconds: 10_000)
        }
        #expect(error.code == .illegalGeneration)
        #expect(error.requiresAbort && !error.isFatal)
        try producer.abort(timeoutMilliseconds: 10_000)
        #expect(try first.consumer.committed([offset.topicPartition], timeoutMilliseconds: 10_000) == [:])

        try producer.begin()
        try producer.sendOffsets([offset], metadata: current, timeoutMilliseconds: 10_000)
        try producer.commit(timeoutMilliseconds: 10_000)
        #expect(
            try first.consumer.committed([offset.topicPartition], timeoutMilliseconds: 10_000)
                == [offset.topicPartition: 1])
        second.consumer.close()
        first.consumer.close()
    }

    @Test func aMemberThatStopsPollingLosesItsPartitions() throws {
        try createTopic()
        let lines = Collector<KafkaLogLine>()
        let member = try member(["max.poll.interval.ms": "6000"], log: { lines.append($0) })
        pollingAll([member.consumer]) { member.metadata != nil }
        while !lines.elements.contains(where: { $0.facility == "MAXPOLL" }) { Thread.sleep(forTimeInterval: 0.1) }
        var failures: [KafkaError] = []
        while member.revocations.isEmpty {
            _ = member.consumer.poll(max: 10, timeoutMilliseconds: 100) { item in
                if case .failure(let error, _, _) = item { failures.append(error) }
            }
        }
        #expect(member.revocations == [true])
        #expect(failures.map(\.code) == [.maximumPollIntervalExceeded])
        #expect(failures.map(\.isFatal) == [false])
        member.consumer.close()
    }

    /// A revoke that is served late does not say "lost", although the group has gone on without this member: only the
    /// membership taken at the assignment keeps it from committing.
    @Test func aLateRevokeLooksCleanButCannotCommit() throws {
        try createTopic()
        let late = try member(["max.poll.interval.ms": "6000"])
        pollingAll([late.consumer]) { late.metadata != nil }
        let outdated = try #require(late.metadata)
        let other = try member()
        pollingAll([other.consumer]) { other.assigned.count == 1 }
        #expect(late.assigned == [partition])
        pollingAll([late.consumer]) { !late.revocations.isEmpty }
        let producer = try producer()
        try producer.begin()
        let error = try #require(throws: KafkaError.self) {
            try producer.sendOffsets(
                [PartitionOffset(partition, offset: 1)], metadata: outdated, timeoutMilliseconds: 10_000)
        }
        #expect([.illegalGeneration, .unknownMember].contains(error.code))
        #expect(error.requiresAbort && !error.isFatal)
        late.consumer.close()
        other.consumer.close()
    }

    @Test func aFailedDeliveryFailsTheCommit() throws {
        try createTopic(config: ["max.message.bytes": "1000"])
        let producer = try producer()
        try producer.begin()
        try producer.send(String(repeating: "x", count: 5_000), to: name)
        let error = try #require(throws: KafkaError.self) { try producer.commit(timeoutMilliseconds: 10_000) }
        #expect(error.requiresAbort && !error.isFatal)
        #expect(producer.failedDeliveries == 1)
        #expect(producer.firstDeliveryError?.code == .messageTooLarge)
        #expect(error.message.contains("delivery to \(name)[0] failed"))
        try producer.abort(timeoutMilliseconds: 10_000)

        // The broker now misses a sequence number, so the next transaction fails once more; aborting that one mends it.
        var outcomes: [KafkaError.Code?] = []
        while outcomes.last != .some(nil), outcomes.count < 5 {
            try producer.begin()
            try producer.send("small", to: name)
            do {
                try producer.commit(timeoutMilliseconds: 10_000)
                outcomes.append(nil)
            } catch {
                outcomes.append(error.code)
                try producer.abort(timeoutMilliseconds: 10_000)
            }
        }
        #expect(outcomes == [.outOfOrderSequenceNumber, nil])
        #expect(polling(try reader()) { $0.ends[0] != nil }.texts == ["small"])
    }
}
