import Foundation
import Testing
import TidemarkKafka

/// Facts that the embedded cluster cannot show. Every test has its own topic, group and transactional ids.
@Suite(
    "Client on a real broker", .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["TIDEMARK_KAFKA"] != nil,
        "set TIDEMARK_KAFKA to the bootstrap servers of a Kafka cluster"))
struct BrokerTests {
    let name = "tidemark-test-\(UUID().uuidString.lowercased())"
    let servers = ["bootstrap.servers": ProcessInfo.processInfo.environment["TIDEMARK_KAFKA"] ?? ""]
    var partition: TopicPartition { TopicPartition(topic: name, partition: 0) }

    func with(_ more: [String: String]) -> [String: String] { servers.merging(more) { $1 } }

    func createTopic(partitions: Int = 1, config: [String: String] = [:]) throws {
        let admin = try KafkaAdmin(properties: servers)
        let results = try admin.createTopics([.init(name: name, partitions: partitions, config: config)])
        try #require(results.map(\.error?.description) == [nil])
        // Creation is known to the controller first and to every broker soon after.
        while try admin.describeTopics([name])[name] != partitions { Thread.sleep(forTimeInterval: 0.05) }
    }

    func producer(_ id: String = "a") throws -> TransactionalProducer {
        let producer = try TransactionalProducer(properties: with(["transactional.id": "\(name)-\(id)"]))
        try producer.initTransactions(timeoutMilliseconds: 30_000)
        return producer
    }

    func reader(_ isolation: String = "read_committed", from offset: Int64 = 0) throws -> KafkaConsumer {
        let consumer = try KafkaConsumer(properties: with(["isolation.level": isolation]))
        try consumer.assign([PartitionOffset(partition, offset: offset)])
        return consumer
    }

    func member(
        _ properties: [String: String] = [:], log: (@Sendable (KafkaLogLine) -> Void)? = nil
    ) throws -> Member {
        let own = ["group.id": name, "session.timeout.ms": "6000"].merging(properties) { $1 }
        return try Member(properties: with(own), topics: [name], log: log)
    }

    @Test func topicsAreCreatedWithTheirSettings() throws {
        try createTopic(partitions: 3, config: ["cleanup.policy": "compact", "max.message.bytes": "123456"])
        let admin = try KafkaAdmin(properties: servers)
        #expect(try admin.describeTopics([name, name + "-absent"]) == [name: 3])
        let settings = try #require(admin.topicConfigs([name])[name])
        #expect(settings["cleanup.policy"] == "compact")
        #expect(settings["max.message.bytes"] == "123456")
        #expect(settings["message.timestamp.type"] == "CreateTime")

        let again = try admin.createTopics([.init(name: name, partitions: 3), .init(name: "not/valid", partitions: 1)])
        #expect(again.map(\.error?.code) == [.topicAlreadyExists, .invalidTopic])
        let badSetting = KafkaAdmin.NewTopic(name: name + "-bad", partitions: 1, config: ["no.such.setting": "1"])
        #expect(try admin.createTopics([badSetting]).map(\.error?.code) == [.invalidConfiguration])
        let tooMany = KafkaAdmin.NewTopic(name: name + "-bad", partitions: 1, replicationFactor: 100)
        #expect(try admin.createTopics([tooMany]).map(\.error?.code) == [.invalidReplicationFactor])
        let possible = KafkaAdmin.NewTopic(name: name + "-possible", partitions: 1)
        #expect(try admin.createTopics([possible], validateOnly: true).map(\.error?.code) == [nil])
        #expect(try admin.describeTopics([name + "-possible"]) == [:])
        let absent = try #require(throws: KafkaError.self) { try admin.topicConfigs([name + "-absent"]) }
        #expect(absent.code == .unknownTopicOrPartition)
        #expect(try admin.deleteTopics([name]).map(\.error?.code) == [nil])
    }

    @Test func absentTopicHasNoPartitionCount() throws {
        let consumer = try KafkaConsumer(properties: servers)
        #expect(try consumer.partitionCount(of: name, timeoutMilliseconds: 10_000) == nil)
        let error = try #require(throws: KafkaError.self) {
            try consumer.watermarks(of: partition, timeoutMilliseconds: 10_000)
        }
        #expect([.unknownPartition, .unknownTopic, .unknownTopicOrPartition].contains(error.code))
    }

    @Test func readCommittedHidesAnAbortedTransaction() throws {
        try createTopic()
        let producer = try producer()
        for (text, keep) in [("first", true), ("hidden", false), ("second", true)] {
            try producer.begin()
            try producer.send(text, to: name)
            try producer.flush(timeoutMilliseconds: 10_000)
            if keep {
                try producer.commit(timeoutMilliseconds: 10_000)
            } else {
                try producer.abort(timeoutMilliseconds: 10_000)
            }
        }
        // Offsets: first 0, marker 1, hidden 2, marker 3, second 4, marker 5.
        let committed = polling(try reader()) { $0.ends[0] == 6 }
        #expect(committed.texts == ["first", "second"])
        #expect(committed.records.map(\.offset) == [0, 4])
        let all = polling(try reader("read_uncommitted")) { $0.ends[0] == 6 }
        #expect(all.texts == ["first", "hidden", "second"])
    }

    @Test func endAndPositionLieBehindTransactionMarkers() throws {
        try createTopic()
        let producer = try producer()
        try producer.begin()
        try producer.send("a", to: name)
        try producer.commit(timeoutMilliseconds: 10_000)
        try producer.begin()
        try producer.send("b", to: name)
        try producer.flush(timeoutMilliseconds: 10_000)
        try producer.abort(timeoutMilliseconds: 10_000)

        let consumer = try reader()
        let first = polling(consumer) { !$0.records.isEmpty }
        #expect(first.records.map(\.offset) == [0])
        let rest = polling(consumer) { $0.ends[0] == 4 }
        #expect(rest.records == [])
        #expect(try consumer.positions([partition]) == [partition: 4])
        // Reading that starts on a marker, or where an aborted record is, goes on behind it.
        for offset in Int64(1)...3 {
            let harvest = polling(try reader(from: offset)) { $0.ends[0] == 4 }
            #expect(harvest.records == [] && harvest.failures.isEmpty)
        }
    }

    @Test func openTransactionsCountForUncommittedWatermarksOnly() throws {
        try createTopic()
        let producer = try producer()
        try producer.begin()
        try producer.send("committed", to: name)
        try producer.commit(timeoutMilliseconds: 10_000)
        try producer.begin()
        try producer.send("open", to: name)
        try producer.flush(timeoutMilliseconds: 10_000)

        let stable = try reader(), all = try reader("read_uncommitted")
        #expect(try stable.watermarks(of: partition, timeoutMilliseconds: 10_000) == (low: 0, high: 2))
        #expect(try all.watermarks(of: partition, timeoutMilliseconds: 10_000) == (low: 0, high: 3))
        // The end event of a reader of committed records comes at the last stable offset.
        #expect(polling(stable) { $0.ends[0] != nil }.ends == [0: 2])
        #expect(polling(all) { $0.ends[0] != nil }.ends == [0: 3])
        #expect(stable.cachedWatermarks(of: partition)?.high == 3)
        #expect(all.cachedWatermarks(of: partition)?.high == 3)
        try producer.commit(timeoutMilliseconds: 10_000)
        #expect(try stable.watermarks(of: partition, timeoutMilliseconds: 10_000) == (low: 0, high: 4))
        let later = polling(stable) { $0.ends[0] == 4 }
        #expect(later.texts == ["open"])
    }

    @Test func offsetsForTimesFindTheFirstLaterRecord() throws {
        try createTopic()
        let producer = try Producer(properties: servers)
        for number in 1...3 {
            try producer.send("\(number)", to: name, timestampMilliseconds: Int64(number) * 1_000_000)
            try producer.flush(timeoutMilliseconds: 10_000)
        }
        let consumer = try reader()
        for (time, offset) in [(-5, 0), (0, 0), (1_000_000, 0), (1_000_001, 1), (3_000_000, 2), (3_000_001, 3)] {
            let found = try consumer.offsets(at: [partition: Int64(time)], timeoutMilliseconds: 10_000)
            #expect(found == [partition: Int64(offset)], "at \(time)")
        }
    }

    @Test func logAppendTimeIsMarked() throws {
        try createTopic(config: ["message.timestamp.type": "LogAppendTime"])
        let producer = try Producer(properties: servers)
        try producer.send("a", to: name, timestampMilliseconds: 1_000)
        try producer.flush(timeoutMilliseconds: 10_000)
        let consumer = try reader()
        var seen: [(Bool, Bool)] = []
        while seen.isEmpty {
            _ = consumer.poll(max: 1, timeoutMilliseconds: 100) { item in
                guard case .record(let record) = item else { return }
                seen.append((record.isLogAppendTime, record.timestampMilliseconds > 1_000))
            }
        }
        #expect(seen.first?.0 == true && seen.first?.1 == true)
    }

    @Test func startOutsideTheLogIsAFailureOfThePartition() throws {
        try createTopic()
        let harvest = polling(try reader(from: 500)) { !$0.failures.isEmpty }
        #expect(harvest.failures.map(\.code) == [.noOffsetToStartFrom])
        #expect(harvest.failures.map(\.isFatal) == [false])
    }
}
