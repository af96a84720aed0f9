import Foundation
import TidemarkKafka

/// What a consumer was handed, copied out of the client's memory.
struct Seen: Equatable {
    var topic: String
    var partition: Int32
    var offset: Int64
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [KafkaHeader] = []

    init(_ record: ConsumedRecord) {
        topic = record.topicName
        partition = record.partition
        offset = record.offset
        key = record.key.map { Array($0) }
        value = record.value.map { Array($0) }
        headers = record.headers()
    }

    var text: String? { value.map { String(decoding: $0, as: UTF8.self) } }
}

/// Everything that came out of some polls.
struct Harvest {
    var records: [Seen] = []
    var ends: [Int32: Int64] = [:]
    var failures: [KafkaError] = []

    var texts: [String?] { records.map(\.text) }

    mutating func add(_ item: ConsumedItem) {
        switch item {
        case .record(let record): records.append(Seen(record))
        case .endOfPartition(_, let partition, let offset): ends[partition] = offset
        case .failure(let error, _, _): failures.append(error)
        }
    }
}

/// Polls until the condition holds; gives up after 30 seconds, and the caller's expectations then tell what is missing.
func polling(_ consumer: KafkaConsumer, until isDone: (Harvest) -> Bool) -> Harvest {
    var harvest = Harvest()
    let end = Date().addingTimeInterval(30)
    while !isDone(harvest), Date() < end {
        _ = consumer.poll(max: 100, timeoutMilliseconds: 100) { harvest.add($0) }
    }
    return harvest
}

/// Polls several members of a group in turn until the condition holds or 60 seconds have passed.
func pollingAll(_ consumers: [KafkaConsumer], until isDone: () -> Bool) {
    let end = Date().addingTimeInterval(60)
    while !isDone(), Date() < end {
        for consumer in consumers { _ = consumer.poll(max: 100, timeoutMilliseconds: 50) { _ in } }
    }
}

/// Calls `body` with the bytes of a text; nil stays nil.
func withBytes(_ text: String?, _ body: (UnsafeRawBufferPointer?) throws -> Void) throws {
    guard let text else { return try body(nil) }
    try Array(text.utf8).withUnsafeBytes { try body($0) }
}

extension Producer {
    func send(
        _ value: String?, key: String? = nil, to topic: String, partition: Int32 = 0, headers: [KafkaHeader] = [],
        timestampMilliseconds: Int64 = 0
    ) throws {
        try withBytes(value) { value in
            try withBytes(key) { key in
                try produce(
                    topic: topic, partition: partition, key: key, value: value, headers: headers,
                    timestampMilliseconds: timestampMilliseconds)
            }
        }
    }
}

extension TransactionalProducer {
    func send(_ value: String?, to topic: String, partition: Int32 = 0) throws {
        try withBytes(value) { try produce(topic: topic, partition: partition, key: nil, value: $0) }
    }
}

/// Collects what callbacks report from other threads.
final class Collector<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var storage: [Element] = []

    func append(_ element: Element) { lock.withLock { storage.append(element) } }

    var elements: [Element] { lock.withLock { storage } }
}

/// Assignments and revocations of one group member.
final class Member {
    let consumer: KafkaConsumer
    var assigned: [TopicPartition] = []
    var metadata: GroupMetadata?
    var generations = 0
    var revocations: [Bool] = []

    init(
        properties: [String: String], topics: [String], log: (@Sendable (KafkaLogLine) -> Void)? = nil
    ) throws {
        consumer = try KafkaConsumer(properties: properties, log: log)
        try consumer.subscribe(
            topics,
            onAssign: { [unowned self] partitions in
                assigned = partitions
                metadata = consumer.groupMetadata()
                generations += 1
                return partitions.map { PartitionOffset($0, offset: PartitionOffset.beginning) }
            },
            onRevoke: { [unowned self] _, isLost in
                assigned = []
                revocations.append(isLost)
            })
    }
}
