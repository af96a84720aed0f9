/// Where an aggregator stands in its partition of the delta topic: written in every commit, in the transaction that also commits its offset.
struct AggregatorPosition: Codable, Equatable {
    var format = Position.format
    /// See `Epoch`.
    var epoch: Int
    /// Grows by one with each commit of the partition.
    var commit: Int64
    /// The next offset to read.
    var next: Int64
    /// The greatest accepted event time known, seconds since the epoch.
    var asOf: UInt32
    /// See `RunContext.fingerprint`.
    var fingerprint: String
    /// The topic that holds the rows.
    var reports: String
}
