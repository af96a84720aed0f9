public import TidemarkAttribution
public import TidemarkEvents
public import TidemarkReports

/// Takes records from anywhere and ends in a report: the same decoding, acceptance and rules as live, without transactions.
///
/// Each user is evaluated once, at the end.
public final class ReplayTask {
    /// A record, or an event of a batch, that was not counted: why, and where it was.
    public struct Refusal: Sendable {
        /// Where: a file and line, or a topic, partition and offset.
        public var place: String
        /// The code and what is wrong.
        public var rejection: Rejection
    }

    /// How many refusals are kept for display; all are counted.
    public static let refusalLimit = 20

    /// The first refusals.
    public private(set) var refusals: [Refusal] = []
    /// How many events were read, whatever became of them.
    public private(set) var eventCount = 0

    private let rules: AttributionRules
    private let settings: ReportSettings
    private let task: TaskState
    private let decoder: EventDecoder
    private var event = Event()

    /// A replay with these settings.
    ///
    /// - Parameter days: the table of `settings.timeZone`.
    public init(rules: AttributionRules, settings: ReportSettings, days: DayTable, limits: DecoderLimits) {
        self.rules = rules
        self.settings = settings
        task = TaskState(
            rules: rules, settings: settings, days: days,
            duplicateCheck: rules.allowedLateness == nil ? .inPass : .onArrival)
        decoder = EventDecoder(limits: limits)
    }

    /// How many events ended how; duplicates are complete only after `finish`.
    public var counts: VerdictCounts { task.counts }
    /// How many users there are.
    public var userCount: Int { task.userCount }

    /// Takes one record.
    ///
    /// - Parameters:
    ///   - recordTime: the record's Kafka timestamp, or for files the wall clock at start; milliseconds since the epoch.
    ///   - padded: whether `EventDecoder.padding` readable bytes follow.
    ///   - place: where the record is, for messages; asked for only when it is refused.
    public func take(
        _ value: ByteView, hint: TypeHint, recordTime: Int64, padded: Bool, place: () -> String
    ) {
        decoder.begin(value, hint: hint, padded: padded)
        while let outcome = decoder.next(into: &event) {
            eventCount += 1
            switch outcome {
            case .event:
                if case .deadLetter(let code) = task.take(event, recordTime: recordTime) {
                    refuse(Rejection(code: code, message: AcceptanceMessage.text(code, event, task)), place())
                }
            case .skipped:
                task.count(.skipped)
            case .rejected(let rejection):
                task.count(.deadLetter(rejection.code))
                refuse(rejection, place())
            }
        }
    }

    /// Counts a record without a value.
    public func takeTombstone() {
        eventCount += 1
        task.count(.skipped)
    }

    /// Works everything out.
    public func finish() -> Report {
        task.settle(output: .rows)
        let store = RowStore(vocabulary: task.vocabulary)
        store.apply(task.pass.deltas)
        return Report(store: store, names: task.pass.names, rules: rules, settings: settings)
    }

    private func refuse(_ rejection: Rejection, _ place: @autoclosure () -> String) {
        guard refusals.count < ReplayTask.refusalLimit else { return }
        refusals.append(Refusal(place: place(), rejection: rejection))
    }
}
