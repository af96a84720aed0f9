import Foundation
import Testing

@testable import TidemarkKafka

@Suite("Client on the embedded cluster", .serialized)
struct EmbeddedClusterTests {
    let cluster: EmbeddedCluster

    init() throws {
        cluster = try EmbeddedCluster()
        try cluster.createTopic("events", partitions: 2)
    }

    var servers: [String: String] { ["bootstrap.servers": cluster.bootstrapServers] }

    func reader(_ partitions: [Int32] = [0]) throws -> KafkaConsumer {
        let consumer = try KafkaConsumer(properties: servers)
        try consumer.assign(
            partitions.map { PartitionOffset(topic: "events", partition: $0, offset: PartitionOffset.beginning) })
        return consumer
    }

    func load(_ values: [String], partition: Int32 = 0) throws {
        let producer = try Producer(properties: servers)
        for value in values { try producer.send(value, to: "events", partition: partition) }
        try producer.flush(timeoutMilliseconds: 10_000)
        #expect(producer.failedDeliveries == 0)
    }

    @Test func recordsComeBackAsTheyWereSent() throws {
        let producer = try Producer(properties: servers)
        let headers = [
            KafkaHeader(name: "type", text: "first"), KafkaHeader(name: "null", value: nil),
            KafkaHeader(name: "empty", value: []), KafkaHeader(name: "type", text: "last"),
        ]
        try producer.send("value", key: "key", to: "events", headers: headers, timestampMilliseconds: 1_700_000_000_123)
        try producer.send(nil, key: "gone", to: "events")
        try producer.send("", key: "", to: "events", headers: [KafkaHeader(name: "one", text: "1")])
        try producer.send("no key", to: "events")
        try producer.flush(timeoutMilliseconds: 10_000)

        let consumer = try reader()
        var timestamps: [Int64] = []
        var types: [[UInt8]?] = []
        var harvest = Harvest()
        while harvest.records.count < 4 {
            _ = consumer.poll(max: 10, timeoutMilliseconds: 100) { item in
                harvest.add(item)
                guard case .record(let record) = item else { return }
                timestamps.append(record.timestampMilliseconds)
                types.append(record.header(named: "type").map { Array($0) })
                #expect(!record.isLogAppendTime)
                #expect(record.header(named: "absent") == nil)
            }
        }
        #expect(harvest.records.map(\.offset) == [0, 1, 2, 3])
        #expect(harvest.records.map(\.key) == [Array("key".utf8), Array("gone".utf8), [], nil])
        #expect(harvest.records.map(\.value) == [Array("value".utf8), nil, [], Array("no key".utf8)])
        #expect(harvest.records[0].headers == headers)
        #expect(harvest.records[1].headers == [])
        #expect(timestamps[0] == 1_700_000_000_123)
        #expect(timestamps[1] > 1_700_000_000_123)
        #expect(types == [Array("last".utf8), nil, nil, nil])
    }

    @Test("a partition refuses the first request of a producer and takes what comes behind it: nothing is lost")
    func refusedFirstRequest() throws {
        let producer = try Producer(properties: servers.merging(["linger.ms": "0"]) { $1 })
        // The client knows its way before the broker gets slow.
        try producer.send("elsewhere", to: "events", partition: 1)
        try producer.flush(timeoutMilliseconds: 10_000)
        try cluster.answer(afterMilliseconds: 300)
        cluster.refuseNextProduce()
        try producer.send("first", to: "events", partition: 0)
        // Would the client send the next request before the first is answered, it would be on its way by then.
        Thread.sleep(forTimeInterval: 0.1)
        try producer.send("second", to: "events", partition: 0)
        try producer.flush(timeoutMilliseconds: 10_000)
        #expect(producer.failedDeliveries == 0)
        try cluster.answer(afterMilliseconds: 0)
        #expect(polling(try reader()) { $0.ends.count == 1 }.texts == ["first", "second"])
    }

    @Test func recordsProducedInPlaceAreReadWhereTheyAre() throws {
        var tokens: [Int] = []
        let producer = try Producer(
            properties: servers.merging(["partitioner": "murmur2_random", "linger.ms": "60000"]) { $1 },
            onDelivery: { tokens.append($0) })
        let topic = try producer.topic("events")
        let values = (0..<50).map { "value-\($0)" }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 50 * 8, alignment: 1)
        defer { memory.deallocate() }
        for number in values.indices {
            let value = UnsafeMutableRawBufferPointer(rebasing: memory[number * 8..<number * 8 + 8])
            value.copyBytes(from: "not yet!".utf8)
            try withBytes("key-\(number)") { key in
                let headers = number % 2 == 0 ? [] : [KafkaHeader(name: "type", text: "odd")]
                try producer.produceInPlace(
                    topic: topic, key: #require(key), value: UnsafeRawBufferPointer(value), headers: headers,
                    token: number / 10)
            }
            // Nothing was copied: what is written now is what is sent, for a batch is only made after a minute or by a flush.
            value.copyBytes(from: "value-\(number)".utf8.prefix(8))
        }
        #expect(tokens.isEmpty)
        try producer.flush(timeoutMilliseconds: 10_000)
        #expect(producer.failedDeliveries == 0)
        #expect(tokens.sorted() == (0..<50).map { $0 / 10 })

        let harvest = polling(try reader([0, 1])) { $0.records.count == 50 }
        #expect(Set(harvest.texts) == Set(values.map { $0.count < 8 ? $0 + "!" : $0 }))
        for record in harvest.records {
            let key = try #require(record.key)
            #expect(key.withUnsafeBytes { Murmur2.partition(of: $0, count: 2) } == record.partition)
            let isOdd = key.last.map { $0 % 2 == 1 } == true
            #expect(record.headers == (isOdd ? [KafkaHeader(name: "type", text: "odd")] : []))
        }
    }

    @Test func aRecordInPlaceThatFailsIsToldToo() throws {
        var tokens: [Int] = []
        let producer = try Producer(
            properties: ["bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": "300"],
            onDelivery: { tokens.append($0) })
        let topic = try producer.topic("events")
        try withBytes("a") { value in
            let bytes = try #require(value)
            try producer.produceInPlace(topic: topic, key: bytes, value: bytes, token: 7)
            try producer.flush(timeoutMilliseconds: 30_000)
        }
        #expect(tokens == [7])
        #expect(producer.failedDeliveries == 1)
    }

    @Test func endOfPartitionCarriesTheNextOffset() throws {
        try load(["a", "b", "c"])
        let consumer = try reader([0, 1])
        let harvest = polling(consumer) { $0.ends.count == 2 }
        #expect(harvest.texts == ["a", "b", "c"])
        #expect(harvest.ends == [0: 3, 1: 0])
        #expect(try consumer.positions([TopicPartition(topic: "events", partition: 0)]).values.first == 3)
    }

    @Test func watermarksAreFirstAndNextOffset() throws {
        try load(["a", "b", "c"])
        let consumer = try reader()
        let marks = try consumer.watermarks(
            of: TopicPartition(topic: "events", partition: 0), timeoutMilliseconds: 10_000)
        #expect(marks == (low: 0, high: 3))
    }

    @Test func partitionsAreCounted() throws {
        let consumer = try reader()
        #expect(try consumer.partitionCount(of: "events", timeoutMilliseconds: 10_000) == 2)
        let admin = try KafkaAdmin(properties: servers)
        #expect(try admin.describeTopics(["events"]) == ["events": 2])
        #expect(try admin.brokerCount() == 1)
    }

    @Test func topicHandlesIdentifyTopics() throws {
        try cluster.createTopic("other", partitions: 1)
        try load(["a"])
        let consumer = try reader()
        var handles: Set<TopicHandle> = []
        _ = polling(consumer) { harvest in !harvest.ends.isEmpty }
        try consumer.assign([PartitionOffset(topic: "events", partition: 0, offset: 0)])
        while handles.isEmpty {
            _ = consumer.poll(max: 1, timeoutMilliseconds: 100) { item in
                if case .record(let record) = item { handles.insert(record.topicHandle) }
            }
        }
        #expect(try handles == [consumer.topicHandle("events")])
        #expect(try consumer.topicHandle("other") != consumer.topicHandle("events"))
        #expect(try consumer.topicHandle("other").name == "other")
    }

    @Test func copiedRecordOutlivesThePoll() throws {
        let producer = try Producer(properties: servers)
        let headers = [KafkaHeader(name: "type", text: "a"), KafkaHeader(name: "null", value: nil)]
        try producer.send("value", key: "key", to: "events", headers: headers, timestampMilliseconds: 1_700_000_000_123)
        try producer.send(nil, key: "gone", to: "events")
        try producer.send("", to: "events")
        try producer.flush(timeoutMilliseconds: 10_000)
        let consumer = try reader()
        var copies: [CopiedRecord] = []
        let harvest = polling(consumer) { harvest in !harvest.ends.isEmpty }
        try consumer.assign([PartitionOffset(topic: "events", partition: 0, offset: 0)])
        while copies.count < 3 {
            _ = consumer.poll(max: 10, timeoutMilliseconds: 100) { item in
                if case .record(let record) = item { copies.append(record.copy()) }
            }
        }
        try consumer.assign([])
        #expect(copies.map { Seen($0.record) } == harvest.records)
        #expect(copies[0].record.timestampMilliseconds == 1_700_000_000_123)
        #expect(copies[0].record.header(named: "type").map { Array($0) } == Array("a".utf8))
        #expect(copies[1].record.header(named: "type") == nil)
        #expect(copies[0].byteCount > 8)
    }

    @Test func retainedRecordOutlivesPollAndConsumer() throws {
        try load(["keep", "drop"])
        var consumer: KafkaConsumer? = try reader()
        var kept: RetainedRecord?
        while kept == nil {
            _ = consumer?.poll(max: 10, timeoutMilliseconds: 100) { item in
                if case .record(let record) = item, record.offset == 0 { kept = record.retain() }
            }
        }
        consumer?.close()
        consumer = nil
        #expect(kept.map { Seen($0.record).text } == "keep")
    }

    @Test func aThrowingBodyEndsThePollAfterItsItem() throws {
        struct Stop: Error {}
        try load(["a", "b", "c"])
        let consumer = try reader()
        var seen: [Int64] = []
        while seen.isEmpty {
            do {
                _ = try consumer.poll(max: 10, timeoutMilliseconds: 100) { item in
                    guard case .record(let record) = item else { return }
                    seen.append(record.offset)
                    throw Stop()
                }
            } catch is Stop {}
        }
        #expect(seen == [0])
        #expect(polling(consumer) { !$0.ends.isEmpty }.records.map(\.offset) == [1, 2])
    }

    @Test func pausedPartitionsStandStill() throws {
        let paused = TopicPartition(topic: "events", partition: 0)
        try load(["a"], partition: 0)
        try load(["b"], partition: 1)
        let consumer = try reader([0, 1])
        try consumer.pause([paused])
        #expect(polling(consumer) { $0.ends[1] != nil }.texts == ["b"])
        try consumer.resume([paused])
        #expect(polling(consumer) { $0.ends[0] != nil }.texts == ["a"])
    }

    @Test func aSecondMemberTakesOverPartOfThePartitions() throws {
        try cluster.createTopic("co-partitioned", partitions: 2)
        let group = servers.merging(["group.id": "group", "session.timeout.ms": "10000"]) { $1 }
        let topics = ["events", "co-partitioned"]
        let first = try Member(properties: group, topics: topics)
        pollingAll([first.consumer]) { first.assigned.count == 4 }
        #expect(first.assigned.count == 4)

        let second = try Member(properties: group, topics: topics)
        pollingAll([first.consumer, second.consumer]) { first.assigned.count == 2 && second.assigned.count == 2 }
        // A round of the group may be repeated when a member joins while it ends, so that there may be more than one.
        #expect(!first.revocations.isEmpty && !first.revocations.contains(true))
        #expect(first.generations == first.revocations.count + 1)
        // The range assignor keeps partitions of the same number together.
        for member in [first, second] {
            #expect(Set(member.assigned.map(\.topic)) == ["events", "co-partitioned"])
            #expect(Set(member.assigned.map(\.partition)).count == 1)
        }
        #expect(Set(first.assigned).isDisjoint(with: second.assigned))
        second.consumer.close()
        #expect(!second.revocations.isEmpty && !second.revocations.contains(true))
        first.consumer.close()
        #expect(first.assigned == [])
    }

    @Test func transactionCallsSucceed() throws {
        let group = servers.merging(["group.id": "group"]) { $1 }
        let member = try Member(properties: group, topics: ["events"])
        pollingAll([member.consumer]) { member.metadata != nil }
        let metadata = try #require(member.metadata)
        let producer = try TransactionalProducer(properties: servers.merging(["transactional.id": "t"]) { $1 })
        try producer.initTransactions(timeoutMilliseconds: 20_000)
        try producer.begin()
        try producer.send("committed", to: "events")
        try producer.sendOffsets(
            [PartitionOffset(topic: "events", partition: 0, offset: 1)], metadata: metadata,
            timeoutMilliseconds: 20_000)
        try producer.commit(timeoutMilliseconds: 20_000)
        try producer.begin()
        try producer.send("aborted", to: "events")
        try producer.abort(timeoutMilliseconds: 20_000)
        #expect(producer.failedDeliveries == 0)
        #expect(polling(try reader()) { !$0.records.isEmpty }.texts.first == "committed")
    }

    @Test func aFullQueueHoldsTheProducerBack() throws {
        let producer = try Producer(properties: servers.merging(["queue.buffering.max.messages": "10"]) { $1 })
        let topic = try producer.topic("events")
        for number in 0..<500 {
            try withBytes("\(number)") { try producer.produce(topic: topic, partition: 0, key: nil, value: $0) }
        }
        try producer.flush(timeoutMilliseconds: 20_000)
        #expect(producer.outstanding == 0)
        #expect(polling(try reader()) { $0.ends[0] == 500 }.texts == (0..<500).map { "\($0)" })
    }
}
