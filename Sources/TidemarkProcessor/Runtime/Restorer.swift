internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// Brings back the tasks of the partitions that a worker was given, a bounded step at a time, so that the group is kept and the
/// worker's other tasks go on.
///
///     asking ──(group's offsets, end of the checkpoint)──► reading ──► loading ──(position agrees)──► ready
///       ▲                                                                              │
///       └──────────────────────────(a transaction was still on its way)────────────────┘
final class Restorer {
    /// How long a position may differ from the group's offset before it is refused: longer than any transaction can be open.
    private static let patience = Duration.seconds(60)
    private static let callTimeout: Int32 = 1_000
    /// How long user states are decoded in one step: other tasks wait for that long.
    private static let loadingTime = Duration.milliseconds(20)
    private static let noteInterval = Duration.seconds(5)
    /// How far before the end of a checkpoint partition the last position is looked for: transactions that were aborted may have written
    /// behind it.
    private static let tailOffsets: Int64 = 64

    private struct Restoration {
        let topics: [String]
        /// A task that was kept through a rebalance, for the case that nobody has committed since.
        var kept: PartitionTask?
        var shadow: CheckpointShadow?
        /// What the group has committed; `nil` until it was asked.
        var committed: [String: Int64]?
        /// Where the checkpoint partition ended when it was asked.
        var target: Int64 = 0
        let begin: ContinuousClock.Instant
        var nextNote: ContinuousClock.Instant
        /// When to ask again, after a disagreement.
        var pausedUntil: ContinuousClock.Instant?
    }

    private let context: RunContext
    private let consumer: any ConsumerClient
    private let decoder: EventDecoder
    private let reader: PartitionReader
    private let follower: CheckpointFollower
    private let checks: RestoreChecks
    private var restorations: [Int32: Restoration] = [:]
    /// What was read of partitions that were taken away before they were ready.
    private var unfinished: [Int32: CheckpointShadow] = [:]
    /// Tasks that were given up with everything committed.
    private var kept: [Int32: PartitionTask] = [:]
    private var askedInVain = 0

    /// - Parameters:
    ///   - consumer: the worker's, for asking what its group has committed.
    ///   - decoder: the worker's, for its tasks.
    init(
        context: RunContext, consumer: any ConsumerClient, reader: PartitionReader, decoder: EventDecoder
    ) throws {
        self.context = context
        self.consumer = consumer
        self.decoder = decoder
        self.reader = reader
        follower = try CheckpointFollower(context: context, isUrgent: true)
        checks = RestoreChecks(context: context)
    }

    /// Whether some task is on its way.
    var isBusy: Bool { !restorations.isEmpty }
    /// How many tasks are.
    var count: Int { restorations.count }

    func close() { follower.close() }

    /// Begins with the partitions of an assignment; those of the last one that are not among them are forgotten.
    ///
    /// - Parameter partitions: with the input topics that have them.
    func begin(_ partitions: [Int32: [String]]) {
        let now = context.control.now
        restorations = [:]
        for (partition, topics) in partitions {
            restorations[partition] = Restoration(
                topics: topics, kept: kept[partition], shadow: unfinished[partition], begin: now,
                nextNote: now + Restorer.noteInterval)
        }
        unfinished = [:]
        kept = [:]
    }

    /// Keeps tasks whose partitions are being taken away and of which all is committed, in case they come back.
    func keep(_ tasks: [Int32: PartitionTask]) { kept = tasks }

    /// Forgets the tasks that were kept.
    func forgetKept() { kept = [:] }

    /// Stops, and keeps what was read in case the partitions come back.
    func suspend() {
        for (partition, restoration) in restorations where restoration.kept == nil {
            unfinished[partition] = restoration.shadow
        }
        restorations = [:]
        try? follower.follow([])
    }

    /// Does a piece of work.
    ///
    /// - Parameter mayWait: whether nothing else waits for the thread.
    /// - Returns: tasks that are ready to read their input.
    func step(mayWait: Bool) throws -> [PartitionTask] {
        guard isBusy else { return [] }
        try ask(mayWait: mayWait)
        takeShadows()
        try follower.follow(restorations.values.compactMap { $0.committed == nil ? nil : $0.shadow })
        if !follower.partitions.isEmpty { try follower.advance(timeoutMilliseconds: mayWait ? 50 : 0) }
        var ready: [PartitionTask] = []
        let deadline = context.control.now + Restorer.loadingTime
        for (partition, restoration) in restorations.sorted(by: { $0.key < $1.key }) {
            guard let shadow = restoration.shadow, let committed = restoration.committed else { continue }
            guard restoration.target == 0 || shadow.next ?? 0 >= restoration.target else { continue }
            let isLoaded = try restoration.kept != nil || shadow.load { context.control.now < deadline }
            if isLoaded, let task = try judge(partition, restoration, shadow, committed) { ready.append(task) }
        }
        for task in ready { restorations[task.partition] = nil }
        // Else the client would go on to fetch what these tasks write, until its queue is full.
        if !isBusy { try follower.follow([]) }
        if !ready.isEmpty { try giveNames(to: ready) }
        noteProgress()
        return ready
    }

    // MARK: Steps

    /// Asks for the offsets that the group has committed, and for the ends of checkpoint partitions as they are after that: what was
    /// committed before is below them.
    private func ask(mayWait: Bool) throws {
        let now = context.control.now
        let asking = restorations.filter { $0.value.committed == nil && $0.value.pausedUntil ?? now <= now }
        guard !asking.isEmpty else { return }
        let inputs = asking.flatMap { partition, restoration in
            restoration.topics.map { TopicPartition(topic: $0, partition: partition) }
        }
        context.beat(waiting: .seconds(2))
        let committed: [TopicPartition: Int64]
        let ends: [TopicPartition: (low: Int64, high: Int64)]
        do throws(KafkaError) {
            // Fails while a transaction that commits some of them is being decided, which may take until it times out.
            committed = try consumer.committed(inputs, timeoutMilliseconds: Restorer.callTimeout)
            ends = try reader.bounds(of: asking.keys.map(checkpoint), timeoutMilliseconds: Restorer.callTimeout)
        } catch {
            askedInVain += 1
            guard !error.isLasting, askedInVain < 60 else { throw error }
            if mayWait { context.control.sleep(.milliseconds(100)) }
            return
        }
        askedInVain = 0
        for (partition, restoration) in asking {
            var known: [String: Int64] = [:]
            for topic in restoration.topics {
                known[topic] = committed[TopicPartition(topic: topic, partition: partition)]
            }
            restorations[partition]?.committed = known
            let (low, high) = ends[checkpoint(partition)] ?? (0, 0)
            restorations[partition]?.target = high
            if restoration.kept != nil {
                // Each commit ends with its position: the last one is near the end.
                let shadow = CheckpointShadow(partition: partition, state: TaskState(context))
                shadow.next = max(low, high - Restorer.tailOffsets)
                restorations[partition]?.shadow = shadow
            }
        }
    }

    /// Finds what each task starts from: what a standby has, or nothing.
    private func takeShadows() {
        for (partition, restoration) in restorations where restoration.committed != nil && restoration.shadow == nil {
            switch context.standby?.take(partition) ?? .none {
            case .soon: continue
            case .shadow(let shadow):
                context.log(
                    "partition \(partition) goes on from a standby: \(shadow.state.userCount) users, "
                        + "\(max(0, restoration.target - (shadow.next ?? 0))) offsets of the checkpoint to go",
                    partition: partition)
                restorations[partition]?.shadow = shadow
            case .none:
                restorations[partition]?.shadow = CheckpointShadow(partition: partition, state: TaskState(context))
            }
        }
    }

    /// Makes the task when what was read agrees with what the group has committed.
    private func judge(
        _ partition: Int32, _ restoration: Restoration, _ shadow: CheckpointShadow, _ committed: [String: Int64]
    ) throws -> PartitionTask? {
        if let kept = restoration.kept {
            if shadow.position?.commit == kept.commit, committed == kept.committedOffsets { return kept }
            // Another has gone on in between, or too much was written by others to tell.
            restorations[partition]?.kept = nil
            restorations[partition]?.shadow = nil
            return nil
        }
        guard let position = shadow.position else {
            guard committed.isEmpty else { throw checks.withoutCheckpoint(partition) }
            return try PartitionTask(
                context: context, partition: partition, starts: starts(partition, restoration.topics),
                decoder: decoder)
        }
        try checks.check(position, partition)
        try checks.check(topics: restoration.topics, of: position)
        // A group that was empty for long loses its offsets; the position, of the same transactions, still holds.
        guard committed.allSatisfy({ position.inputs[$0.key]?.next == $0.value }) else {
            guard restoration.begin.duration(to: context.control.now) < Restorer.patience else {
                throw checks.disagreement(partition, position, committed)
            }
            restorations[partition]?.committed = nil
            restorations[partition]?.pausedUntil = context.control.now + .milliseconds(500)
            return nil
        }
        try shadow.requireWholeChunks()
        let task = try PartitionTask(context: context, shadow: shadow, position: position, decoder: decoder)
        try requireInput(of: task, checkpointEnd: restoration.target)
        log(task, shadow, position, restoration)
        return task
    }

    private func starts(_ partition: Int32, _ topics: [String]) throws -> [String: Int64] {
        let places = topics.map { TopicPartition(topic: $0, partition: partition) }
        let bounds = try reader.bounds(of: places)
        for (place, bounds) in bounds { try checks.requireAll(of: place, from: bounds.low) }
        return Dictionary(uniqueKeysWithValues: bounds.map { ($0.key.topic, $0.value.low) })
    }

    /// Refuses to redo history from where the input no longer reaches.
    ///
    /// - Parameter end: where the checkpoint partition ended when it was read. Where it goes on by now, this process was frozen meanwhile, and
    ///   what it has read is no longer where the application stands.
    private func requireInput(of task: PartitionTask, checkpointEnd end: Int64) throws {
        let starts = task.startOffsets
        let bounds = try reader.bounds(of: starts.map(\.topicPartition))
        for start in starts {
            guard let low = bounds[start.topicPartition]?.low, low > start.offset else { continue }
            guard try reader.bounds(of: checkpoint(task.partition)).high == end else {
                throw Restart(
                    description: "partition \(task.partition) was taken over by another while its state was read here")
            }
            throw checks.lostInput(start, low: low)
        }
    }

    /// Gives tasks the names that they knew at their last commits.
    private func giveNames(to tasks: [PartitionTask]) throws {
        let wanted = tasks.filter { $0.needsNames }
        guard !wanted.isEmpty else { return }
        let suffixes = wanted.map { NameRecord.keySuffix(task: $0.partition) }
        try reader.read(TopicPartition(topic: context.topics.names, partition: 0)) { record in
            guard let key = record.key, let value = record.value else { return }
            for (task, suffix) in zip(wanted, suffixes) where key.suffix(suffix.count).elementsEqual(suffix) {
                // A later record of the same key is of a later event: taking all in their order gives the latest.
                try task.restoreName(key: key, value: value)
            }
        }
        for task in wanted { try task.finishNames() }
    }

    private func checkpoint(_ partition: Int32) -> TopicPartition {
        TopicPartition(topic: context.topics.checkpoint, partition: partition)
    }

    // MARK: Progress

    /// How the tasks on their way stand.
    var statuses: [TaskStatus] {
        restorations.map { partition, restoration in
            var status = TaskStatus(partition: partition)
            status.isRestoring = true
            status.checkpointRemaining = max(0, restoration.target - (restoration.shadow?.next ?? 0))
            status.users = restoration.shadow?.state.userCount ?? 0
            status.stateBytes = restoration.shadow?.state.byteCount ?? 0
            return status
        }
    }

    private func noteProgress() {
        let now = context.control.now
        for (partition, restoration) in restorations where restoration.nextNote <= now {
            restorations[partition]?.nextNote = now + Restorer.noteInterval
            guard let shadow = restoration.shadow, restoration.committed != nil else {
                context.log("waiting for a transaction on partition \(partition) to be decided", partition: partition)
                continue
            }
            let left = max(0, restoration.target - (shadow.next ?? 0))
            let seconds = Int(restoration.begin.duration(to: now) / .seconds(1))
            let estimate = shadow.next.map { $0 > 0 ? Int(Double(seconds) * Double(left) / Double($0)) : 0 } ?? 0
            context.log(
                "restoring partition \(partition): \(shadow.recordCount) records, \(shadow.byteCount >> 20) MB read, \(left) offsets left, "
                    + "about \(estimate) s", partition: partition)
        }
    }

    private func log(
        _ task: PartitionTask, _ shadow: CheckpointShadow, _ position: Position, _ restoration: Restoration
    ) {
        let ways = task.startOffsets.map { start in
            let end = position.inputs[start.topicPartition.topic]?.next ?? start.offset
            return "\(start.topicPartition) \(start.offset) to \(end)"
        }
        let milliseconds = restoration.begin.duration(to: context.control.now).milliseconds
        context.log(
            "restored partition \(task.partition) at commit \(position.commit): \(task.userCount) users from \(shadow.chunkCount) chunks, "
                + "\(shadow.byteCount >> 20) MB read, \(milliseconds) ms; redoing \(ways.sorted().joined(separator: ", "))",
            partition: task.partition)
    }
}
