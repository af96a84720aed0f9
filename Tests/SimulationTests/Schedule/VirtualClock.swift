@testable import TidemarkProcessor
@testable import TidemarkWorkload

/// The clock of a simulated process.
struct VirtualClock: RunClock {
    private static let origin = ContinuousClock.now
    let scheduler: Scheduler
    let faults: Faults

    /// The time. A thread that asks for it may be stopped at this very moment, as everywhere else between two calls of clients.
    var now: ContinuousClock.Instant {
        if faults.happens(\.interruptedThought) { scheduler.step("thought") }
        return VirtualClock.origin + scheduler.now
    }

    /// Waits; on a machine that has much to do, longer than asked.
    func sleep(_ duration: Duration) {
        let longer = duration * faults.stretch()
        scheduler.wait("sleep", until: scheduler.now + longer)
    }
}
