internal import TidemarkEvents

/// What becomes of an entry when a timeline folds.
public enum FoldAction: UInt8, BitwiseCopyable, Sendable {
    /// Stays as it is.
    case keep
    /// Its counts are final; it stays as evidence for what is still open.
    case settle
    /// Its counts are final and nothing needs it.
    case drop
}

/// Decides what of a timeline is final, so that state is bounded (`spec/attribution.md` section 7).
///
/// Nothing is accepted below watermark - lateness. An instance is *finished* once no accepted event can change it (`openness`). The *cut* lies at or below the first Send of every instance that is not finished, and so that no instance has Sends on both sides of it:
/// what lies below is older than every Send that stays, and so can neither reach what stays nor compete with it. A direct open stays for
/// `direct_join` longer, as evidence that an app open is direct-born. Evaluating what stays therefore gives what evaluating everything would.
public struct Fold: ~Copyable {
    /// How long an event's `external_user_id` stands for the opens after it, seconds.
    public static let externalIDMemory: Int64 = 90 * 86_400

    /// Entries and app opens below this time are final.
    public private(set) var cut: UInt32 = 0
    /// What becomes of each entry, as many as the timeline has.
    public private(set) var actions = Scratch<FoldAction>()

    /// For how long after its first Send accepted events can change what an instance comes to, seconds.
    ///
    /// Its Sends come within a span and are touched within reach of them; the device of such an app open may be known a span later; and a
    /// Send that competes for the app open may bounce a reach after it was sent, which frees the app open for this instance.
    public static func openness(of rules: AttributionRules) -> Int64 {
        2 * rules.instanceSpan + 2 * rules.reach + rules.directJoin
    }

    /// A plan with nothing in it.
    public init() {}

    deinit { actions.deallocate() }

    /// Plans the folding of a timeline that `evaluator` has just evaluated.
    ///
    /// - Returns: Whether anything would change.
    public mutating func plan(
        _ entries: UnsafeMutableBufferPointer<TimelineEntry>, of state: UserState, evaluator: Evaluator,
        watermark: UInt32
    ) -> Bool {
        guard let lateness = evaluator.rules.allowedLateness else { return false }
        let horizon = Int64(watermark) - lateness - Fold.openness(of: evaluator.rules)
        guard horizon > 0 else { return false }
        cut = findCut(UInt32(clamping: horizon), evaluator)
        actions.removeAll()
        for index in 0..<entries.count { actions.append(action(for: entries[index], at: index, evaluator)) }
        keepLastExternalID(entries, span: evaluator.span)
        for index in 0..<entries.count where actions[index] != .keep {
            if actions[index] == .drop || !entries[index].isSettled { return true }
        }
        // What is folded already may shrink as the cut moves on.
        return !state.history.isEmpty || !state.memory.isEmpty
    }

    /// The greatest time, not above `horizon`, that has every instance wholly on one side.
    private func findCut(_ horizon: UInt32, _ evaluator: Evaluator) -> UInt32 {
        var cut = horizon
        // Instances lie in order of their first Sends, so none seen before has Sends on both sides of an earlier cut.
        var number = evaluator.instances.count - 1
        while number >= 0 {
            let instance = evaluator.instances[number]
            if instance.lastSendTime >= cut, instance.time < cut { cut = instance.time }
            number -= 1
        }
        return cut
    }

    private func action(for entry: TimelineEntry, at index: Int, _ evaluator: Evaluator) -> FoldAction {
        let evidence: FoldAction = Int64(entry.time) >= Int64(cut) - evaluator.join ? .settle : .drop
        if entry.isSettled { return evidence }
        let owner = evaluator.ownerOf[index]
        switch entry.type {
        case .pushSend, .pushOpen, .pushBounce, .pushIosForeground:
            if owner >= 0 { return evaluator.instances[Int(owner)].time < cut ? evidence : .keep }
        case .firstSession, .sessionStart:
            return evaluator.appOpens[Int(owner)].time < cut ? evidence : .keep
        default:
            break
        }
        return entry.time < cut ? evidence : .keep
    }

    /// The last `external_user_id` below the cut stays, as evidence, even where nothing else of its event does. An open that stays is
    /// no earlier than a span below the cut and looks a span ahead, so that later ones below the cut replace it for every open.
    private func keepLastExternalID(_ entries: UnsafeMutableBufferPointer<TimelineEntry>, span: Int64) {
        var index = entries.count - 1
        while index >= 0 {
            let entry = entries[index]
            if entry.external != 0, entry.time < cut {
                let isRemembered = Int64(entry.time) + Fold.externalIDMemory + span >= Int64(cut)
                if actions[index] == .drop, isRemembered { actions[index] = .settle }
                return
            }
            index -= 1
        }
    }

    /// Applies the plan: history takes the app opens that go, `memory` replaces what the report remembers.
    public func apply(
        to state: inout UserState, entries: UnsafeMutableBufferPointer<TimelineEntry>, evaluator: Evaluator,
        memory: UnsafeRawBufferPointer
    ) {
        let history = foldedHistory(of: state, evaluator)
        defer { history.deallocate() }
        state.replaceFolded(history: history.elements, memory: memory)
        var kept = Scratch<TimelineEntry>(capacity: entries.count)
        defer { kept.deallocate() }
        for index in 0..<entries.count where actions[index] != .drop {
            var entry = entries[index]
            if actions[index] == .settle { entry.flags.insert(.settled) }
            kept.append(entry)
        }
        if kept.count < entries.count { state.rebuild(keeping: kept.elements) } else { state.adopt(kept.elements) }
    }

    /// History with the app opens below the cut added and the months that no Send can look back to dropped, by app and month.
    private func foldedHistory(of state: UserState, _ evaluator: Evaluator) -> Scratch<MonthHistory> {
        let oldest = UTCMonth.of(cut) - Int32(evaluator.rules.historyMonths - 1)
        var known = Scratch<MonthHistory>()
        defer { known.deallocate() }
        for month in state.history { known.append(month) }
        for appOpen in evaluator.appOpens.elements where appOpen.time < cut {
            known.append(
                MonthHistory(
                    app: appOpen.app, month: UTCMonth.of(appOpen.time), count: 1, first: appOpen.time,
                    last: appOpen.time))
        }
        // What was folded before is no later than any app open that folds now.
        var sorted = known.elements
        sorted.sort { ($0.app, $0.month, $0.first, $1.count) < ($1.app, $1.month, $1.first, $0.count) }
        var kept = Scratch<MonthHistory>()
        for month in sorted where month.month >= oldest {
            let last = kept.count - 1
            if last >= 0, kept[last].app == month.app, kept[last].month == month.month {
                kept.base[last].add(month.first, merge: evaluator.rules.sessionMerge)
            } else {
                kept.append(month)
            }
        }
        return kept
    }
}
