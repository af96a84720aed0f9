internal import Synchronization

/// Tells whether a thread moves: the thread says so at each step, others ask. Neither waits for the other.
final class LoopPulse: Sendable {
    /// How long a step may take that nothing was said about: longer than any one call of a client waits.
    static let ordinaryStep = Duration.seconds(45)

    private let origin = ContinuousClock.now
    /// When the next sign is due at the latest, nanoseconds after `origin`.
    private let due: Atomic<Int64>

    init() { due = Atomic(LoopPulse.nanoseconds(LoopPulse.ordinaryStep)) }

    /// A sign of the thread.
    ///
    /// - Parameter waiting: how long the step that follows may wait for brokers, beyond what an ordinary one takes.
    func beat(waiting: Duration = .zero) {
        let next = origin.duration(to: .now) + LoopPulse.ordinaryStep + waiting
        due.store(LoopPulse.nanoseconds(next), ordering: .relaxed)
    }

    /// How long the next sign has been due, seconds; not above 0 while the thread moves.
    var overdueSeconds: Double {
        Double(LoopPulse.nanoseconds(origin.duration(to: .now)) - due.load(ordering: .relaxed)) / 1e9
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
