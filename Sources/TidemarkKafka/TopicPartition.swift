internal import CRdKafka

/// A partition of a topic.
public struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Name of the topic.
    public var topic: String
    /// Number of the partition, from 0.
    public var partition: Int32

    /// Names a partition.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// Topic and partition as `topic[3]`.
    public var description: String { "\(topic)[\(partition)]" }

    /// Orders by topic, then partition.
    public static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }
}

/// A partition and an offset in it: where to start reading, or what to commit (the next offset to read).
public struct PartitionOffset: Hashable, Sendable {
    /// The special offset "start of the log".
    public static let beginning: Int64 = -2
    /// The special offset "end of the log".
    public static let end: Int64 = -1

    /// The partition.
    public var topicPartition: TopicPartition
    /// An offset, or ``beginning`` or ``end``.
    public var offset: Int64

    /// Makes the pair.
    public init(_ topicPartition: TopicPartition, offset: Int64) {
        self.topicPartition = topicPartition
        self.offset = offset
    }

    /// Makes the pair from its parts.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.init(TopicPartition(topic: topic, partition: partition), offset: offset)
    }
}

/// Identity of a topic within one client: comparing and hashing it costs no String.
///
/// Valid from its first sight until the client that gave it is closed; the client holds the topic for that long, so that an
/// identity never comes to mean another topic.
public struct TopicHandle: Hashable, Sendable {
    let bits: UInt

    init(_ pointer: OpaquePointer) { bits = UInt(bitPattern: pointer) }

    /// The identity of a topic of a simulated log.
    package init(simulated number: UInt) { bits = number }

    var pointer: OpaquePointer {
        // Made only from a pointer that is not null.
        OpaquePointer(bitPattern: bits).unsafelyUnwrapped
    }

    /// Name of the topic. Makes a String: not for the hot path.
    public var name: String { String(cString: rd_kafka_topic_name(pointer)) }
}

/// A header of a record.
public struct KafkaHeader: Hashable, Sendable {
    /// Name of the header.
    public var name: String
    /// Bytes of the value; nil is the null value, which is not the same as no bytes.
    public var value: [UInt8]?

    /// Makes a header from bytes.
    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// Makes a header whose value is text in UTF-8.
    public init(name: String, text: String) {
        self.init(name: name, value: Array(text.utf8))
    }
}

/// Calls `body` with a list of the C library that lives as long as the call.
func withPartitionList<Result>(
    _ offsets: some Collection<PartitionOffset>,
    _ body: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) throws(KafkaError) -> Result
) throws(KafkaError) -> Result {
    guard let list = rd_kafka_topic_partition_list_new(Int32(offsets.count)) else {
        throw KafkaError(code: RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE)
    }
    defer { rd_kafka_topic_partition_list_destroy(list) }
    for entry in offsets {
        let partition = entry.topicPartition
        rd_kafka_topic_partition_list_add(list, partition.topic, partition.partition)?.pointee.offset = entry.offset
    }
    return try body(list)
}

extension UnsafeMutablePointer<rd_kafka_topic_partition_list_t> {
    /// The entries of a list of the C library, each with its error.
    func entries() -> [(offset: PartitionOffset, error: rd_kafka_resp_err_t)] {
        UnsafeBufferPointer(start: pointee.elems, count: Int(pointee.cnt)).map { entry in
            let partition = TopicPartition(topic: String(cString: entry.topic), partition: entry.partition)
            return (PartitionOffset(partition, offset: entry.offset), entry.err)
        }
    }

    /// The offset of each entry; throws the first error of an entry, with its partition named.
    func checkedOffsets(_ what: String) throws(KafkaError) -> [TopicPartition: Int64] {
        var result: [TopicPartition: Int64] = [:]
        for (entry, error) in entries() {
            try throwing(error, "\(what) of \(entry.topicPartition)")
            result[entry.topicPartition] = entry.offset
        }
        return result
    }
}
