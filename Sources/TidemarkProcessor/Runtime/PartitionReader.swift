internal import TidemarkConfiguration
internal import TidemarkKafka

/// Reads a partition from its beginning to its end as it is now, committed records only: how state and reports are loaded.
final class PartitionReader {
    static let callTimeout: Int32 = 30_000
    private static let closeTimeout: Int32 = 10_000
    private let consumer: any ConsumerClient
    private let uncommitted: any ConsumerClient
    private let control: RunControl

    init(_ configuration: Configuration, control: RunControl, clients: any ClientFactory = KafkaClients()) throws {
        self.control = control
        let properties = ClientProperties(configuration)
        let name = configuration.applicationID + "-reader"
        // The end of a partition shows in an answer without records: the broker should not wait for more before it gives one.
        let reading = properties.reader(name: name).merging(["fetch.wait.max.ms": "10"]) { _, ours in ours }
        consumer = try clients.consumer(reading, log: nil)
        uncommitted = try clients.consumer(properties.reader(name: name, isolation: "read_uncommitted"), log: nil)
    }

    /// Called again and again while `read` reads or waits.
    var onProgress: (() -> Void)?

    func close() {
        consumer.close(timeoutMilliseconds: PartitionReader.closeTimeout)
        uncommitted.close(timeoutMilliseconds: PartitionReader.closeTimeout)
    }

    /// First and next offset of a partition, open transactions included.
    func bounds(of partition: TopicPartition) throws(KafkaError) -> (low: Int64, high: Int64) {
        onProgress?()
        return try uncommitted.watermarks(of: partition, timeoutMilliseconds: PartitionReader.callTimeout)
    }

    /// The same of several partitions.
    func bounds(
        of partitions: [TopicPartition], timeoutMilliseconds: Int32 = PartitionReader.callTimeout
    ) throws(KafkaError) -> [TopicPartition: (low: Int64, high: Int64)] {
        onProgress?()
        return try uncommitted.watermarks(of: partitions, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Calls `body` for each committed record from an offset, or from the beginning, up to the end that the log has now.
    ///
    /// The end is that of all records, open transactions included, and reading waits until those are decided: what was committed before
    /// the call is therefore seen, even where its commit marker is still on the way.
    func read(_ partition: TopicPartition, from start: Int64 = 0, _ body: (ConsumedRecord) throws -> Void) throws {
        let bounds = try bounds(of: partition)
        var next = max(start, bounds.low)
        guard bounds.high > next else { return }
        try consumer.assign([PartitionOffset(partition, offset: next)])
        defer { try? consumer.assign([]) }
        while next < bounds.high {
            if control.isStopping { throw Stopped() }
            var failure: KafkaError?
            _ = try consumer.poll(max: 10_000, timeoutMilliseconds: 200) { item in
                switch item {
                case .record(let record):
                    if record.offset < bounds.high { try body(record) }
                    next = max(next, record.offset + 1)
                case .endOfPartition(_, _, let offset):
                    next = max(next, offset)
                case .failure(let error, _, _):
                    if error.isFatal || error.isLasting || error.code == .offsetOutOfRange
                        || error.code == .noOffsetToStartFrom
                    {
                        failure = error
                    }
                }
            }
            onProgress?()
            if let failure, failure.isLasting { throw failure }
            if let failure { throw Restart(description: "cannot read \(partition): \(failure)") }
        }
    }
}

extension ConsumedRecord {
    /// A copy of the key.
    var keyBytes: [UInt8] { key.map(Array.init) ?? [] }
}
