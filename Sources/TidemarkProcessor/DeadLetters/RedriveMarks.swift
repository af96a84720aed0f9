internal import TidemarkKafka

/// Which dead letters were fed again: the records of `<app>-redriven`, by id.
///
/// A mark is written in the transaction that feeds its record, so that one is there exactly when the other is. It is by the place that the
/// record came from first, and outlives a reset: the input, with what was fed to it, is read again then, and the same dead letters are written
/// again.
public struct RedriveMarks: Sendable {
    /// The value of a record.
    struct Mark: Codable {
        var format = 1
        /// When it was fed, milliseconds since the epoch.
        var at: Int64
        /// The command: `redrive` or `import`.
        var by: String
        /// The partition that it was fed to.
        var to: String
    }

    private var times: [String: Int64] = [:]

    /// None.
    init() {}

    init(topic: String, _ reader: PartitionReader) throws {
        try reader.read(TopicPartition(topic: topic, partition: 0)) { record in
            let id = String(decoding: record.keyBytes, as: UTF8.self)
            guard let value = record.value else {
                times[id] = nil
                return
            }
            times[id] = try JSONRecord.decode(Mark.self, value, of: topic).at
        }
    }

    /// How many there are.
    public var count: Int { times.count }

    /// When a dead letter was fed again, milliseconds since the epoch; `nil` where it was not.
    public func time(of id: String) -> Int64? { times[id] }

    /// Notes that a dead letter is fed.
    mutating func insert(_ id: String, at time: Int64) { times[id] = time }
}
