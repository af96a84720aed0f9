public import TidemarkAttribution
import TidemarkEvents
public import TidemarkProcessor
import TidemarkReports
public import TidemarkWorkload

/// Drives the very task that `run` and `replay` drive, in memory: events go in as JSON, rows and opens come out as a consumer of the
/// topics would hold them after each commit.
public final class EngineDriver {
    /// What a consumer of the open topic holds: record key to record.
    public internal(set) var opens: [String: String] = [:]
    /// How many open records and tombstones were published.
    public private(set) var openRecords = 0

    let settings: PlainSettings
    let lateness: Int?
    let unpackedLimit: Int?
    let task: TaskState
    let store: RowStore
    let report: Report
    private let decoder = EventDecoder()
    var event = Event()

    /// An engine with an evaluation's settings.
    ///
    /// - Parameters:
    ///   - lateness: allowed lateness, seconds; `nil` is unlimited, and nothing folds.
    ///   - sources: how many source partitions there are, where events are judged before they are taken.
    ///   - isIncremental: whether duplicates are found as events arrive, as in `run`; else all at once, as in `replay`.
    ///   - unpackedLimit: above how many bytes users are packed; 0 packs all of them at once.
    public init(
        _ settings: PlainSettings, lateness: Int? = nil, sources: Int? = nil, isIncremental: Bool = true,
        unpackedLimit: Int? = nil
    ) {
        self.settings = settings
        self.lateness = lateness
        self.unpackedLimit = unpackedLimit
        var rules = AttributionRules(settings)
        rules.allowedLateness = lateness.map(Int64.init)
        let reportSettings = ReportSettings(settings)
        guard let days = DayTable.named(settings.timeZone) else { fatalError("unknown zone \(settings.timeZone)") }
        task = TaskState(
            rules: rules, settings: reportSettings, days: days, duplicateCheck: isIncremental ? .onArrival : .inPass,
            sources: sources, unpackedLimit: unpackedLimit)
        store = RowStore(vocabulary: task.vocabulary)
        report = Report(store: store, names: task.pass.names, rules: rules, settings: reportSettings)
    }

    /// How many events ended how.
    public var counts: VerdictCounts { task.counts }
    /// How many users there are.
    public var userCount: Int { task.userCount }
    /// Bytes that their states take.
    public var stateBytes: Int { task.byteCount }

    /// Takes one event; the wall clock is far ahead of it.
    @discardableResult
    public func take(_ sample: SampleEvent, shape: WireShape = .flatWithType) -> Verdict {
        var verdict = Verdict.skipped
        decode(sample, shape: shape) { outcome in
            switch outcome {
            case .event: verdict = task.take(event, recordTime: .max / 4)
            case .skipped: verdict = task.count(.skipped)
            case .rejected(let rejection): verdict = task.count(.deadLetter(rejection.code))
            }
        }
        return verdict
    }

    /// Takes an event that was judged at its source.
    ///
    /// - Parameter mark: the watermark of the source, this event included.
    @discardableResult
    public func take(_ sample: SampleEvent, source: Int, mark: Int) -> Verdict {
        var verdict = Verdict.skipped
        decode(sample, shape: .flatWithType) { outcome in
            switch outcome {
            case .event: verdict = task.takeForwarded(event, source: source, watermark: UInt32(mark))
            case .skipped: verdict = task.count(.skipped)
            case .rejected(let rejection): verdict = task.count(.deadLetter(rejection.code))
            }
        }
        return verdict
    }

    /// Takes the word that a source was read so far.
    public func raise(source: Int, to mark: Int) { task.raise(source: source, to: UInt32(mark)) }

    /// Decodes a record; `event` holds an event while `body` has its outcome.
    func decode(_ sample: SampleEvent, shape: WireShape, _ body: (DecodedEvent) -> Void) {
        sample.json(shape).withUnsafeBytes { bytes in
            decoder.begin(ByteView(bytes))
            while let outcome = decoder.next(into: &event) { body(outcome) }
        }
    }

    /// Works out and publishes what changed, as a commit does.
    public func commit() {
        task.settle(output: [.rows, .opens])
        store.apply(task.pass.deltas)
        task.pass.deltas.removeAll()
        let bytes = task.pass.opens.bytes
        for change in task.pass.opens.changes {
            let key = String(decoding: bytes[change.key], as: UTF8.self)
            opens[key] = change.value.isEmpty ? nil : String(decoding: bytes[change.value], as: UTF8.self)
            openRecords += 1
        }
        task.pass.opens.removeAll()
    }

    /// Takes events with a commit after each `batch` of them.
    public func take(_ samples: [SampleEvent], batch: Int) {
        for (index, sample) in samples.enumerated() {
            take(sample)
            if (index + 1) % batch == 0 { commit() }
        }
        commit()
    }

    /// The rows, one record a line, as `replay` prints them.
    public func rows() -> String {
        var json = JSONWriter()
        report.writeLines(to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension AttributionRules {
    /// The rules that an evaluation's settings stand for; lateness and future-dating are off.
    public init(_ settings: PlainSettings) {
        self.init()
        windowPolicy = WindowPolicy(rawValue: settings.policy.rawValue)!
        fixedWindow = Int64(settings.fixed)
        windowFactor = settings.factor
        windowCap = Int64(settings.cap)
        creditModel = CreditModel(rawValue: settings.model.rawValue)!
        creditLimit = settings.limit
        sessionMerge = Int64(settings.sessionMerge)
        directJoin = Int64(settings.directJoin)
        instanceSpan = Int64(settings.span)
        historyMonths = settings.months
        excludedPlatforms = settings.excludedPlatforms
        allowedLateness = nil
        futureTolerance = nil
    }
}

extension ReportSettings {
    /// The report settings that an evaluation's settings stand for.
    init(_ settings: PlainSettings) {
        self.init()
        timeZone = settings.timeZone
        uniqueRetention = Int64(settings.uniqueRetention)
    }
}
