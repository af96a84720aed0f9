internal import Synchronization
internal import TidemarkConfiguration
internal import TidemarkKafka

/// Keeps the user states of partitions that this process does not have, so that taking one over needs only what was written last.
///
/// A thread of its own follows the checkpoints. A worker that is given a partition asks for its shadow and gets it between two steps of
/// that thread; neither waits for the other.
final class Standby: Sendable {
    /// What a worker hears that asks for a partition.
    enum Answer {
        /// It is not kept here.
        case none
        /// It comes with one of the next steps.
        case soon
        case shadow(CheckpointShadow)
    }

    /// A shadow on its way from one thread to another: who puts it here lets go of it.
    private struct Handover: @unchecked Sendable {
        let shadow: CheckpointShadow
    }

    private struct State {
        var owned: [String: Set<Int32>] = [:]
        var followed: Set<Int32> = []
        var handedOver: [Int32: Handover] = [:]
    }

    /// How long user states are decoded in one step, which a worker may wait for.
    private static let loadingTime = Duration.milliseconds(50)
    private static let waitingTime: Int32 = 100

    private let state = Mutex(State())

    // MARK: For workers

    /// Notes which partitions a worker has from now on.
    func note(_ partitions: Set<Int32>, of worker: String) {
        state.withLock { $0.owned[worker] = partitions }
    }

    /// Asks for the shadow of a partition that the worker has.
    func take(_ partition: Int32) -> Answer {
        state.withLock { state in
            if let handover = state.handedOver.removeValue(forKey: partition) { return .shadow(handover.shadow) }
            return state.followed.contains(partition) ? .soon : .none
        }
    }

    // MARK: The thread

    /// Follows until the process stops.
    func run(_ context: RunContext) throws {
        try SessionLoop(name: "standby", context: context).run { try runSession(context) }
    }

    private func runSession(_ context: RunContext) throws {
        let follower = try CheckpointFollower(context: context, isUrgent: false)
        defer {
            follower.close()
            state.withLock { $0.followed = [] }
        }
        var report = LoopReport(context: context)
        do {
            while !context.control.isStopping {
                context.beat()
                try follower.follow(exchange(follower, context))
                try follower.advance(timeoutMilliseconds: Standby.waitingTime)
                let deadline = context.control.now + Standby.loadingTime
                for partition in follower.partitions {
                    _ = try follower.shadow(partition)?.load { context.control.now < deadline }
                }
                report.publish { status in
                    status.isJoined = true
                    status.standbys = follower.statuses
                }
            }
        } catch let failure as RunFailure {
            // The owner of the partition goes on all the same; who takes it over will hear of it.
            // Nobody must wait for what will not come.
            state.withLock { $0.followed = [] }
            context.log("the standby ends: \(failure)", level: .warning)
            while !context.control.isStopping {
                context.beat()
                context.control.sleep(.seconds(1))
            }
        }
    }

    /// Hands over what workers have been given, takes back what none of them has any more.
    ///
    /// - Returns: what to follow from now on.
    private func exchange(_ follower: CheckpointFollower, _ context: RunContext) -> [CheckpointShadow] {
        var shadows: [Int32: CheckpointShadow] = [:]
        for partition in follower.partitions { shadows[partition] = follower.shadow(partition) }
        let given = shadows.mapValues(Handover.init)
        let (owned, returned) = state.withLock { state in
            let owned = state.owned.values.reduce(into: Set()) { $0.formUnion($1) }
            let returned = state.handedOver.filter { !owned.contains($0.key) }
            for partition in returned.keys { state.handedOver[partition] = nil }
            for (partition, handover) in given where owned.contains(partition) {
                state.handedOver[partition] = handover
            }
            state.followed = Set(0..<Int32(context.inputPartitions)).subtracting(owned)
            return (owned, returned)
        }
        for (partition, handover) in returned { shadows[partition] = handover.shadow }
        return (0..<Int32(context.inputPartitions)).filter { !owned.contains($0) }.map { partition in
            shadows[partition] ?? CheckpointShadow(partition: partition, state: TaskState(context))
        }
    }
}

extension CheckpointFollower {
    /// How the partitions stand.
    var statuses: [StandbyStatus] {
        partitions.sorted().compactMap { partition in
            shadow(partition).map { shadow in
                StandbyStatus(
                    partition: partition, users: shadow.state.userCount, stateBytes: shadow.state.byteCount,
                    remaining: remaining(of: shadow))
            }
        }
    }
}
