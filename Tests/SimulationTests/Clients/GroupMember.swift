import TidemarkKafka

@testable import TidemarkWorkload

/// What a consumer's client does by itself to be a member of its group: joining, heartbeats, and noticing what the group has decided.
///
/// It goes on while the application does something else, but not while the process is frozen.
final class GroupMember {
    enum Stage {
        /// It has to join.
        case outside
        /// It waits for the others, and for its assignment.
        case joining
        /// The assign callback has to run.
        case assigning([TopicPartition])
        case steady
        /// The revoke callback has to run.
        case revoking(isLost: Bool)
        case left
    }

    /// A member's name and generation, as its client knew them at a time.
    final class Membership: GroupMembership {
        let group: ConsumerGroup
        let id: String
        let generation: Int

        init(_ group: ConsumerGroup, id: String, generation: Int) {
            self.group = group
            self.id = id
            self.generation = generation
        }
    }

    let group: ConsumerGroup
    private let process: SimulatedProcess
    private let cluster: SimulatedCluster
    private let topics: [String]
    private let sessionTimeout: Duration
    private let maximumPollInterval: Duration
    private(set) var stage = Stage.outside
    /// Empty as soon as the client learns that the group does not know it any more (as librdkafka 2.0.2 and 2.16 do).
    private var id = ""
    private var generation = -1
    private var lastPoll: Duration
    private var isPolling = false
    /// Whether the assign callback runs.
    private(set) var isAssigning = false
    private var nextTurn: Duration
    /// Errors that the next poll hands out.
    var failures: [KafkaError] = []

    init(
        _ group: ConsumerGroup, topics: [String], process: SimulatedProcess, cluster: SimulatedCluster,
        properties: [String: String]
    ) {
        self.group = group
        self.topics = topics
        self.process = process
        self.cluster = cluster
        func duration(_ name: String, _ usual: Int) -> Duration {
            .milliseconds(properties[name].flatMap { Int($0) } ?? usual)
        }
        sessionTimeout = duration("session.timeout.ms", 45_000)
        maximumPollInterval = duration("max.poll.interval.ms", 300_000)
        lastPoll = cluster.now
        nextTurn = cluster.now
    }

    /// The membership as it is now.
    ///
    /// Once it has lost the partitions it names neither member nor generation, which brokers take offsets from: the worst that a client could
    /// say, and what nobody hears who asks in the assign callback only.
    var membership: Membership {
        if case .revoking(isLost: true) = stage { return Membership(group, id: "", generation: -1) }
        return Membership(group, id: id, generation: generation)
    }

    var isCallbackDue: Bool {
        switch stage {
        case .assigning, .revoking: true
        default: false
        }
    }

    // MARK: What the application does

    func beginPoll() {
        lastPoll = cluster.now
        isPolling = true
    }

    func endPoll() {
        lastPoll = cluster.now
        isPolling = false
    }

    /// The interval between polls stands still while the assign callback runs, and only then.
    func beginCallback(isAssigning: Bool) {
        endPoll()
        self.isAssigning = isAssigning
    }

    func endCallback() {
        isAssigning = false
        beginPoll()
        if case .assigning = stage { stage = .steady } else { stage = .outside }
    }

    func leave() {
        if !id.isEmpty { group.leave(id) }
        stage = .left
    }

    // MARK: What the client does by itself

    /// When the client does something next; `nil` when it never will.
    var nextSign: Duration? {
        if case .left = stage { return nil }
        return process.isCrashed ? nil : max(nextTurn, process.frozenUntil)
    }

    func serve() {
        guard let next = nextSign, next <= cluster.now else { return }
        nextTurn = cluster.now + .milliseconds(20) + cluster.faults.pause(upTo: .seconds(1))
        if isOverdue, !id.isEmpty { return leaveForNotPolling() }
        switch stage {
        case .outside: if !isOverdue { join() }
        case .joining: awaitAssignment()
        case .assigning: if !isKnown { id = "" }
        case .steady: watch()
        case .revoking(isLost: false):
            if !isKnown {
                id = ""
                // A revoke that is served late may have lost the partitions without saying so.
                if cluster.scheduler.random.chance(0.5) { stage = .revoking(isLost: true) }
            }
        case .revoking(isLost: true), .left: break
        }
    }

    private var isKnown: Bool { !id.isEmpty && group.hear(id, generation: generation) }

    /// Whether the application has not polled for too long. An assignment that it has yet to hear of gives it time.
    private var isOverdue: Bool {
        if case .assigning = stage { return false }
        return !isPolling && lastPoll + maximumPollInterval < cluster.now
    }

    private func join() {
        if id.isEmpty || !group.knows(id) {
            id = process.instance + "-" + String(UInt32(truncatingIfNeeded: cluster.scheduler.random.next()), radix: 36)
        }
        group.join(id, topics: topics, sessionTimeout: sessionTimeout, rebalanceTimeout: maximumPollInterval)
        stage = .joining
    }

    private func awaitAssignment() {
        guard group.knows(id) else {
            id = ""
            stage = .outside
            return
        }
        _ = group.hear(id, generation: generation)
        if group.needsToJoin(id) { return join() }
        guard let assignment = group.assignment(of: id) else { return }
        generation = group.generation
        stage = .assigning(assignment)
    }

    private func watch() {
        if !isKnown {
            cluster.scheduler.trace.tell("\(id) has lost its partitions", counted: "lost assignments", cluster.now)
            id = ""
            stage = .revoking(isLost: true)
        } else if group.isRebalancing {
            stage = .revoking(isLost: false)
        }
    }

    private func leaveForNotPolling() {
        cluster.scheduler.trace.tell("\(id) did not poll for too long", counted: "polls too late", cluster.now)
        group.leave(id)
        id = ""
        failures.append(KafkaError(code: .maximumPollIntervalExceeded))
        switch stage {
        case .steady: stage = .revoking(isLost: true)
        case .joining: stage = .outside
        // Callbacks that are due run all the same.
        default: break
        }
    }
}
