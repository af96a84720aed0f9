#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Synchronization

/// What a process has done so far, as seen from outside; taken per batch, never per event.
public struct RunStatus: Sendable {
    /// Partitions assigned to this process's tasks.
    public var tasks = 0
    /// Tasks that redo history and are not live yet.
    public var restoring = 0
    /// Records consumed live (not redone).
    public var records = 0
    /// How many events ended how, in committed transactions.
    public var counts = VerdictCounts()
    /// Users in memory.
    public var users = 0
    /// Committed transactions of tasks.
    public var commits = 0
    /// Delta records that aggregators have applied and published.
    public var deltasPublished = 0
    /// Delta records that tasks have committed.
    public var deltasCommitted = 0
    /// The greatest accepted event time, seconds since the epoch.
    public var watermark: UInt32 = 0
}

/// Tells the threads of a process to stop, hears of their failures, and gathers what they have done.
public final class RunControl: Sendable {
    private struct State {
        var isStopping = false
        var failure: RunFailure?
        var status = RunStatus()
    }

    private let state = Mutex(State())
    private let writeLog: @Sendable (String) -> Void

    /// A control that logs through `log`, from any thread.
    public init(log: @escaping @Sendable (String) -> Void) {
        writeLog = log
    }

    /// Whether the threads should come to an end.
    public var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Asks the threads to commit and come to an end.
    public func stop() { state.withLock { $0.isStopping = true } }

    /// The first failure, if any.
    public var failure: RunFailure? { state.withLock { $0.failure } }

    /// What was done so far.
    public var status: RunStatus { state.withLock { $0.status } }

    /// Ends the process for a reason.
    public func fail(_ failure: RunFailure) {
        state.withLock {
            $0.failure = $0.failure ?? failure
            $0.isStopping = true
        }
    }

    /// Adds to what was done.
    func update(_ change: (inout RunStatus) -> Void) {
        state.withLock { change(&$0.status) }
    }

    func log(_ message: String) { writeLog(message) }

    /// Waits, but not longer than until the process stops.
    func sleep(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while !isStopping, ContinuousClock.now < end { usleep(20_000) }
    }
}
