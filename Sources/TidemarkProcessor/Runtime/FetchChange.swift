internal import TidemarkKafka

/// A partition that should not be fetched for now, or should be fetched again.
struct FetchChange {
    var partition: TopicPartition
    var isPaused: Bool
    /// The next offset to come.
    var next: Int64
}

extension ConsumerClient {
    /// Stops fetching a partition, or goes on.
    func apply(_ change: FetchChange) throws {
        guard !change.isPaused else { return try pause([change.partition]) }
        // librdkafka goes on from here. Versions before 2.1 could leave records out around a pause, when polled in batches.
        if let position = try positions([change.partition])[change.partition], position > change.next {
            throw Restart(
                description:
                    "\(change.partition) would go on at offset \(position) instead of \(change.next) after a pause")
        }
        try resume([change.partition])
    }
}
