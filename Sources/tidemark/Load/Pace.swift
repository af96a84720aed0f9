import Foundation

/// Holds a loop to the rate of a ``Pacer``, by the clock; or, without one, counts along.
struct Pace {
    /// It never sleeps longer than that at once, so that what goes wrong meanwhile is noticed.
    private static let longestSleep = Duration.milliseconds(100)

    private let start = ContinuousClock.now
    private var pacer: Pacer?
    /// How many records may still go before the pacer is asked again.
    private var allowance = 0

    /// - Parameter rate: records a second; `nil` for as many as possible.
    init(rate: Int?) { pacer = rate.map(Pacer.init) }

    /// Time since the start.
    var elapsed: Duration { start.duration(to: .now) }

    /// How long after their time records went, at most; `nil` without a rate.
    var greatestLag: Duration? { pacer?.greatestLag }

    /// Waits until records may go; returns how many, one at least.
    ///
    /// - Parameters:
    ///   - count: how many there are.
    ///   - idle: called before it waits, and now and then while it does.
    mutating func awaitTurn(of count: Int, idle: () throws -> Void) rethrows -> Int {
        while allowance == 0 {
            let now = elapsed
            switch pacer?.step(at: now) {
            case .send(let burst): allowance = burst
            case .wait(let time):
                try idle()
                Pace.sleep(min(time, Pace.longestSleep))
            case nil: return count
            }
        }
        let going = min(count, allowance)
        allowance -= going
        return going
    }

    private static func sleep(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&rest, nil)
    }
}
