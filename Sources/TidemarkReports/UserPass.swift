public import TidemarkAttribution
public import TidemarkEvents

/// What happens to one user at a commit: pending events are merged in, the outcome before and after is counted, and what is final folds.
///
/// This is where events become changes of rows and opens. Holds working memory; one thread.
public final class UserPass {
    /// When events that came twice are found.
    public enum DuplicateCheck: Sendable {
        /// Before they are added: the caller does it, because a later event must know (`contains`).
        case onArrival
        /// Here, all at once. Only where nothing depends on knowing earlier: with unlimited lateness.
        case inPass
    }

    /// What of a pass is published.
    public struct Output: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Outputs from their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Changes of rows.
        public static let rows = Output(rawValue: 1)
        /// Changes of open records.
        public static let opens = Output(rawValue: 2)
    }

    /// How far the watermark must move before folding a user is tried again, seconds.
    private static let foldStep: UInt32 = 6 * 3_600

    /// Changes of rows since they were last taken.
    public let deltas: DeltaTable
    /// Changes of opens since they were last taken.
    public let opens: OpenChanges
    /// The names of ids.
    public let names: NameTable

    private let vocabulary: Vocabulary
    private let duplicateCheck: DuplicateCheck
    private let before: Evaluator
    private let after: Evaluator
    private let tally: Tally
    private var opensBefore = OpenList()
    private var opensAfter = OpenList()
    private var merged = Scratch<TimelineEntry>()
    private var ids = IDSet()
    private var fold = Fold()
    private var memory: [UInt8] = []

    /// A pass for the users of one task.
    public init(
        rules: AttributionRules, settings: ReportSettings, vocabulary: Vocabulary, days: DayTable,
        duplicateCheck: DuplicateCheck
    ) {
        self.vocabulary = vocabulary
        self.duplicateCheck = duplicateCheck
        deltas = DeltaTable()
        opens = OpenChanges(vocabulary: vocabulary, rules: rules)
        names = NameTable(vocabulary: vocabulary)
        before = Evaluator(rules: rules, vocabulary: vocabulary)
        after = Evaluator(rules: rules, vocabulary: vocabulary)
        tally = Tally(vocabulary: vocabulary, days: days, settings: settings, deltas: deltas)
    }

    deinit {
        merged.deallocate()
        ids.deallocate()
    }

    /// Takes a user's pending events in.
    ///
    /// - Parameters:
    ///   - watermark: the greatest accepted event time of the task so far; what it leaves behind folds.
    ///   - output: what to publish of the difference; nothing while history is redone in silence.
    /// - Returns: how many of the pending events were duplicates found here.
    @discardableResult
    public func update(_ state: inout UserState, watermark: UInt32, output: Output) -> Int {
        let old = state.entries
        if !output.isEmpty { countBefore(old, state, output) }
        let duplicates = merge(state)
        let entries = merged.elements
        let folds = watermark >= state.nextFold
        if !output.isEmpty || folds { after.evaluate(entries, history: state.history) }
        if output.contains(.rows) { tally.count(entries, evaluator: after, memory: state.memory, sign: 1) }
        if output.contains(.opens) {
            opensAfter.collect(entries, of: state, evaluator: after, vocabulary: vocabulary)
            opens.add(from: opensBefore, to: opensAfter, entries, state: state, evaluator: after)
        }
        state.adopt(entries)
        if folds { foldAway(&state, entries, watermark) }
        return duplicates
    }

    private func countBefore(
        _ old: UnsafeMutableBufferPointer<TimelineEntry>, _ state: UserState, _ output: Output
    ) {
        before.evaluate(old, history: state.history)
        if output.contains(.rows), old.count > 0 || state.memory.count > 0 {
            tally.count(old, evaluator: before, memory: state.memory, sign: -1)
        }
        if output.contains(.opens) {
            opensBefore.collect(old, of: state, evaluator: before, vocabulary: vocabulary)
        }
    }

    /// Whether a user has an accepted event with this id, not older than `horizon`.
    public static func contains(_ id: ByteView, in state: UserState, horizon: Int64) -> Bool {
        for entry in state.pending.reversed()
        where Int(entry.idLength) == id.count && Int64(entry.time) >= horizon && state.id(of: entry) == id {
            return true
        }
        let entries = state.entries
        var index = entries.count - 1
        while index >= 0, Int64(entries[index].time) >= horizon {
            if Int(entries[index].idLength) == id.count, state.id(of: entries[index]) == id { return true }
            index -= 1
        }
        return false
    }

    // MARK: Merging

    /// Fills `merged` with the user's events in order and takes the names of the new ones.
    private func merge(_ state: UserState) -> Int {
        merged.removeAll()
        let old = state.entries
        if let start = old.baseAddress { merged.append(from: start, count: old.count) }
        let pending = state.pending
        let duplicates = duplicateCheck == .inPass ? appendDistinct(pending, state) : append(pending)
        for index in old.count..<merged.count {
            let entry = merged[index]
            if vocabulary.labelSets[Int(entry.label)].hasNames {
                names.take(label: entry.label, time: entry.time, rank: entry.type.rank, eventID: state.id(of: entry))
            }
        }
        sort(from: old.count, state)
        return duplicates
    }

    private func append(_ pending: UnsafeMutableBufferPointer<TimelineEntry>) -> Int {
        if let start = pending.baseAddress { merged.append(from: start, count: pending.count) }
        return 0
    }

    private func appendDistinct(_ pending: UnsafeMutableBufferPointer<TimelineEntry>, _ state: UserState) -> Int {
        ids.reset(for: merged.count + pending.count)
        for entry in merged.elements { _ = ids.insert(state.id(of: entry)) }
        var duplicates = 0
        for entry in pending {
            if ids.insert(state.id(of: entry)) { merged.append(entry) } else { duplicates += 1 }
        }
        return duplicates
    }

    private func sort(from first: Int, _ state: UserState) {
        var index = max(first, 1)
        while index < merged.count, !state.isBefore(merged[index], merged[index - 1]) { index += 1 }
        guard index < merged.count else { return }
        var entries = merged.elements
        entries.sort { state.isBefore($0, $1) }
    }

    // MARK: Folding

    private func foldAway(
        _ state: inout UserState, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, _ watermark: UInt32
    ) {
        state.nextFold = watermark > .max - UserPass.foldStep ? .max : watermark + UserPass.foldStep
        guard fold.plan(entries, of: state, evaluator: after, watermark: watermark) else { return }
        tally.remember(entries, evaluator: after, fold: fold, memory: state.memory, into: &memory)
        memory.withUnsafeBytes { fold.apply(to: &state, entries: entries, evaluator: after, memory: $0) }
    }
}
