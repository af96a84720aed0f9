internal import TidemarkKafka

/// Where a source partition stands on the way into `<app>-by-user`: written in every commit, in the transaction that also commits its offset.
struct SourcePosition: Codable, Equatable {
    var format = Position.format
    /// See `Epoch`.
    var epoch: Int
    /// The next offset to read.
    var next: Int64
    /// The greatest accepted event time of the source, seconds since the epoch.
    var watermark: UInt32
    /// Partitions of the source topic, and of `<app>-by-user`.
    var sourcePartitions: Int
    var userPartitions: Int
    /// See `RunContext.fingerprint`.
    var fingerprint: String
}

extension RunContext {
    /// The partition of `<app>-positions` that has the position of a source partition.
    func positionsPartition(of source: TopicPartition) -> Int32 { source.partition % Int32(reportPartitions) }
}
