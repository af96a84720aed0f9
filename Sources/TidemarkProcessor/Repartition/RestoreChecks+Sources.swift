internal import TidemarkConfiguration
internal import TidemarkKafka

/// What a task needs of `<app>-by-user` and its sources, beyond what every task needs of its input.
extension RestoreChecks {
    /// Refuses sources other than those whose watermarks have decided what is final.
    func check(sources watermarks: [String: [UInt32]]?) throws(RunFailure) {
        let app = context.configuration.applicationID
        guard (watermarks == nil) == (context.sources == nil) else {
            throw RunFailure(
                "the state of application `\(app)` was made with `input.repartition: \(watermarks != nil)`: put it back, or begin anew "
                    + "with `tidemark reset`, or start under a new application_id and new output topics")
        }
        guard let watermarks, let sources = context.sources, sources.marks(watermarks) == nil else { return }
        let before = watermarks.map { "\($0.key) with \($0.value.count)" }.sorted().joined(separator: ", ")
        let now = sources.topics.map { "\($0.name) with \($0.partitions)" }.sorted().joined(separator: ", ")
        throw RunFailure(
            "application `\(app)` has read \(before) partitions so far; now it would be \(now). What is final was reckoned from those "
                + "there were. " + PartitionAdvice.forMoreSources)
    }

    /// Refuses to begin with a topic of our own that has lost its beginning: those were events that nobody has counted.
    ///
    /// After a reset nothing tells events of the epoch before from such.
    func requireAll(of input: TopicPartition, from low: Int64) throws(RunFailure) {
        guard context.sources != nil, low > 0, context.epoch == Epoch.first else { return }
        throw RunFailure(
            "\(input) begins at offset \(low), and nothing of it has been counted yet: retention has removed events. Raise the topic's "
                + "retention and begin anew with `tidemark reset`")
    }
}
