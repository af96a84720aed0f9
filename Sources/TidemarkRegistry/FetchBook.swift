/// Which schemas are wanted, and what is known of them: decides what to ask for and when, and asks nothing itself.
///
///     wanted ──(schema)──► known, for ever
///       │ ▲
///       │ └──────(asked for again, some time later)──────┐
///       └──(not known to the registry for long)──► unknown
///
/// While the registry does not answer, everything that is wanted stays so.
struct FetchBook {
    /// How long a registry's "there is none" holds.
    static let unknownHolds = Duration.seconds(60)
    /// How many unknown ids are remembered: ids of damaged records are any number.
    static let mostUnknown = 10_000

    /// What is known of an id.
    enum State: Equatable {
        case wanted(SchemaWait)
        case known(RegisteredSchema)
        case unknown(String)
    }

    /// What to do next.
    enum Step: Equatable {
        case ask(UInt32)
        /// Nothing before that.
        case wait(until: ContinuousClock.Instant)
        /// Nothing before something is wanted.
        case idle
    }

    private struct Wanted {
        let since: ContinuousClock.Instant
        var next: ContinuousClock.Instant
        /// When the registry first said that there is none, and how often it has.
        var unknownSince: ContinuousClock.Instant?
        var backoff = Backoff(first: .milliseconds(200), longest: .seconds(2))
        /// Whether it was unknown before: then one answer is enough.
        var wasUnknown = false
        var problem: String?
    }

    private struct Unknown {
        let message: String
        let until: ContinuousClock.Instant
    }

    private let unknownAfter: Duration
    private var wanted: [UInt32: Wanted] = [:]
    private var known: [UInt32: RegisteredSchema] = [:]
    private var unknown: [UInt32: Unknown] = [:]
    /// Of the registry as a whole.
    private var backoff = Backoff()
    private var pausedUntil: ContinuousClock.Instant?
    /// Why the registry does not answer; `nil` while it does.
    private(set) var outage: String?
    /// Requests that failed because the registry did not answer.
    private(set) var failures = 0

    init(unknownAfter: Duration) { self.unknownAfter = unknownAfter }

    /// How many ids are waited for.
    var wantedCount: Int { wanted.count }

    /// What is known of an id, which is wanted from now on.
    mutating func state(of id: UInt32, now: ContinuousClock.Instant) -> State {
        if let schema = known[id] { return .known(schema) }
        let before = unknown[id]
        if let before, before.until > now { return .unknown(before.message) }
        if wanted[id] == nil {
            wanted[id] = Wanted(since: now, next: now, wasUnknown: before != nil)
            unknown[id] = nil
        }
        let entry = wanted[id]!
        return .wanted(SchemaWait(id: id, since: entry.since, problem: outage ?? entry.problem))
    }

    /// What to do now.
    func step(now: ContinuousClock.Instant) -> Step {
        guard let (id, entry) = wanted.min(by: { ($0.value.next, $0.key) < ($1.value.next, $1.key) }) else {
            return .idle
        }
        let due = max(entry.next, pausedUntil ?? entry.next)
        return due <= now ? .ask(id) : .wait(until: due)
    }

    /// Takes what came of asking.
    mutating func take(
        _ result: Result<RegisteredSchema, RegistryFailure>, for id: UInt32, now: ContinuousClock.Instant,
        random: Double = .random(in: 0...1)
    ) {
        guard var entry = wanted[id] else { return }
        let failure: RegistryFailure
        switch result {
        case .success(let schema):
            answered()
            wanted[id] = nil
            known[id] = schema
            return
        case .failure(let error): failure = error
        }
        switch failure.reason {
        case .unknown:
            answered()
            let since = entry.unknownSince ?? now
            guard !entry.wasUnknown, since.duration(to: now) < unknownAfter else { return giveUp(id, failure, now) }
            entry.unknownSince = since
            entry.problem = failure.description
            entry.next = now + entry.backoff.next(random: random)
            wanted[id] = entry
        case .unusable, .refused:
            answered()
            giveUp(id, failure, now)
        case .unavailable, .denied, .misconfigured:
            failures += 1
            outage = failure.description
            pausedUntil = now + backoff.next(random: random)
        case .cancelled:
            break
        }
    }

    private mutating func answered() {
        backoff.reset()
        (pausedUntil, outage) = (nil, nil)
    }

    private mutating func giveUp(_ id: UInt32, _ failure: RegistryFailure, _ now: ContinuousClock.Instant) {
        wanted[id] = nil
        if unknown.count >= FetchBook.mostUnknown { unknown.removeAll() }
        unknown[id] = Unknown(message: failure.description, until: now + FetchBook.unknownHolds)
    }
}

/// A schema that is waited for.
public struct SchemaWait: Equatable, Sendable {
    /// Its id.
    public let id: UInt32
    /// Since when it is wanted.
    public let since: ContinuousClock.Instant
    /// Why it is not there yet, where something is in the way.
    public let problem: String?

    /// A wait.
    public init(id: UInt32, since: ContinuousClock.Instant, problem: String?) {
        self.id = id
        self.since = since
        self.problem = problem
    }
}
