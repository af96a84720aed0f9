internal import TidemarkKafka

/// Keys of the records of `<app>-positions`.
enum PositionKey {
    private static let sourcePrefix = Array("source/".utf8)

    /// The key of the position of a partition of the report, in the same partition of the topic.
    static func aggregator(_ partition: Int32) -> [UInt8] { Array("aggregator/\(partition)".utf8) }

    /// The key of the position of a source partition.
    static func source(_ source: TopicPartition) -> [UInt8] {
        sourcePrefix + Array("\(source.topic)/\(source.partition)".utf8)
    }

    /// Whether a key is that of a position of some source partition.
    static func isSource(_ key: UnsafeRawBufferPointer?) -> Bool { key?.starts(with: sourcePrefix) ?? false }
}
