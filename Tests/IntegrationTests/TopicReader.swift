import Foundation
import TidemarkKafka
import TidemarkProcessor

/// A copy of a record.
struct TopicRecord {
    let partition: Int32
    let offset: Int64
    let key: [UInt8]?
    let value: [UInt8]?
    let headers: [KafkaHeader]

    /// The text of a header.
    func header(_ name: String) -> String? {
        headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Reads all partitions of a topic from the beginning, committed records only, and can go on reading later.
final class TopicReader {
    private let topic: String
    private let consumer: KafkaConsumer
    private let partitions: Int32
    /// All records so far, in order within each partition.
    private(set) var records: [TopicRecord] = []
    /// The last value of each key; withdrawn ones are absent.
    private(set) var latest: [String: [UInt8]] = [:]

    init(_ topic: String) throws {
        self.topic = topic
        consumer = try KafkaConsumer(properties: [
            "bootstrap.servers": Environment.servers ?? "", "group.id": "it-reader", "fetch.wait.max.ms": "50",
            "fetch.message.max.bytes": "16000000",
        ])
        guard let count = try consumer.partitionCount(of: topic, timeoutMilliseconds: 10_000) else {
            throw TestFailure("there is no topic \(topic)")
        }
        partitions = count
        try consumer.assign(
            (0..<count).map { PartitionOffset(topic: topic, partition: $0, offset: PartitionOffset.beginning) })
    }

    deinit { consumer.close() }

    /// Reads what is new, up to the end of every partition as it is now.
    func update() throws {
        let places = (0..<partitions).map { TopicPartition(topic: topic, partition: $0) }
        let marks = try consumer.watermarks(of: places, timeoutMilliseconds: 10_000)
        let end = Date(timeIntervalSinceNow: 20)
        var open = Set(
            places.filter { (marks[$0]?.high ?? 0) > max(reached[$0.partition] ?? 0, marks[$0]?.low ?? 0) }
                .map(\.partition))
        while !open.isEmpty, Date() < end {
            _ = try consumer.poll(max: 10_000, timeoutMilliseconds: 100) { item in
                switch item {
                case .record(let record): take(record)
                case .endOfPartition(_, let partition, let offset):
                    reached[partition] = max(reached[partition] ?? 0, offset)
                case .failure(let error, _, _): throw error
                }
            }
            open = open.filter { (reached[$0] ?? 0) < marks[TopicPartition(topic: topic, partition: $0)]?.high ?? 0 }
        }
        guard open.isEmpty else { throw TestFailure("\(topic) could not be read to its end") }
    }

    private var reached: [Int32: Int64] = [:]

    private func take(_ record: ConsumedRecord) {
        let copy = TopicRecord(
            partition: record.partition, offset: record.offset, key: record.key.map(Array.init),
            value: record.value.map(Array.init), headers: record.headers())
        reached[record.partition] = record.offset + 1
        records.append(copy)
        if let key = copy.key { latest[String(decoding: key, as: UTF8.self)] = copy.value }
    }
}

/// The offsets that a consumer group has committed, and the ends of the topic that it reads.
final class GroupReader {
    private let consumer: KafkaConsumer
    private let partitions: [TopicPartition]

    /// Looks at the input of an application and the group that reads it.
    init(_ application: TestApplication) throws {
        consumer = try KafkaConsumer(properties: [
            "bootstrap.servers": Environment.servers ?? "",
            "group.id": application.topics.isRepartitioned
                ? application.topics.repartitionGroup : application.topics.taskGroup,
        ])
        partitions = application.topics.inputs.flatMap { topic in
            (0..<Int32(application.partitions)).map { TopicPartition(topic: topic, partition: $0) }
        }
    }

    deinit { consumer.close() }

    /// Committed offsets of all partitions together. A broker that was just started looks for the group's coordinator for a while.
    func committed() throws -> Int64 {
        for _ in 0..<100 {
            do throws(KafkaError) {
                return try consumer.committed(partitions, timeoutMilliseconds: 20_000).values.reduce(0, +)
            } catch {
                guard error.code == .notCoordinator || error.code == .coordinatorNotAvailable else { throw error }
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw TestFailure("the group has no coordinator")
    }

    /// Waits until the group has committed anything.
    func awaitFirstCommit(of process: TidemarkProcess) throws {
        try waitUntil(process, "no commit") { try committed() > 0 }
    }

    /// Waits until the group has committed so many records more than now, or all there are if no more come.
    func awaitProgress(of process: TidemarkProcess, by count: Int64 = 1, from feeder: StreamFeeder) throws {
        let before = try committed()
        try waitUntil(process, "no progress beyond \(before)") {
            // Asked first: what comes between the two questions is not the end.
            let isLast = feeder.hasEnded
            let now = try committed()
            return try now >= before + count || (isLast && now == end())
        }
    }

    private func waitUntil(_ process: TidemarkProcess, _ what: String, _ isSo: () throws -> Bool) throws {
        try eventually(within: 30, "\(what): \(process.log)") {
            guard process.isRunning else { throw TestFailure("the process has ended: \(process.log)") }
            return try isSo()
        }
    }

    /// The ends of all partitions together, where all records are committed.
    func end() throws -> Int64 {
        try consumer.watermarks(of: partitions, timeoutMilliseconds: 20_000).values.reduce(0) { $0 + $1.high }
    }
}
