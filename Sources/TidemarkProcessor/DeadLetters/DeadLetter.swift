public import TidemarkEvents
public import TidemarkKafka

/// Where a record, or an event of a batch, was first read.
public struct RecordOrigin: Hashable, Sendable {
    /// The input topic.
    public var topic: String
    /// Its partition.
    public var partition: Int32
    /// The offset there.
    public var offset: Int64
    /// Which event of a batch, from 0; `nil` is the whole record.
    public var index: Int?
    /// The record's Kafka timestamp, milliseconds since the epoch.
    public var timestamp: Int64

    /// Names a place.
    public init(topic: String, partition: Int32, offset: Int64, index: Int? = nil, timestamp: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.index = index
        self.timestamp = timestamp
    }

    /// Topic, partition, offset and index as `currents.events/3/120` or `currents.events/3/120/1`.
    public var place: String { "\(topic)/\(partition)/\(offset)" + (index.map { "/\($0)" } ?? "") }

    /// The place and the time: what a dead letter is known by. A reset reads the input again and writes the same dead letter again,
    /// under the same id; a topic that was deleted and made anew has other times.
    public var id: String { "\(place)@\(timestamp)" }

    /// Reads an id; `nil` where a text is none.
    public init?(id: String) {
        let halves = id.split(separator: "@", omittingEmptySubsequences: false)
        let parts = halves[0].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let timestamp = Int64(halves[1]), parts.count == 3 || parts.count == 4,
            !parts[0].isEmpty, let partition = Int32(parts[1]), let offset = Int64(parts[2])
        else { return nil }
        self.init(topic: String(parts[0]), partition: partition, offset: offset, timestamp: timestamp)
        guard parts.count == 4 else { return }
        guard let index = Int(parts[3]) else { return nil }
        self.index = index
    }
}

/// A record of the dead-letter topic, taken apart: the record as it came, and what was wrong with it.
public struct DeadLetter: Sendable {
    /// What the names of headers begin with that tell about the error.
    static let headerPrefix = "tidemark.error."

    /// What is left of a record that was too large for the dead-letter topic.
    public struct Excerpt: Equatable, Sendable {
        /// Bytes of the whole value.
        public var size: Int
        /// XXH3 of the whole value, 128 bits in hexadecimal.
        public var hash: String
    }

    /// The dead-letter topic.
    public var topic: String
    /// Its partition of the dead-letter topic.
    public var partition: Int32
    /// Its offset there.
    public var offset: Int64
    /// When it was refused, milliseconds since the epoch.
    public var time: Int64
    /// Where the record came from. What `tidemark ingest` refused never was in its topic: partition and offset are -1.
    public var origin: RecordOrigin
    /// The file that it came from and the place there, where `tidemark ingest files` refused it.
    public var source: String?
    /// The reason by name; see `RejectionCode`.
    public var code: String
    /// The reason in words.
    public var message: String
    /// What refused it: `decode`, `accept` or `ingest`.
    public var stage: String
    /// Lateness, or time ahead, that was allowed then, seconds; `nil` where the code has nothing to do with it, or an earlier version wrote it.
    public var allowed: Int64?
    /// The key as it came.
    public var key: [UInt8]?
    /// The value as it came, or its first bytes (`excerpt`).
    public var value: [UInt8]?
    /// The headers as they came.
    public var headers: [KafkaHeader]
    /// Says that the value is not all there.
    public var excerpt: Excerpt?

    /// What it is known by: where its record came from, or, where that has no place in a topic, where it stands itself.
    public var identity: RecordOrigin {
        origin.offset >= 0
            ? origin : RecordOrigin(topic: topic, partition: partition, offset: offset, timestamp: time)
    }

    /// See `RecordOrigin.id`.
    public var id: String { identity.id }

    /// The reason, where this version knows it.
    public var rejection: RejectionCode? { RejectionCode(rawValue: code) }
}

extension DeadLetter {
    /// Takes a record of the dead-letter topic apart; `nil` where it is not one that a process of Tidemark has written.
    init?(_ record: ConsumedRecord) {
        let all = record.headers()
        func text(_ name: String) -> String? {
            all.last { $0.name == DeadLetter.headerPrefix + name }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let code = text("code"), let inputTopic = text("topic"),
            let partition = text("partition").flatMap(Int32.init),
            let offset = text("offset").flatMap(Int64.init)
        else { return nil }
        self.topic = record.topicName
        self.partition = record.partition
        self.offset = record.offset
        time = record.timestampMilliseconds
        origin = RecordOrigin(
            topic: inputTopic, partition: partition, offset: offset, index: text("index").flatMap(Int.init),
            timestamp: text("timestamp").flatMap(Int64.init) ?? 0)
        self.code = code
        message = text("message") ?? ""
        stage = text("stage") ?? ""
        source = text("source")
        allowed = text("allowed").flatMap(Int64.init)
        key = record.key.map(Array.init)
        value = record.value.map(Array.init)
        headers = all.filter { !$0.name.hasPrefix(DeadLetter.headerPrefix) }
        if let size = text("size").flatMap(Int.init), let hash = text("xxh128") {
            excerpt = Excerpt(size: size, hash: hash)
        }
    }
}
