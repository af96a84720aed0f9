internal import TidemarkEvents

/// One message to one user (`spec/attribution.md` section 1, "instance"). Indexes are into the timeline or the evaluator's lists; -1 is none.
public struct Instance: BitwiseCopyable {
    /// Number of the message; 0 is none.
    public var message: UInt32
    /// Time of the first Send.
    public var time: UInt32
    /// Time of the last Send.
    public var lastSendTime: UInt32
    /// Entry of the first Send.
    public var firstSend: Int32
    /// The latest event that waits for the next instance of the same message and dispatch.
    var waiting: Int32
    /// Platform of the first Send; 0 is null.
    public var firstPlatform: UInt32
    /// Platform of the first Send that has one; 0 is null.
    public var anyPlatform: UInt32
    /// Whether a direct open belongs to it.
    public var hasDirectOpen: Bool
    /// Whether a Bounce or IosForeground belongs to it.
    var hasBlocker: Bool
    /// The Send that the first app open to touch the instance took, and that app open.
    var touchedSend: Int32
    var touchedBy: Int32
    /// The walk that came by the instance last, so that each instance counts once in a walk; of the Sends it came by, the one whose window
    /// lasts longest.
    var seenIn, lastingSend: Int32

    /// Entry of the Send credited with the influenced open; -1 where there is none (section 5, rule 4).
    public var influencedSend: Int32 { hasDirectOpen ? -1 : touchedSend }
    /// The app open of the influenced open; only where `influencedSend` is not -1.
    public var influencedBy: Int32 { touchedBy }
}

/// A session on an app (section 1, "app open").
public struct AppOpen: BitwiseCopyable {
    /// Entry of its first event, whose time and place are its own.
    public var entry: Int32
    /// Time of its first event.
    public var time: UInt32
    /// Number of the app.
    public var app: UInt32
    /// Hash of its first non-null device; 0 is none.
    public var device: UInt64
    /// Whether a direct open caused it (section 5, rule 1).
    public var isDirectBorn: Bool
}

/// Evaluates the rules of `spec/attribution.md` over the whole timeline of one user. Holds working memory and the last outcome; one thread.
///
/// Every step goes through the entries in order and knows the latest of each kind that can matter by a map, so that the work is
/// proportional to the events, whatever they are.
public final class Evaluator {
    let rules: AttributionRules
    let vocabulary: Vocabulary
    /// `Int64` copies of what the hot loops compare with.
    let span, reach, join: Int64
    /// `attribution.instance_span`, seconds.
    public var instanceSpan: Int64 { span }

    /// Instances, in order of their first Sends.
    public internal(set) var instances = Scratch<Instance>()
    /// App opens, in order.
    public internal(set) var appOpens = Scratch<AppOpen>()
    /// Per entry: the instance that a Send, Open, Bounce or IosForeground belongs to, the app open of a session; -1 is none.
    public internal(set) var ownerOf = Scratch<Int32>()
    /// Per entry: W of a Send, in seconds (section 4).
    public internal(set) var windowOf = Scratch<Double>()

    /// Per entry in a chain: the one before. Events that wait for an instance form chains, then candidate Sends of the same app.
    var previousOf = Scratch<Int32>()
    /// Per candidate Send: the one before of the same app and device.
    var previousOnDevice = Scratch<Int32>()
    var responses = Scratch<Int32>()
    var directOpens = Scratch<Int32>()
    /// The latest of each kind, whatever its device, and by device; what kinds they are differs from step to step.
    var map = ScratchMap()
    var byDevice = ScratchMap()
    /// Instances and devices of Bounces and IosForegrounds.
    var blocked = ScratchMap()
    /// The Sends that reach the app open in hand.
    var reached = Scratch<Int32>()
    /// Whether a candidate Send so far has no device; mostly none, which spares a walk.
    var hasSendWithoutDevice = false
    /// Number of the walk through a chain in hand.
    var walk: Int32 = 0
    var apps = AppHistories()

    /// An evaluator for one task; `vocabulary` is the one that the entries' numbers come from.
    public init(rules: AttributionRules, vocabulary: Vocabulary) {
        self.rules = rules
        self.vocabulary = vocabulary
        span = rules.instanceSpan
        reach = rules.reach
        join = rules.directJoin
    }

    deinit {
        instances.deallocate()
        appOpens.deallocate()
        ownerOf.deallocate()
        windowOf.deallocate()
        previousOf.deallocate()
        previousOnDevice.deallocate()
        responses.deallocate()
        directOpens.deallocate()
        map.deallocate()
        byDevice.deallocate()
        blocked.deallocate()
        reached.deallocate()
        apps.deallocate()
    }

    /// Evaluates a timeline.
    ///
    /// - Parameters:
    ///   - entries: the retained events of one user, in order, without duplicates.
    ///   - history: what is folded of the user's sessions, by app and month in order.
    public func evaluate(
        _ entries: UnsafeMutableBufferPointer<TimelineEntry>, history: UnsafeBufferPointer<MonthHistory>
    ) {
        instances.removeAll()
        appOpens.removeAll()
        responses.removeAll()
        directOpens.removeAll()
        ownerOf.fill(entries.count, with: -1)
        guard entries.count > 0 else { return }
        windowOf.fill(entries.count, with: 0)
        previousOf.resize(to: entries.count)
        map.reset(for: entries.count)
        byDevice.reset(for: entries.count)
        apps.reset(history: history, events: entries.count)
        group(entries)
        guard instances.count > 0 else { return }
        noteResponses(entries)
        markDirectBorn(entries)
        credit(entries)
    }

    /// Forms instances and app opens, and gives each Send its window from the app opens before it.
    private func group(_ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        for index in 0..<entries.count {
            let entry = entries[index]
            if entry.isDirectOpen { directOpens.append(Int32(index)) }
            if entry.isSettled { continue }
            switch entry.type {
            case .pushSend:
                windowOf[index] = apps.window(app: entry.app, time: entry.time, rules: rules)
                addSend(index, entry, entries)
            case .firstSession, .sessionStart:
                addSession(index, entry)
            case .pushOpen, .pushBounce, .pushIosForeground:
                responses.append(Int32(index))
                attach(index, entry)
            default:
                break
            }
        }
    }

    private func addSession(_ index: Int, _ entry: TimelineEntry) {
        let key = ScratchMap.Key(link: entry.link, first: entry.app, second: .max)
        let current = map.value(key)
        if current >= 0, Int64(entry.time) - Int64(appOpens[Int(current)].time) <= span {
            ownerOf[index] = current
            if appOpens[Int(current)].device == 0 { appOpens.base[Int(current)].device = entry.device }
            return
        }
        let number = Int32(appOpens.count)
        _ = map.exchange(key, number)
        ownerOf[index] = number
        appOpens.append(
            AppOpen(entry: Int32(index), time: entry.time, app: entry.app, device: entry.device, isDirectBorn: false))
        apps.add(app: entry.app, time: entry.time, merge: rules.sessionMerge)
    }

    /// What is known of an app, whatever the device.
    @inline(__always)
    func appKey(_ app: UInt32) -> ScratchMap.Key { ScratchMap.Key(link: UInt64(app), first: 0, second: 0) }

    /// What is known of an app and device; 0 is the unknown one.
    @inline(__always)
    func appKey(_ app: UInt32, device: UInt64) -> ScratchMap.Key { ScratchMap.Key(link: device, first: app, second: 0) }
}
