internal import TidemarkAttribution
internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkRegistry
internal import TidemarkReports

/// One task: the users of one partition, from consumed records to the records of the next commit. One thread.
///
///     restoring ──(history redone)──► live
///
/// While it is restoring, it adds what its verdict log says was accepted, judges nothing and publishes nothing.
final class PartitionTask {
    /// The partition, of every input topic.
    let partition: Int32
    let context: RunContext
    let state: TaskState
    private let decoder: EventDecoder
    private let deadLetters: DeadLetterWriter
    private let checkpoint: TaskCheckpoint
    /// Records of several input topics that wait for their turn; `nil` with one topic, whose records need not wait.
    let merged: MergedInput?
    /// Takes the events of the input.
    private let intake: EventIntake
    /// Takes events that were judged before, in its place; `nil` where the task reads the input itself.
    let forwarded: ForwardedIntake?
    /// Gets schemas for the decoder; `nil` without a registry.
    let schemas: WriterSchemas?
    /// Holds records whose schema is not there yet, and all after them.
    var gate: SchemaGate
    private var event = Event()
    private var codes: [UInt8] = []

    /// Where the task stands in its partition of each input topic, by `InputTopic.index`.
    var lanes: [Lane] = []
    private var reported = VerdictCounts()
    private var restoredWatermark: UInt32 = 0
    /// Number of the last commit.
    private(set) var commit: Int64 = 0
    /// Whether history is still being redone.
    private(set) var isRestoring = false
    /// Records taken since the last commit.
    private(set) var pendingRecords = 0
    /// Whether the input moved on since the last commit.
    private(set) var isDirty = false
    /// The last commit that took in records, and when it was.
    private var recordsCommit: Int64 = 0
    private var recordsTime: ContinuousClock.Instant?
    /// When the last commit was prepared.
    private var lastCommitTime: ContinuousClock.Instant?

    /// One input topic.
    struct Lane {
        let topic: String
        var input: Position.Input
        /// What becomes of records, for the checkpoint.
        var verdicts = VerdictLog()
        /// What has become of records that are redone; `nil` where there are none, or no more.
        var history: VerdictCursor?
        /// Where the committed part ends, while history is redone.
        var end: Int64?
        /// What history says of the record that comes next, where that had to wait for its schema.
        var verdict: Verdicts?

        /// Whether all of its history is redone, or there was none.
        var isRedone: Bool { (history?.isAtEnd ?? true) && verdict == nil }
    }

    /// What became of the events of a record, and with which commit.
    struct Verdicts {
        var codes: [UInt8]
        var commit: Int64
    }

    /// How long no records came before chunks are written all the same.
    private static let quietTime = Duration.seconds(5)

    /// Whether a restart would have to redo history although there has been time to write chunks that spare it.
    var isBehind: Bool {
        let quiet = recordsTime.map { $0.duration(to: context.control.now) } ?? PartitionTask.quietTime
        return quiet >= PartitionTask.quietTime && state.coveredCommit < recordsCommit
    }

    /// A task that nothing was committed of, with the first offset of each input topic.
    convenience init(context: RunContext, partition: Int32, starts: [String: Int64], decoder: EventDecoder) {
        self.init(context: context, partition: partition, state: TaskState(context), decoder: decoder)
        lanes = context.topics.taskInputs.map { topic in
            let start = starts[topic] ?? 0
            return Lane(topic: topic, input: Position.Input(start: start, next: start))
        }
    }

    private init(context: RunContext, partition: Int32, state: TaskState, decoder: EventDecoder) {
        self.context = context
        self.partition = partition
        self.state = state
        self.decoder = decoder
        let letters = DeadLetterWriter(
            topic: context.topics.deadLetters, limit: context.deadLetterLimit,
            rules: context.configuration.attribution)
        deadLetters = letters
        forwarded = context.sources.map {
            ForwardedIntake(context, sources: $0, state: state, decoder: decoder, deadLetters: letters)
        }
        checkpoint = TaskCheckpoint(topic: context.topics.checkpoint, partition: partition)
        schemas = context.registry.map { WriterSchemas($0, decoder, control: context.control) }
        gate = SchemaGate(context.topics.taskInputs.map { TopicPartition(topic: $0, partition: partition) })
        let topicCount = context.topics.taskInputs.count
        merged = topicCount > 1 ? MergedInput(context: context, partition: partition) : nil
        intake = EventIntake(
            state: state, decoder: decoder, deadLetters: letters, keyCheck: context.keyCheck, topics: topicCount)
    }

    /// A task that goes on from its last commit, once it has its names.
    ///
    /// - Parameters:
    ///   - shadow: read and loaded up to that commit; its state becomes the task's.
    ///   - position: the commit.
    convenience init(
        context: RunContext, shadow: CheckpointShadow, position: Position, decoder: EventDecoder
    ) throws(RunFailure) {
        self.init(context: context, partition: shadow.partition, state: shadow.state, decoder: decoder)
        commit = position.commit
        (recordsCommit, recordsTime) = (position.commit, context.control.now)
        lanes = context.topics.taskInputs.map { topic in
            let input = position.inputs[topic] ?? Position.Input(start: 0, next: 0)
            return Lane(topic: topic, input: input, end: input.next)
        }
        restoredWatermark = position.watermark
        forwarded?.willRestore(position)
        state.finishLoading()
        for (topic, logs) in shadow.verdicts {
            checkpoint.restore(verdictsOf: topic, commits: logs.map(\.commit))
            // Find what of history the chunks do not cover.
            let left = logs.filter { $0.commit > state.coveredCommit }
            guard let oldest = left.first, let place = lanes.firstIndex(where: { $0.topic == topic }) else { continue }
            lanes[place].history = try VerdictCursor(left)
            lanes[place].input.next = try oldest.firstOffset()
        }
        checkpoint.restore(partCounts: shadow.partCounts)
        isRestoring = true
        needsNames = true
    }

    /// Where to read each input topic from.
    var startOffsets: [PartitionOffset] {
        lanes.map { PartitionOffset(topic: $0.topic, partition: partition, offset: $0.input.next) }
    }

    /// The offsets that the next commit commits.
    var offsets: [PartitionOffset] { startOffsets }

    /// The offsets that the last commit committed, by input topic, provided that nothing is dirty.
    var committedOffsets: [String: Int64] {
        Dictionary(uniqueKeysWithValues: lanes.map { ($0.topic, $0.end ?? $0.input.next) })
    }

    /// The lowest watermark of all sources: what is final is reckoned from it.
    var finalMark: UInt32 { state.finalMark }
    /// Whether events were judged before they come here.
    var isForwarded: Bool { forwarded != nil }

    /// How many users there are.
    var userCount: Int { state.userCount }
    /// The greatest accepted event time.
    var watermark: UInt32 { state.watermark }
    /// Bytes of the users' states.
    var stateBytes: Int { state.byteCount }
    /// Offsets that are left to redo.
    var restoreRemaining: Int64 { lanes.reduce(0) { $0 + max(0, ($1.end ?? 0) - $1.input.next) } }
    /// Bytes that the next commit would free: of dead letters, and of users that can be packed then.
    var pendingBytes: Int { deadLetters.batch.byteCount + state.excessByteCount }

    // MARK: Consuming

    /// Takes a record of one of the task's input topics: now, or when it is its turn.
    func take(_ record: ConsumedRecord, topic: InputTopic) throws(RunFailure) {
        // History may be redone in any order.
        guard let merged, lanes[topic.index].isRedone else { return try process(record, topic) }
        if merged.receive(record, of: topic, mayPass: !isRestoring && !gate.isClosed) {
            return try process(record, topic)
        }
        try takeWaiting()
    }

    /// Takes records whose turn has come, none before all history is redone.
    func takeWaiting() throws(RunFailure) {
        guard let merged, !isRestoring else { return }
        while !gate.isClosed, let (copy, topic) = merged.next() {
            try process(copy.record, topic)
            if !gate.isClosed, let end = merged.end(of: topic) { moveOn(topic, to: end) }
        }
    }

    func process(_ record: ConsumedRecord, _ topic: InputTopic) throws(RunFailure) {
        guard record.offset >= lanes[topic.index].input.next else { return }
        guard !gate.isClosed else { return hold(record, topic) }
        let redoes = isRestoring && lanes[topic.index].history != nil
        if redoes { try findVerdict(of: record, topic) }
        // What was not accepted when it came is not decoded again, and needs no schema.
        if !redoes || codes.contains(Verdict.accepted.code), let wait = wait(for: record, topic) {
            if redoes { lanes[topic.index].verdict = Verdicts(codes: codes, commit: redoneCommit) }
            return gate.close(wait, record, of: topic.index, now: context.control.now)
        }
        lanes[topic.index].input.next = record.offset + 1
        if redoes { return try redo(record, topic) }
        pendingRecords += 1
        isDirty = true
        if let forwarded {
            codes.removeAll(keepingCapacity: true)
            try forwarded.take(record, codes: &codes)
            return lanes[topic.index].verdicts.append(codes, offset: record.offset)
        }
        try intake.take(record, topic)
        if intake.isFull { finishTaking() }
    }

    /// Has the state take in what was taken and waits: before anyone looks at it, and when no more records come for now.
    func finishTaking() {
        intake.finish { codes, topic, offset in lanes[topic].verdicts.append(codes, offset: offset) }
    }

    /// Notes that a partition was read to its end, which may lie behind control records.
    func reachedEnd(of topic: InputTopic, offset: Int64) throws(RunFailure) {
        guard !gate.isClosed else {
            if let merged, lanes[topic.index].isRedone { return merged.reachedEnd(of: topic, offset: offset) }
            return gate.reachedEnd(of: topic.index, offset: offset)
        }
        if isRestoring, !lanes[topic.index].isRedone {
            guard offset > lanes[topic.index].input.next else { return }
            throw RunFailure(
                "\(topic.name)[\(partition)] ends at offset \(offset), before all that the state was made of was read again: records are "
                    + "missing. Start under a new application_id and new output topics")
        }
        guard let merged else { return moveOn(topic, to: offset) }
        merged.reachedEnd(of: topic, offset: offset)
        guard !isRestoring else { return }
        if let end = merged.end(of: topic) { moveOn(topic, to: end) }
        try takeWaiting()
    }

    /// Moves behind control records, and records of aborted transactions.
    func moveOn(_ topic: InputTopic, to offset: Int64) {
        guard offset > lanes[topic.index].input.next else { return }
        lanes[topic.index].input.next = offset
        isDirty = true
    }

    // MARK: Restoring

    /// Whether the names are missing that the task knew at its last commit.
    private(set) var needsNames = false

    /// Takes a record of the names topic that the task wrote.
    func restoreName(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(RunFailure) {
        try NameRecord.take(
            key: key, value: value, epoch: context.epoch, into: state.pass.names, vocabulary: state.vocabulary)
    }

    /// Ends the names: history can be redone.
    func finishNames() throws(RunFailure) {
        needsNames = false
        redoStart = context.control.now
        try finishRestoringIfDone()
    }

    private var redoStart: ContinuousClock.Instant?
    private var redoneRecords = 0
    /// The commit that the record was part of whose codes are in `codes`.
    private var redoneCommit: Int64 = 0

    /// Finds what became of a record that is to be redone.
    private func findVerdict(of record: ConsumedRecord, _ topic: InputTopic) throws(RunFailure) {
        if let verdict = lanes[topic.index].verdict {
            (codes, redoneCommit) = (verdict.codes, verdict.commit)
            lanes[topic.index].verdict = nil
            return
        }
        if let end = lanes[topic.index].end, record.offset >= end {
            throw RunFailure(
                "\(topic.name)[\(partition)] lacks records below offset \(end) that the state was made of. Start under a new "
                    + "application_id and new output topics")
        }
        try lanes[topic.index].history?.next(into: &codes)
        redoneCommit = lanes[topic.index].history?.commit ?? .max
    }

    private func redo(_ record: ConsumedRecord, _ topic: InputTopic) throws(RunFailure) {
        let commit = redoneCommit
        if let forwarded {
            try forwarded.redo(record, codes: codes, commit: commit)
        } else if codes.contains(Verdict.accepted.code), let value = record.value {
            decoder.begin(ByteView(value), schema: topic.schema)
            var index = 0
            while index < codes.count, let outcome = decoder.next(into: &event, hint: { topic.hint(record) }) {
                if case .event = outcome, codes[index] == Verdict.accepted.code {
                    state.redo(event, commit: commit)
                }
                index += 1
            }
        }
        pendingRecords += 1
        redoneRecords += 1
        // With several topics history is not redone in the order of the first time: folding has to wait until all of it is there.
        if pendingRecords >= PartitionTask.redoBatch, merged == nil { settleSilently() }
        try finishRestoringIfDone()
    }

    /// How many records are redone before users are brought up to date, so that state folds as it did the first time.
    private static let redoBatch = 200_000

    private func settleSilently() {
        pendingRecords = 0
        state.settle(output: [])
        _ = state.pass.names.takeChanges()
    }

    private func finishRestoringIfDone() throws(RunFailure) {
        guard lanes.allSatisfy(\.isRedone) else { return }
        settleSilently()
        state.restore(watermark: restoredWatermark)
        forwarded?.finishRestoring()
        isRestoring = false
        if let redoStart {
            let milliseconds = redoStart.duration(to: context.control.now).milliseconds
            context.log(
                "partition \(partition) is live: \(redoneRecords) records redone, \(milliseconds) ms",
                partition: partition)
            FreeMemory.giveBack()
        }
        // Control records may lie between the last record and what was committed.
        for place in lanes.indices {
            lanes[place].input.next = max(lanes[place].input.next, lanes[place].end ?? 0)
            (lanes[place].history, lanes[place].end) = (nil, nil)
        }
        for (topic, offset) in merged?.ends ?? [] { moveOn(topic, to: offset) }
        try takeWaiting()
    }

    // MARK: Committing

    /// Adds all that the records since the last commit changed to a batch, with the position and offsets that go with it.
    ///
    /// - Parameter taskCount: how many tasks the worker has: together they redo history after a restart.
    func prepareCommit(into batch: OutboundBatch, taskCount: Int) {
        finishTaking()
        state.settle(output: [.rows, .opens])
        commit += 1
        if pendingRecords > 0 { (recordsCommit, recordsTime) = (commit, context.control.now) }
        appendDeltas(to: batch)
        appendOpens(to: batch)
        appendNames(to: batch)
        batch.append(contentsOf: deadLetters.batch)
        appendCheckpoint(to: batch, taskCount: taskCount)
        for offset in offsets { batch.append(offset) }
    }

    /// Forgets what a commit has published.
    func finishCommit() {
        deadLetters.batch.removeAll()
        pendingRecords = 0
        isDirty = false
    }

    /// What became of events since the last call.
    func takeCounts() -> VerdictCounts {
        var difference = VerdictCounts()
        difference.accepted = state.counts.accepted - reported.accepted
        difference.duplicates = state.counts.duplicates - reported.duplicates
        difference.skipped = state.counts.skipped - reported.skipped
        for (code, count) in state.counts.deadLetters where count != reported.deadLetters[code] ?? 0 {
            difference.deadLetters[code] = count - (reported.deadLetters[code] ?? 0)
        }
        reported = state.counts
        return difference
    }

    /// How late the events were that were accepted since the last call.
    func takeLateness() -> LatenessCounts { state.takeLateness() }

    private func appendCheckpoint(to batch: OutboundBatch, taskCount: Int) {
        for place in lanes.indices where lanes[place].verdicts.recordCount > 0 {
            let verdicts = lanes[place].verdicts.take()
            checkpoint.append(verdicts: verdicts, of: lanes[place].topic, commit: commit, to: batch)
        }
        let now = context.control.now
        let elapsed = lastCommitTime.map { $0.duration(to: now) } ?? .zero
        lastCommitTime = now
        checkpoint.appendChunks(
            of: state, commit: commit, records: pendingRecords, elapsed: elapsed, taskCount: taskCount, to: batch)
        let position = Position(
            epoch: context.epoch, commit: commit, watermark: state.watermark, partitions: context.inputPartitions,
            reportPartitions: context.reportPartitions, opens: context.topics.opens,
            openPartitions: context.openPartitions, fingerprint: context.fingerprint,
            inputs: Dictionary(uniqueKeysWithValues: lanes.map { ($0.topic, $0.input) }),
            sources: forwarded?.watermarks)
        batch.append(
            topic: context.topics.checkpoint, partition: partition, key: CheckpointRecord.positionKey,
            value: JSONRecord.encode(position))
    }
}
