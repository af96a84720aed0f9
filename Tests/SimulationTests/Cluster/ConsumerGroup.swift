import TidemarkKafka

@testable import TidemarkWorkload

/// A consumer group as its coordinator sees it: members, generations, and offsets.
final class ConsumerGroup {
    private struct Member {
        var topics: [String]
        var sessionTimeout: Duration
        var rebalanceTimeout: Duration
        var lastSign: Duration
        var hasJoined = true
        var assignment: [TopicPartition]?
    }

    let name: String
    private unowned let cluster: SimulatedCluster
    private var members: [String: Member] = [:]
    private(set) var generation = 0
    /// The end of a rebalance that is under way: not before, and at the latest.
    private var rebalance: (earliest: Duration, deadline: Duration)?
    /// When it was rebalanced last.
    private(set) var lastChange = Duration.zero
    private(set) var committed: [TopicPartition: Int64] = [:]
    /// Offsets of transactions that are not decided, by transaction.
    private var pending: [Int: [TopicPartition: Int64]] = [:]

    init(_ name: String, cluster: SimulatedCluster) {
        self.name = name
        self.cluster = cluster
    }

    var isRebalancing: Bool { rebalance != nil }
    var memberCount: Int { members.count }

    // MARK: Offsets

    /// Whether a transaction may commit offsets for a member.
    ///
    /// Brokers ask nothing of those who name neither member nor generation, for the sake of old clients.
    func refusal(of id: String, generation: Int) -> KafkaError.Code? {
        if id.isEmpty && generation < 0 { return nil }
        guard members[id] != nil else { return .unknownMember }
        return generation == self.generation ? nil : .illegalGeneration
    }

    func add(_ offsets: [PartitionOffset], of transaction: Int) {
        for offset in offsets { pending[transaction, default: [:]][offset.topicPartition] = offset.offset }
    }

    func decide(_ transaction: Int, isCommit: Bool) {
        guard let offsets = pending.removeValue(forKey: transaction), isCommit else { return }
        committed.merge(offsets) { _, new in new }
    }

    /// Whether offsets of a partition are not decided.
    func isUndecided(_ partitions: [TopicPartition]) -> Bool {
        pending.values.contains { offsets in partitions.contains { offsets[$0] != nil } }
    }

    // MARK: Membership

    /// A member joins, or joins again.
    func join(_ id: String, topics: [String], sessionTimeout: Duration, rebalanceTimeout: Duration) {
        let isFirst = members.isEmpty
        members[id] = Member(
            topics: topics, sessionTimeout: sessionTimeout, rebalanceTimeout: rebalanceTimeout, lastSign: cluster.now)
        beginRebalance(after: isFirst ? cluster.faults.pause(upTo: .seconds(3)) : .zero)
        members[id]?.hasJoined = true
    }

    func leave(_ id: String) {
        guard members.removeValue(forKey: id) != nil else { return }
        beginRebalance()
    }

    /// A heartbeat.
    ///
    /// - Returns: whether the member is one, of the present generation.
    func hear(_ id: String, generation: Int) -> Bool {
        guard members[id] != nil else { return false }
        members[id]?.lastSign = cluster.now
        return generation == self.generation
    }

    /// What the latest rebalance has given a member; `nil` while it is under way.
    ///
    /// - Returns: also `nil` for those who must join again, which `needsToJoin` tells.
    func assignment(of id: String) -> [TopicPartition]? { rebalance == nil ? members[id]?.assignment : nil }

    func knows(_ id: String) -> Bool { members[id] != nil }
    func needsToJoin(_ id: String) -> Bool { isRebalancing && members[id]?.hasJoined == false }

    /// Has all members join again.
    func beginRebalance(after delay: Duration = .zero) {
        guard rebalance == nil else { return }
        for id in members.keys {
            members[id]?.hasJoined = false
            members[id]?.assignment = nil
        }
        let longest = members.values.map(\.rebalanceTimeout).max() ?? .zero
        rebalance = (cluster.now + delay, cluster.now + max(longest, delay))
    }

    func renewSessions() { for id in members.keys { members[id]?.lastSign = cluster.now } }

    // MARK: Time

    func serve() {
        let late = members.keys.sorted().filter { isLate($0) }
        for id in late {
            cluster.scheduler.trace.tell("\(name) misses \(id)", counted: "sessions that ended", cluster.now)
            leave(id)
        }
        guard let rebalance, cluster.now >= rebalance.earliest else { return }
        if cluster.now >= rebalance.deadline {
            for (id, member) in members where !member.hasJoined { members[id] = nil }
        }
        if members.values.allSatisfy(\.hasJoined) { complete() }
    }

    private func isLate(_ id: String) -> Bool {
        guard let member = members[id] else { return false }
        // Nothing is expected of who waits for the others.
        if isRebalancing && member.hasJoined { return false }
        return member.lastSign + member.sessionTimeout <= cluster.now
    }

    var nextEvent: Duration? {
        let sessions = members.values.compactMap { member in
            isRebalancing && member.hasJoined ? nil : member.lastSign + member.sessionTimeout
        }
        guard let rebalance else { return sessions.min() }
        let end = cluster.now < rebalance.earliest ? rebalance.earliest : rebalance.deadline
        return (sessions + [end]).min()
    }

    private func complete() {
        rebalance = nil
        lastChange = cluster.now
        generation += 1
        guard !members.isEmpty else { return }
        for id in members.keys {
            members[id]?.lastSign = cluster.now
            members[id]?.assignment = []
        }
        for topic in Set(members.values.flatMap(\.topics)).sorted() { assignRange(of: topic) }
        let shares = members.keys.sorted().map { "\($0) \(members[$0]?.assignment?.count ?? 0)" }
        cluster.scheduler.trace.tell(
            "\(name) generation \(generation): \(shares.joined(separator: ", "))", counted: "rebalances", cluster.now)
    }

    /// Gives each member a range of the topic's partitions.
    private func assignRange(of topic: String) {
        let ids = members.filter { $0.value.topics.contains(topic) }.keys.sorted()
        let count = cluster.partitions(topic).count
        let (share, rest) = count.quotientAndRemainder(dividingBy: ids.count)
        var first = 0
        for (number, id) in ids.enumerated() {
            let size = share + (number < rest ? 1 : 0)
            members[id]?.assignment? += (first..<first + size).map {
                TopicPartition(topic: topic, partition: Int32($0))
            }
            first += size
        }
    }
}
