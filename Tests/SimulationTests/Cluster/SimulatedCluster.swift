import TidemarkKafka

@testable import TidemarkWorkload

/// A cluster that lives in memory: topics, transactions and consumer groups, on the scheduler's clock.
final class SimulatedCluster {
    /// What all records' timestamps are counted from: 2026-01-01, behind all events of edge streams.
    private static let epochMilliseconds: Int64 = 1_767_225_600_000

    let scheduler: Scheduler
    let faults: Faults
    private var topics: [String: [LogPartition]] = [:]
    private var groups: [String: ConsumerGroup] = [:]
    private(set) var transactions: TransactionCoordinator!
    /// Until when no broker answers.
    private(set) var unavailableUntil = Duration.zero
    /// When something was written last.
    private(set) var lastWrite = Duration.zero
    private var consumers: [SimulatedConsumer] = []
    private var events: [(due: Duration, action: () -> Void)] = []

    init(scheduler: Scheduler, faults: Faults) {
        self.scheduler = scheduler
        self.faults = faults
        transactions = TransactionCoordinator(cluster: self)
    }

    var now: Duration { scheduler.now }
    var isAvailable: Bool { now >= unavailableUntil }

    /// The broker's time, milliseconds since 1970.
    var timestamp: Int64 {
        let (seconds, attoseconds) = now.components
        return SimulatedCluster.epochMilliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    // MARK: Topics

    func createTopic(_ name: String, partitions: Int, isCompacted: Bool = false) {
        let handle = TopicHandle(simulated: UInt(topics.count + 1))
        topics[name] = (0..<Int32(partitions)).map {
            LogPartition(TopicPartition(topic: name, partition: $0), handle: handle, isCompacted: isCompacted)
        }
    }

    func partitions(_ topic: String) -> [LogPartition] { topics[topic] ?? [] }

    func log(_ place: TopicPartition) -> LogPartition? {
        let logs = partitions(place.topic)
        return logs.indices.contains(Int(place.partition)) ? logs[Int(place.partition)] : nil
    }

    func handle(_ topic: String) -> TopicHandle? { topics[topic]?.first?.handle }

    func partitions(_ handle: TopicHandle) -> [LogPartition] {
        topics.values.first { $0.first?.handle == handle } ?? []
    }

    /// All partitions, in a fixed order.
    var logs: [LogPartition] { topics.keys.sorted().flatMap(partitions) }

    func noteWrite() { lastWrite = now }

    // MARK: Groups and clients

    func group(_ name: String) -> ConsumerGroup {
        if let known = groups[name] { return known }
        let group = ConsumerGroup(name, cluster: self)
        groups[name] = group
        return group
    }

    /// All groups, in a fixed order.
    var allGroups: [ConsumerGroup] { groups.keys.sorted().map(group) }

    func add(_ consumer: SimulatedConsumer) { consumers.append(consumer) }
    func remove(_ consumer: SimulatedConsumer) { consumers.removeAll { $0 === consumer } }
    func removeClients(of process: SimulatedProcess) { consumers.removeAll { $0.process === process } }

    // MARK: Time

    /// Does something later; while no broker answers, when one does again.
    func later(_ delay: Duration, _ action: @escaping () -> Void) {
        let due = now + delay
        let place = events.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        events.insert((due, action), at: place)
    }

    /// No broker answers for a while.
    func breakDown(for duration: Duration) {
        unavailableUntil = now + duration
        // A coordinator that comes back gives all members their time anew.
        later(duration) { [self] in for group in allGroups { group.renewSessions() } }
    }

    func serve() {
        guard isAvailable else { return }
        while let event = events.first, event.due <= now {
            events.removeFirst()
            event.action()
        }
        for consumer in consumers { consumer.member?.serve() }
        for group in allGroups { group.serve() }
        transactions.serve()
    }

    var nextEvent: Duration? {
        let members = consumers.compactMap { $0.member?.nextSign }
        let all = [events.first?.due, transactions.nextEvent] + allGroups.map(\.nextEvent) + members
        guard let next = all.compactMap({ $0 }).min() else { return nil }
        return max(next, unavailableUntil)
    }

    /// Compacts partitions below some offset, as the log cleaner does whenever it likes.
    func clean() {
        for log in logs where log.isCompacted && scheduler.random.chance(0.5) {
            let limit = log.start + Int64(scheduler.random.below(Int(log.stableEnd - log.start) + 1))
            log.compact(below: limit) { offset in
                scheduler.random.chance(0.5) || consumers.contains { $0.isBefore(offset, of: log) }
            }
        }
    }

    /// Removes records that a group has committed, as retention does, unless a consumer still reads them or is about to: nobody is away for
    /// as long as retention lasts.
    func expire(_ topic: String, readBy group: String) {
        if consumers.contains(where: { $0.member?.group.name == group && $0.member?.isAssigning ?? false }) { return }
        for log in partitions(topic) {
            guard let limit = self.group(group).committed[log.place], limit > log.start else { continue }
            let offset = log.start + Int64(scheduler.random.below(Int(limit - log.start) + 1))
            if !consumers.contains(where: { $0.isBefore(offset, of: log) }) { log.truncate(before: offset) }
        }
    }
}
