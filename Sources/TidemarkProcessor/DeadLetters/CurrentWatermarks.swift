internal import TidemarkConfiguration
internal import TidemarkKafka

/// The watermarks by which an application judges lateness now, by input partition: from the positions of the last commits.
struct CurrentWatermarks {
    private var bySource: [TopicPartition: UInt32] = [:]
    /// Of tasks that read the input themselves: one for the same partition of all topics.
    private var byPartition: [Int32: UInt32] = [:]

    /// Nothing is known.
    init() {}

    init(byPartition: [Int32: UInt32]) { self.byPartition = byPartition }

    init(_ configuration: Configuration, _ reader: PartitionReader) throws {
        let topics = ApplicationTopics(configuration)
        let admin = try KafkaAdmin(properties: configuration.kafka)
        defer { admin.close() }
        let topic = topics.isRepartitioned ? topics.positions : topics.checkpoint
        guard let count = try admin.describeTopics([topic])[topic] else { return }
        for number in 0..<Int32(count) {
            let partition = TopicPartition(topic: topic, partition: number)
            if topics.isRepartitioned {
                try readSources(partition, reader, topics)
            } else {
                byPartition[number] = try CurrentWatermarks.lastPosition(partition, reader)?.watermark
            }
        }
    }

    /// The watermark that lateness in an input partition is judged by; 0 where nothing was committed yet.
    func of(_ topic: String, _ partition: Int32) -> UInt32 {
        bySource[TopicPartition(topic: topic, partition: partition)] ?? byPartition[partition] ?? 0
    }

    private mutating func readSources(
        _ partition: TopicPartition, _ reader: PartitionReader, _ topics: ApplicationTopics
    ) throws {
        let places = topics.inputs.map { ($0, PositionKey.source(TopicPartition(topic: $0, partition: 0)).dropLast()) }
        try reader.read(partition) { record in
            guard PositionKey.isSource(record.key), let value = record.value else { return }
            let key = record.keyBytes
            guard let (topic, prefix) = places.first(where: { key.starts(with: $0.1) }),
                let number = Int32(String(decoding: key.dropFirst(prefix.count), as: UTF8.self))
            else { return }
            bySource[TopicPartition(topic: topic, partition: number)] =
                try JSONRecord.decode(SourcePosition.self, value, of: partition.topic).watermark
        }
    }

    /// How many records of a checkpoint are looked at first: each commit ends with a position.
    private static let tail: Int64 = 256

    /// The last position of a checkpoint partition, which also holds states: only its end is read.
    private static func lastPosition(_ partition: TopicPartition, _ reader: PartitionReader) throws -> Position? {
        let bounds = try reader.bounds(of: partition)
        var length = tail
        while bounds.high > bounds.low {
            let start = max(bounds.low, bounds.high - length)
            var position: Position?
            try reader.read(partition, from: start) { record in
                guard record.keyBytes == CheckpointRecord.positionKey else { return }
                position = try record.value.map { try JSONRecord.decode(Position.self, $0, of: partition.topic) }
            }
            if position != nil || start == bounds.low { return position }
            length *= 16
        }
        return nil
    }
}
