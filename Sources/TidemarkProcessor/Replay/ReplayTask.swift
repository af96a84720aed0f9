public import TidemarkAttribution
public import TidemarkEvents
public import TidemarkRegistry
public import TidemarkReports

/// Takes records from anywhere and ends in a report: the same decoding, acceptance and rules as live, without transactions. One thread.
///
/// Each user is evaluated once, at the end. Where lateness is limited, events are judged in the order in which they come, and users are needed as
/// they come: they cannot be written to disk. When they take much of their memory, they are worked out so far, and what no event can change any
/// more is folded away, as at a commit.
public final class ReplayTask: ReplaySink {
    private var known = ReplayFigures()
    /// Lines of the present file in the pieces before.
    private var linesBefore = 0
    private let rules: AttributionRules
    private let settings: ReportSettings
    private let days: DayTable
    private let decoder: EventDecoder
    private let registry: SchemaFetcher?
    private var event = Event()
    /// Tasks by stream. With unlimited lateness one holds all users, for nothing depends on a watermark then.
    private var tasks: [Int32: TaskState] = [:]
    private var lastStream: Int32 = 0
    private let acceptance: Acceptance
    /// Watermarks by stream, where users are spread over streams and one task holds all of them; `nil` where each stream has users of its own.
    private var marks: [Int32: UInt32]?
    private var lastTask: TaskState
    private let memory: ReplayMemory?
    /// Bytes of users from which on they are worked out.
    private var nextSettling = Int.max
    /// How often they were.
    private(set) var settlings = 0

    /// A replay with these settings.
    ///
    /// - Parameters:
    ///   - days: the table of `settings.timeZone`.
    ///   - isRepartitioned: whether users may be spread over streams, as with `input.repartition`.
    ///   - schemas: writer schemas that values name by their fingerprints.
    ///   - registry: where writer schemas of ids come from, waited for; `nil` without one.
    ///   - memory: what users may take, with limited lateness; `nil` is any amount.
    public init(
        rules: AttributionRules, settings: ReportSettings, days: DayTable, limits: DecoderLimits,
        isRepartitioned: Bool = false, schemas: [AvroSchema] = [], registry: SchemaFetcher? = nil,
        memory: ReplayMemory? = nil
    ) {
        self.registry = registry
        self.rules = rules
        self.settings = settings
        self.days = days
        acceptance = Acceptance(rules)
        let isSpread = isRepartitioned && rules.allowedLateness != nil
        marks = isSpread ? [:] : nil
        lastTask = ReplayTask.makeTask(rules, settings, days, sources: isSpread ? 1 : nil)
        tasks[0] = lastTask
        self.memory = rules.allowedLateness == nil ? nil : memory
        nextSettling = self.memory?.userBytes ?? .max
        decoder = EventDecoder(limits: limits, schemas: schemas)
    }

    /// An empty task of a replay.
    static func makeTask(
        _ rules: AttributionRules, _ settings: ReportSettings, _ days: DayTable, sources: Int? = nil
    ) -> TaskState {
        TaskState(
            rules: rules, settings: settings, days: days,
            duplicateCheck: rules.allowedLateness == nil ? .inPass : .onArrival, sources: sources)
    }

    /// How far it has come.
    public var figures: ReplayFigures {
        var figures = known
        figures.counts = tasks.values.reduce(into: VerdictCounts()) { $0 += $1.counts }
        figures.userCount = tasks.values.reduce(0) { $0 + $1.userCount }
        return figures
    }

    /// Takes a piece, and gives the same one back.
    public func take(_ piece: RecordPiece) throws -> RecordPiece {
        if piece.isFirstOfFile { linesBefore = 0 }
        let before = linesBefore
        linesBefore += piece.forEach { record in
            let place = { piece.place(of: record.number, linesBefore: before) }
            if let damage = record.damage {
                known.eventCount += 1
                return refuse(damage, task(of: record.stream), place)
            }
            guard decoder.begin(record, registry) else { return takeTombstone() }
            takeEvents(recordTime: record.time, stream: record.stream, place) { decoder.located($0, in: record) }
        }
        if userBytes > nextSettling { try settle() }
        return piece
    }

    /// Bytes that users take.
    var userBytes: Int { tasks.values.reduce(0) { $0 + $1.byteCountInAll } }

    /// Works all users out so far, so that what is final leaves memory and the rest takes less of it.
    private func settle() throws(ReplayFailure) {
        guard let memory else { return }
        // Of users that are spread over streams only the end tells what is final: a stream that nothing was read of may have any time.
        guard marks == nil else { throw memory.tooLittle(for: userBytes, users: figures.userCount) }
        for task in tasks.values {
            task.settle(output: .rows)
            task.packAll()
        }
        settlings += 1
        // Where little was won, it is not tried again soon.
        let left = userBytes
        nextSettling = max(memory.userBytes, left + memory.userBytes / 4)
        guard left <= memory.userBytes else { throw memory.tooLittle(for: left, users: figures.userCount) }
    }

    /// Takes one record.
    ///
    /// - Parameters:
    ///   - recordTime: the record's Kafka timestamp, or for files the wall clock at start; milliseconds since the epoch.
    ///   - padded: whether `EventDecoder.padding` readable bytes follow.
    ///   - stream: the partition of the record: lateness is judged by the watermark of each, as live.
    ///   - place: where the record is, for messages; asked for only when it is refused.
    public func take(
        _ value: ByteView, hint: TypeHint, recordTime: Int64, padded: Bool, stream: Int32 = 0, place: () -> String
    ) {
        decoder.begin(value, hint: hint, padded: padded)
        takeEvents(recordTime: recordTime, stream: stream, place) { $0 }
    }

    /// Takes the events of the record on which the decoder has begun.
    private func takeEvents(
        recordTime: Int64, stream: Int32, _ place: () -> String, located: (Rejection) -> Rejection
    ) {
        let task = task(of: stream)
        while let outcome = decoder.next(into: &event) {
            known.eventCount += 1
            switch outcome {
            case .event:
                if case .deadLetter(let code) = judge(task, stream, recordTime: recordTime) {
                    let watermark = marks.map { $0[stream] ?? 0 } ?? task.watermark
                    let message = AcceptanceMessage.text(code, event, watermark: watermark)
                    known.refuse(Rejection(code: code, message: message), place())
                }
            case .skipped:
                task.count(.skipped)
            case .rejected(let rejection):
                refuse(located(rejection), task, place)
            }
        }
    }

    private func refuse(_ rejection: Rejection, _ task: TaskState, _ place: () -> String) {
        task.count(.deadLetter(rejection.code))
        known.refuse(rejection, place())
    }

    /// Counts a record without a value.
    public func takeTombstone() {
        known.eventCount += 1
        lastTask.count(.skipped)
    }

    private func judge(_ task: TaskState, _ stream: Int32, recordTime: Int64) -> Verdict {
        guard let mark = marks.map({ $0[stream] ?? 0 }) else { return task.take(event, recordTime: recordTime) }
        if let code = acceptance.refusal(event.time, recordTime: recordTime, watermark: mark) {
            return task.count(.deadLetter(code))
        }
        marks?[stream] = max(mark, event.time)
        return task.takeForwarded(event, source: 0, watermark: max(mark, event.time))
    }

    private func task(of stream: Int32) -> TaskState {
        if stream == lastStream || rules.allowedLateness == nil || marks != nil { return lastTask }
        let task = tasks[stream] ?? ReplayTask.makeTask(rules, settings, days)
        tasks[stream] = task
        (lastStream, lastTask) = (stream, task)
        return task
    }

    /// Works everything out.
    public func finish(progress: () -> Void) -> Report {
        let ordered = tasks.sorted { $0.key < $1.key }.map(\.value)
        for task in ordered { task.settle(output: .rows) }
        return ReplayTask.report(of: ordered, rules, settings)
    }

    /// The report of tasks that are settled and share no users.
    static func report(of ordered: [TaskState], _ rules: AttributionRules, _ settings: ReportSettings) -> Report {
        let vocabulary = ordered.count == 1 ? ordered[0].vocabulary : Vocabulary(excludedPlatforms: [])
        let store = RowStore(vocabulary: vocabulary)
        guard ordered.count > 1 else {
            store.apply(ordered[0].pass.deltas)
            return Report(store: store, names: ordered[0].pass.names, rules: rules, settings: settings)
        }
        let names = NameTable(vocabulary: vocabulary)
        for task in ordered {
            store.apply(task.pass.deltas, madeWith: task.vocabulary)
            names.take(all: task.pass.names, madeWith: task.vocabulary)
        }
        return Report(store: store, names: names, rules: rules, settings: settings)
    }
}
