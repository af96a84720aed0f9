import Dispatch

/// A thread of a simulated process, or the one that the simulation itself runs on.
///
/// Unchecked: all but the baton belongs to whoever has the baton.
final class SimulatedThread: @unchecked Sendable {
    let name: String
    /// `nil` for the simulation's own thread.
    let process: SimulatedProcess?
    let baton = DispatchSemaphore(value: 0)
    /// Until when it waits; `nil` where it may go on at once.
    var deadline: Duration?
    /// Whether it may go on before the deadline.
    var isReady: (() -> Bool)?
    /// Until when it does nothing at all, whatever it waits for.
    var frozenUntil = Duration.zero

    /// Whether it was handed records since it committed last: others must not do the same work, too.
    var hasInHand = false

    init(_ name: String, of process: SimulatedProcess?) {
        self.name = name
        self.process = process
    }

    /// Whether its process was killed: it only has to come to its end.
    var isGone: Bool { process?.isCrashed ?? false }

    /// When it moves again at the earliest.
    var thaw: Duration { max(frozenUntil, process?.frozenUntil ?? .zero) }

    func canRun(at now: Duration) -> Bool {
        if isGone { return true }
        if thaw > now { return false }
        guard let deadline else { return true }
        return deadline <= now || isReady?() ?? false
    }
}
