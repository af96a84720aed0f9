#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Tells the time by which threads pace themselves, and lets them wait.
protocol RunClock: Sendable {
    var now: ContinuousClock.Instant { get }
    /// Waits.
    func sleep(_ duration: Duration)
}

/// The clock of the machine.
struct SystemClock: RunClock {
    var now: ContinuousClock.Instant { .now }

    func sleep(_ duration: Duration) { usleep(UInt32(max(0, duration.milliseconds) * 1_000)) }
}
