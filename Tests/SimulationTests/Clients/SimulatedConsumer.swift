import TidemarkKafka

@testable import TidemarkWorkload

/// A consumer of the simulated cluster. Every call is a step at which other threads may go on and the process may end.
final class SimulatedConsumer: ConsumerClient {
    let process: SimulatedProcess
    private(set) var member: GroupMember?
    private let cluster: SimulatedCluster
    private let properties: [String: String]
    private let isCommitted: Bool
    private var readings: [Reading] = []
    private var assigned: [TopicPartition] = []
    /// Partitions stay paused when they are taken away and given again.
    private var paused: Set<TopicPartition> = []
    private var onAssign: (([TopicPartition]) -> [PartitionOffset]?)?
    private var onRevoke: (([TopicPartition], Bool) -> Void)?
    private var isClosed = false
    private var scheduler: Scheduler { cluster.scheduler }
    private var faults: Faults { cluster.faults }

    init(_ properties: [String: String], process: SimulatedProcess, cluster: SimulatedCluster) {
        self.properties = properties
        self.process = process
        self.cluster = cluster
        isCommitted = properties["isolation.level"] == "read_committed"
        cluster.add(self)
    }

    private var isUsable: Bool { !isClosed && !process.isCrashed }

    private func requireUsable() throws(KafkaError) {
        if !isUsable { throw .gone }
    }

    /// A request to a broker: it may take long, and it may get no answer.
    private func request(_ what: StaticString, _ timeout: Int32) throws(KafkaError) {
        try requireUsable()
        scheduler.step(what)
        let deadline = cluster.now + .milliseconds(Int(timeout))
        if faults.happens(\.slowAnswer) {
            scheduler.wait("answer", until: cluster.now + faults.pause(upTo: .seconds(1)))
        }
        while !cluster.isAvailable, cluster.now < deadline, isUsable {
            scheduler.wait("broker", until: min(deadline, cluster.unavailableUntil))
        }
        try requireUsable()
        if !cluster.isAvailable || faults.happens(\.lostAnswer) { throw KafkaError(code: .timedOut) }
    }

    func topicHandle(_ name: String) throws(KafkaError) -> TopicHandle {
        guard let handle = cluster.handle(name) else { throw KafkaError(code: .unknownTopic) }
        return handle
    }

    // MARK: Assignment

    func subscribe(
        _ topics: [String], onAssign: @escaping ([TopicPartition]) -> [PartitionOffset]?,
        onRevoke: @escaping (_ partitions: [TopicPartition], _ isLost: Bool) -> Void
    ) throws(KafkaError) {
        try requireUsable()
        scheduler.step("subscribe")
        self.onAssign = onAssign
        self.onRevoke = onRevoke
        member = GroupMember(
            cluster.group(properties["group.id"] ?? ""), topics: topics, process: process, cluster: cluster,
            properties: properties)
    }

    func assign(_ partitions: [PartitionOffset]) throws(KafkaError) {
        try requireUsable()
        scheduler.step("assign")
        try requireUsable()
        readings = partitions.compactMap { start in
            cluster.log(start.topicPartition).map {
                Reading(
                    $0, from: start.offset, isCommitted: isCommitted,
                    isPaused: paused.contains(start.topicPartition))
            }
        }
    }

    func pause(_ partitions: [TopicPartition]) throws(KafkaError) {
        try requireUsable()
        scheduler.step("pause")
        paused.formUnion(partitions)
        for reading in readings where partitions.contains(reading.log.place) { reading.pause() }
    }

    func resume(_ partitions: [TopicPartition]) throws(KafkaError) {
        try requireUsable()
        scheduler.step("resume")
        paused.subtract(partitions)
        for reading in readings where partitions.contains(reading.log.place) { reading.resume() }
    }

    /// Whether it has yet to read an offset of a partition.
    func isBefore(_ offset: Int64, of log: LogPartition) -> Bool {
        readings.contains { $0.log === log && $0.place <= offset }
    }

    /// Runs a callback that is due.
    private func runCallback() -> Bool {
        guard let member else { return false }
        switch member.stage {
        case .assigning(let partitions):
            member.beginCallback(isAssigning: true)
            assigned = partitions
            let starts = onAssign?(partitions)
            try? assign(starts ?? [])
            member.endCallback()
        case .revoking(let isLost):
            member.beginCallback(isAssigning: false)
            onRevoke?(assigned, isLost)
            member.endCallback()
            assigned = []
            readings = []
        default: return false
        }
        return true
    }

    // MARK: Polling

    func poll(
        max: Int, timeoutMilliseconds: Int32, _ body: (ConsumedItem) throws -> Void
    ) rethrows -> Int {
        guard isUsable else { return 0 }
        member?.beginPoll()
        defer { member?.endPoll() }
        scheduler.step("poll")
        let deadline = cluster.now + .milliseconds(Int(timeoutMilliseconds)) * faults.stretch()
        while isUsable {
            if runCallback() { return 0 }
            if !isReady {
                guard cluster.now < deadline else { return 0 }
                scheduler.wait("idle", until: deadline) { [self] in isReady }
                continue
            }
            fetch()
            if hasItems { return try handOut(max, body) }
            scheduler.step("fetch")
        }
        return 0
    }

    private func handOut(_ max: Int, _ body: (ConsumedItem) throws -> Void) rethrows -> Int {
        let limit = min(max, faults.pollSize())
        var count = 0
        while count < limit, isUsable, hasItems {
            count += 1
            try handOut(body)
            // Callbacks run between items, too.
            if faults.happens(\.interruptedPoll) {
                scheduler.step("item")
                if isUsable, runCallback() { return count }
            }
        }
        return count
    }

    private func handOut(_ body: (ConsumedItem) throws -> Void) rethrows {
        if let member, !member.failures.isEmpty {
            return try body(.failure(member.failures.removeFirst(), topic: nil, partition: nil))
        }
        let reading = scheduler.random.pick(readings.filter(\.hasItems))
        let log = reading.log
        switch reading.take() {
        case .end(let offset):
            try body(.endOfPartition(topic: log.handle, partition: log.place.partition, offset: offset))
        case .outOfRange:
            try body(
                .failure(
                    KafkaError(code: .noOffsetToStartFrom), topic: log.place.topic, partition: log.place.partition))
        case .record(let entry):
            scheduler.current.hasInHand = true
            let copy = CopiedRecord(
                topic: log.handle, partition: log.place.partition, offset: entry.offset,
                timestampMilliseconds: entry.timestamp, key: entry.key, value: entry.value, headers: entry.headers)
            try withExtendedLifetime(copy) { try body(.record(copy.record)) }
        }
    }

    private var hasItems: Bool { readings.contains(where: \.hasItems) || !(member?.failures.isEmpty ?? true) }

    /// Whether a poll has something to do.
    private var isReady: Bool {
        if member?.isCallbackDue ?? false || hasItems { return true }
        return cluster.isAvailable && readings.contains(where: \.isFetchable)
    }

    private func fetch() {
        guard cluster.isAvailable else { return }
        for reading in readings where reading.isFetchable && faults.fetches() { reading.fetch(max: faults.pollSize()) }
    }

    // MARK: Questions

    func membership() -> (any GroupMembership)? { member?.membership }

    func committed(
        _ partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try request("committed", timeoutMilliseconds)
        let deadline = cluster.now + .milliseconds(Int(timeoutMilliseconds))
        let group = cluster.group(properties["group.id"] ?? "")
        while isCommitted, group.isUndecided(partitions) {
            guard cluster.now < deadline else {
                throw KafkaError(code: scheduler.random.pick([.timedOut, .unstableOffsetCommit]))
            }
            scheduler.wait("undecided", until: deadline) { !group.isUndecided(partitions) }
            try requireUsable()
        }
        let offsets = group.committed.filter { partitions.contains($0.key) }
        scheduler.step("committed are")
        try requireUsable()
        return offsets
    }

    func watermarks(
        of partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicPartition: (low: Int64, high: Int64)] {
        try request("watermarks", timeoutMilliseconds)
        var marks: [TopicPartition: (low: Int64, high: Int64)] = [:]
        for place in partitions {
            guard let log = cluster.log(place) else { throw KafkaError(code: .unknownPartition) }
            marks[place] = (log.start, log.end(isCommitted: isCommitted))
        }
        scheduler.step("watermarks are")
        try requireUsable()
        return marks
    }

    func cachedWatermarks(of partition: TopicPartition) -> (low: Int64, high: Int64)? {
        cluster.log(partition).map { ($0.start, $0.end) }
    }

    func partitionCount(of topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> Int32? {
        try request("partitions", timeoutMilliseconds)
        let count = cluster.partitions(topic).count
        return count > 0 ? Int32(count) : nil
    }

    func positions(_ partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        try requireUsable()
        var positions: [TopicPartition: Int64] = [:]
        for reading in readings where reading.hasPosition && partitions.contains(reading.log.place) {
            positions[reading.log.place] = reading.place
        }
        return positions
    }

    // MARK: End

    func close(timeoutMilliseconds: Int32) {
        guard !isClosed else { return }
        if !process.isCrashed, let member {
            scheduler.step("close")
            // A client that cannot finish closing in time does not leave; the group misses it later.
            if cluster.isAvailable, !faults.happens(\.closeInVain) {
                closeCallback(member)
                scheduler.step("leave")
                if isUsable { member.leave() }
            }
        }
        isClosed = true
        onAssign = nil
        onRevoke = nil
        member = nil
        cluster.remove(self)
    }

    private func closeCallback(_ member: GroupMember) {
        switch member.stage {
        case .steady: onRevoke?(assigned, false)
        case .revoking: _ = runCallback()
        default: break
        }
    }
}

extension KafkaError {
    /// What a client of a killed process says, so that its threads come to their ends: nothing is tried again after it.
    static var gone: KafkaError { KafkaError(code: .clusterAuthorizationFailed, isFatal: true) }
}
