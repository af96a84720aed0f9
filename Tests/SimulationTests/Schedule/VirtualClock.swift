@testable import TidemarkProcessor
@testable import TidemarkWorkload

/// The clock of a simulated process.
struct VirtualClock: RunClock {
    private static let origin = ContinuousClock.now
    let scheduler: Scheduler
    let faults: Faults

    var now: ContinuousClock.Instant { VirtualClock.origin + scheduler.now }

    /// Waits; on a machine that has much to do, longer than asked.
    func sleep(_ duration: Duration) {
        let longer = duration * faults.stretch()
        scheduler.wait("sleep", until: scheduler.now + longer)
    }
}
