/// Spreads records evenly over time at a given rate. It asks no clock: the caller says how much time has passed.
///
/// The n-th record is due n/rate after the start, whatever went before, so that the rate holds over any length of time. Records are let
/// go in bursts as short as a thread can be woken for. Whoever is behind, because the target or the machine stood still, catches up at no
/// more than twice the rate and in bursts of no more than ``longestBurst``.
struct Pacer {
    /// What to do next.
    enum Step: Equatable {
        /// Send so many records, one at least.
        case send(Int)
        /// Ask again after that time.
        case wait(Duration)
    }

    /// The time between two bursts, unless records are further apart.
    static let interval = Duration.milliseconds(2)
    /// No more than the records of that time are let go at once.
    static let longestBurst = Duration.milliseconds(10)
    /// The highest rate, records a second.
    static let maximumRate = 1_000_000_000

    private let rate: Int
    private var sent = 0
    private var lastBurst = Duration.zero
    /// How long after its time the first record of a burst was let go, at most.
    private(set) var greatestLag = Duration.zero

    /// - Parameter rate: records a second, from 1 to ``maximumRate``.
    init(rate: Int) {
        precondition((1...Pacer.maximumRate).contains(rate))
        self.rate = rate
    }

    /// What to do now; records that it says to send count as sent.
    ///
    /// - Parameter elapsed: time since the start; never less than at the call before.
    mutating func step(at elapsed: Duration) -> Step {
        let due = time(of: sent + 1)
        let next = max(due, lastBurst + Pacer.interval)
        guard elapsed >= next else { return .wait(next - elapsed) }
        // Twice what is due since the last burst: what is missing is made up for, but not all at once.
        let gap = min((elapsed - lastBurst) * 2, Pacer.longestBurst)
        let burst = min(Pacer.product(rate, elapsed) - sent, max(1, Pacer.product(rate, gap)))
        greatestLag = max(greatestLag, elapsed - due)
        sent += burst
        lastBurst = elapsed
        return .send(burst)
    }

    /// When a record is due, rounded up to a nanosecond, so that it is due when that time is over.
    private func time(of record: Int) -> Duration {
        let wholes = record / rate
        let rest = (record % rate) * 1_000_000_000
        return .seconds(wholes) + .nanoseconds(rest / rate + (rest % rate == 0 ? 0 : 1))
    }

    /// How many records are due in a time.
    private static func product(_ rate: Int, _ time: Duration) -> Int {
        let (seconds, attoseconds) = time.components
        return Int(seconds) * rate + Int(attoseconds / 1_000_000_000) * rate / 1_000_000_000
    }
}
