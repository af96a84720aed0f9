internal import TidemarkConfiguration
internal import TidemarkKafka

/// What a task starts from.
struct RecoveredTask {
    /// The position of the last commit; `nil` where there was none.
    var position: Position?
    /// Chunks of user states, each with the commit that it covers.
    var chunks: [(record: TaskState.ChunkRecord, coveredCommit: Int64)] = []
    /// Verdicts up to the last commit, by input topic, the oldest first.
    var verdicts: [String: [CommittedVerdicts]] = [:]
    /// Records of the names topic that the task wrote.
    var names: [(key: [UInt8], value: [UInt8])] = []
    /// The first offset of each input topic, where there was no commit.
    var starts: [String: Int64] = [:]
}

/// Finds what a task starts from, and refuses what does not fit, with advice.
struct Recovery {
    /// How long a position may differ from the group's offset before it is refused, in seconds: longer than any transaction can be open.
    private static let patience = 60

    let context: RunContext
    let reader: PartitionReader
    let consumer: any ConsumerClient

    /// Reads the checkpoint of partition `partition` until it agrees with the offsets that the group has committed.
    ///
    /// - Parameter topics: the input topics that have the partition.
    func recover(partition: Int32, topics: [String]) throws -> RecoveredTask {
        let inputs = topics.map { TopicPartition(topic: $0, partition: partition) }
        for attempt in 0... {
            // Waits for transactions that are being decided; what they wrote is then below the end that the reader goes to.
            let committed = try consumer.decidedOffsets(inputs, context: context)
            let checkpoint = try readCheckpoint(partition)
            guard let position = checkpoint.position else {
                if committed.isEmpty { return try fresh(inputs) }
                throw RunFailure(Recovery.withoutCheckpoint(context, partition))
            }
            try check(position, partition)
            try check(topics: topics, of: position)
            // A group that was empty for long loses its offsets; the position, of the same transactions, still holds.
            if committed.allSatisfy({ position.inputs[$0.key.topic]?.next == $0.value }) {
                return RecoveredTask(
                    position: position, chunks: try checkpoint.chunks(), verdicts: checkpoint.verdicts,
                    names: try readNames(partition))
            }
            guard attempt < Recovery.patience else {
                throw RunFailure(Recovery.disagreement(context, partition, position, committed))
            }
            if context.control.isStopping { throw Stopped() }
            context.control.sleep(.seconds(1))
        }
        preconditionFailure("the loop ends by itself")
    }

    /// Reads all that the checkpoint has of a partition.
    private func readCheckpoint(_ partition: Int32) throws -> CheckpointContents {
        var contents = CheckpointContents()
        try reader.read(TopicPartition(topic: context.topics.checkpoint, partition: partition)) { record in
            try contents.take(key: record.keyBytes, value: record.value)
        }
        contents.sortVerdicts()
        return contents
    }

    /// Number of the last commit of a partition, for telling whether a state that was kept is still the latest; `nil` where there was none.
    func lastCommit(_ partition: Int32) throws -> Int64? {
        var position: Position?
        try reader.read(TopicPartition(topic: context.topics.checkpoint, partition: partition)) { record in
            guard record.keyBytes == CheckpointRecord.positionKey else { return }
            position = try record.value.map { try CheckpointRecord.decode(Position.self, Array($0)) }
        }
        return position?.commit
    }

    /// The names that the task of a partition knew at its last commit.
    private func readNames(_ partition: Int32) throws -> [(key: [UInt8], value: [UInt8])] {
        var names: [[UInt8]: [UInt8]] = [:]
        let suffix = NameRecord.keySuffix(task: partition)
        try reader.read(TopicPartition(topic: context.topics.names, partition: 0)) { record in
            let key = record.keyBytes
            guard key.suffix(suffix.count).elementsEqual(suffix) else { return }
            names[key] = record.value.map { Array($0) }
        }
        return names.map { ($0.key, $0.value) }
    }

    private func fresh(_ inputs: [TopicPartition]) throws -> RecoveredTask {
        var starts: [String: Int64] = [:]
        for input in inputs { starts[input.topic] = try reader.bounds(of: input).low }
        return RecoveredTask(starts: starts)
    }

    private func check(_ position: Position, _ partition: Int32) throws {
        let app = context.configuration.applicationID
        guard position.format == Position.format else {
            throw RunFailure(
                "partition \(partition) of \(context.topics.checkpoint) has format \(position.format), this program knows "
                    + "\(Position.format): run the version that wrote it, or start under a new application_id")
        }
        guard position.epoch == context.epoch else {
            throw RunFailure("a reset of application `\(app)` was interrupted: `tidemark reset` goes on with it")
        }
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
                    + "partitions: start under a new application_id and new output topics")
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
    private func check(topics: [String], of position: Position) throws {
        let added = topics.filter { position.inputs[$0] == nil }
        let removed = position.inputs.keys.filter { !topics.contains($0) }.sorted()
        guard !added.isEmpty || !removed.isEmpty else { return }
        let changes = added.map { "`\($0)` is new" } + removed.map { "`\($0)` is gone" }
        throw RunFailure(
            "input.topics differs from what the state of application `\(context.configuration.applicationID)` was made of: "
                + "\(changes.joined(separator: ", ")). Put it back, or start under a new application_id and new output topics; the input is then "
                + "read from its beginning")
    }

    /// Refuses to redo history from where the input no longer reaches.
    ///
    /// - Parameter starts: where the task would begin to read.
    func requireInput(from starts: [PartitionOffset]) throws {
        for start in starts {
            let low = try reader.bounds(of: start.topicPartition).low
            guard low <= start.offset else {
                throw RunFailure(
                    "\(start.topicPartition) now begins at offset \(low), but the state is made from offset \(start.offset) on: retention "
                        + "has removed events that are still needed. Raise the topic's retention; to go on with what is left, start "
                        + "under a new application_id and new output topics")
            }
        }
    }

    private static func withoutCheckpoint(_ context: RunContext, _ partition: Int32) -> String {
        "group `\(context.topics.taskGroup)` has committed offsets for partition \(partition), but \(context.topics.checkpoint) "
            + "has no position for it: another program uses the group, or the topic was emptied. Choose another application_id"
    }

    private static func disagreement(
        _ context: RunContext, _ partition: Int32, _ position: Position, _ committed: [TopicPartition: Int64]
    ) -> String {
        let known = committed.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        return "the checkpoint of partition \(partition) is at \(position.inputs.mapValues(\.next)), group "
            + "`\(context.topics.taskGroup)` at \(known): somebody has moved the group's offsets. Move them back, or start under a "
            + "new application_id"
    }
}
