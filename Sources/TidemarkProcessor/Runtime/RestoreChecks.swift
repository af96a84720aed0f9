internal import TidemarkConfiguration
internal import TidemarkKafka

/// Refuses state that does not fit what this process was started with, with advice.
struct RestoreChecks {
    let context: RunContext

    private var app: String { context.configuration.applicationID }

    /// Refuses what an epoch before has left behind.
    func check(epoch: Int) throws(RunFailure) {
        guard epoch != context.epoch else { return }
        throw RunFailure("a reset of application `\(app)` was interrupted: `tidemark reset` goes on with it")
    }

    /// Refuses what a version that writes other records has left behind.
    func check(format: Int, of what: String) throws(RunFailure) {
        guard format != Position.format else { return }
        throw RunFailure(
            "\(what) has format \(format), this program knows \(Position.format): run the version that wrote it, or start under a new "
                + "application_id")
    }

    func check(_ position: Position, _ partition: Int32) throws(RunFailure) {
        try check(format: position.format, of: "partition \(partition) of \(context.topics.checkpoint)")
        try check(epoch: position.epoch)
        try check(sources: position.sources)
        guard position.fingerprint == context.fingerprint else {
            throw RunFailure(
                "the attribution or report settings are not those that the state of application `\(app)` was made with. "
                    + "Put them back, or begin anew with `tidemark reset`: the input is then read from its beginning"
            )
        }
        guard position.partitions == context.inputPartitions, position.reportPartitions == context.reportPartitions
        else {
            throw RunFailure(
                "application `\(app)` began with \(position.partitions) input and \(position.reportPartitions) report partitions; "
                    + "now there are \(context.inputPartitions) and \(context.reportPartitions). Users and rows would change their "
                    + "partitions. " + PartitionAdvice.forMorePartitions(context.topics))
        }
        guard position.opens == context.topics.opens, position.openPartitions == context.openPartitions else {
            throw RunFailure(
                "application `\(app)` has published opens to \(position.opens) with \(position.openPartitions) partitions so far; now "
                    + "output.opens is \(context.topics.opens) with \(context.openPartitions). Opens that no longer stand could not be "
                    + "withdrawn: put it back, or start under a new application_id and new output topics")
        }
    }

    /// Refuses input topics that differ from those the state is of: events of a new one may be older than what was folded, and a topic that is
    /// gone cannot be read again after a crash.
    func check(topics: [String], of position: Position) throws(RunFailure) {
        let added = topics.filter { position.inputs[$0] == nil }
        let removed = position.inputs.keys.filter { !topics.contains($0) }.sorted()
        guard !added.isEmpty || !removed.isEmpty else { return }
        let changes = added.map { "`\($0)` is new" } + removed.map { "`\($0)` is gone" }
        throw RunFailure(
            "input.topics differs from what the state of application `\(app)` was made of: "
                + "\(changes.joined(separator: ", ")). Put it back, or start under a new application_id and new output topics; the input is then "
                + "read from its beginning")
    }

    func withoutCheckpoint(_ partition: Int32) -> RunFailure {
        RunFailure(
            "group `\(context.topics.taskGroup)` has committed offsets for partition \(partition), but \(context.topics.checkpoint) "
                + "has no position for it: another program uses the group, or the topic was emptied. Choose another application_id"
        )
    }

    func disagreement(_ partition: Int32, _ position: Position, _ committed: [String: Int64]) -> RunFailure {
        let known = committed.map { "\($0.key)[\(partition)] \($0.value)" }.sorted().joined(separator: ", ")
        return RunFailure(
            "the checkpoint of partition \(partition) is at \(position.inputs.mapValues(\.next)), group "
                + "`\(context.topics.taskGroup)` at \(known): somebody has moved the group's offsets. Move them back, or start under a "
                + "new application_id")
    }

    func lostInput(_ start: PartitionOffset, low: Int64) -> RunFailure {
        RunFailure(
            "\(start.topicPartition) now begins at offset \(low), but the state is made from offset \(start.offset) on: retention "
                + "has removed events that are still needed. Raise the topic's retention; to go on with what is left, start "
                + "under a new application_id and new output topics")
    }
}
