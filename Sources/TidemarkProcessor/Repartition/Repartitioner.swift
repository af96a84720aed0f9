internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// Brings events together by user: reads the source topics, judges each event where it is, and writes it to its user's partition of
/// `<app>-by-user`. One thread with its own group, consumer and producer.
///
/// Records of several source topics are not merged by time: each source partition has a watermark of its own, so that none makes the events
/// of another late.
final class Repartitioner {
    /// Records of one transaction at most.
    private static let commitRecords = 100_000
    /// Bytes of one transaction at most.
    private static let commitBytes = 64 << 20
    /// Transactions within a commit interval when little comes in: a commit of the tasks follows each, and two in a row should not take twice
    /// as long as one.
    private static let commitsPerInterval = 4

    private let context: RunContext
    private let topology: Sources
    private let topics: [InputTopic]
    private let name: String
    private let intake: SourceIntake
    private var sources: [Key: SourcePartition] = [:]
    private var last: (key: Key, source: SourcePartition)?
    /// Positions of partitions that were given up after a commit, for the case that they come back.
    private var parked: [TopicPartition: SourcePosition] = [:]
    private var handles: [String: TopicHandle] = [:]
    private var membership: (any GroupMembership)?
    private var failure: (any Error)?
    private var lastCommit: ContinuousClock.Instant
    private var lastNotice: ContinuousClock.Instant
    private var report: LoopReport

    private struct Key: Hashable {
        var topic: TopicHandle
        var partition: Int32
    }

    /// - Parameter topology: all source partitions of the application.
    init(context: RunContext, topology: Sources) {
        self.context = context
        self.topology = topology
        topics = InputTopic.sources(context)
        name = "\(context.configuration.applicationID)-\(context.instance)-repartition"
        intake = SourceIntake(context)
        lastCommit = context.control.now
        lastNotice = lastCommit
        report = LoopReport(context: context)
    }

    /// Works until the process stops.
    func run() throws {
        try SessionLoop(name: name, context: context).run(runSession)
    }

    private func runSession() throws {
        let publisher = try Publisher(context: context, transactionalID: name)
        let reader = try PartitionReader(context.configuration, control: context.control, clients: context.clients)
        let consumer = try context.consumer(group: context.topics.repartitionGroup)
        defer {
            drop()
            parked.removeAll()
            reportStatus(nil)
            // Closing waits in vain while the group holds back the answer to joining; leaving takes milliseconds.
            consumer.close(timeoutMilliseconds: 2_500)
            publisher.close()
            reader.close()
        }
        for topic in topics { handles[topic.name] = try consumer.topicHandle(topic.name) }
        reader.onProgress = { [context] in context.beat() }
        let recovery = SourceRecovery(context: context, topology: topology, reader: reader, consumer: consumer)
        try consumer.subscribe(
            context.topics.inputs,
            onAssign: { [unowned self] in assigned($0, recovery) },
            onRevoke: { [unowned self, unowned consumer] in
                // Whoever gets the partitions next, and be it this consumer, should fetch them.
                let paused = sources.values.filter(\.isPaused).map(\.place)
                if !paused.isEmpty { try? consumer.resume(paused) }
                revoked(isLost: $1, publisher)
            })
        while !context.control.isStopping {
            context.beat()
            reportStatus(consumer)
            try poll(consumer)
            try lookForSchemas(consumer)
            try commitIfDue(publisher)
        }
        try commit(publisher, withNotice: true)
    }

    // MARK: Consuming

    private func poll(_ consumer: any ConsumerClient) throws {
        let wait = max(0, min(100, (lastCommit + pace - context.control.now).milliseconds))
        do {
            _ = try consumer.poll(max: 10_000, timeoutMilliseconds: Int32(wait)) { item in
                switch item {
                case .record(let record):
                    source(record.topicHandle, record.partition)?.take(record)
                    // Large events add up fast: they must not wait for the end of a poll.
                    if intake.byteCount >= Repartitioner.commitBytes { throw EnoughForNow() }
                case .endOfPartition(let topic, let partition, let offset):
                    source(topic, partition)?.reachedEnd(offset)
                case .failure(let error, let topic, let partition):
                    try context.handle(
                        error, reading: topic ?? "the input", partition, loss: RunContext.inputLoss)
                }
            }
        } catch is EnoughForNow {
            // The next commit is due at once.
        }
        if let failure {
            self.failure = nil
            throw failure
        }
    }

    /// Goes on with partitions whose schemas have come, and stops fetching those that wait for one.
    private func lookForSchemas(_ consumer: any ConsumerClient) throws {
        guard let schemas = intake.schemas else { return }
        schemas.forgetOldRefusals()
        for source in sources.values {
            source.lookForSchema { context.log($0, level: .warning) }
            while let change = source.takeFetchChange() { try consumer.apply(change) }
        }
    }

    /// Ends a poll after a record that was taken.
    private struct EnoughForNow: Error {}

    /// The source of a record; records of one mostly follow each other.
    private func source(_ topic: TopicHandle, _ partition: Int32) -> SourcePartition? {
        let key = Key(topic: topic, partition: partition)
        if let last, last.key == key { return last.source }
        guard let source = sources[key] else { return nil }
        last = (key, source)
        return source
    }

    private func reportStatus(_ consumer: (any ConsumerClient)?) {
        report.publish(isUrgent: consumer == nil) { status in
            status.isJoined = membership != nil
            status.sources = sources.values.map { source in
                let end = consumer?.cachedWatermarks(of: source.place)?.high
                let input = InputStatus(topic: source.place.topic, next: source.next, end: end)
                var status = SourceStatus(
                    partition: source.place.partition, input: input, watermark: source.watermark)
                status.schemaWait = source.schemaWaitText
                return status
            }
        }
    }

    // MARK: Committing

    private var pace: Duration {
        let interval = context.configuration.commitInterval
        return min(interval, max(.milliseconds(20), interval / Repartitioner.commitsPerInterval))
    }

    private func commitIfDue(_ publisher: Publisher) throws {
        let now = context.control.now
        let isFull =
            intake.recordCount >= Repartitioner.commitRecords || intake.byteCount >= Repartitioner.commitBytes
        guard isFull || lastCommit.duration(to: now) >= pace else { return }
        try commit(publisher, withNotice: lastNotice.duration(to: now) >= context.configuration.commitInterval)
    }

    /// Publishes what all sources have, in one transaction.
    ///
    /// - Parameter withNotice: whether to tell all partitions of `<app>-by-user` about watermarks that have moved.
    private func commit(_ publisher: Publisher, withNotice: Bool) throws {
        lastCommit = context.control.now
        let ready = sources.values.filter { $0.isDirty || withNotice && $0.watermark > $0.noticedWatermark }
        guard !ready.isEmpty, let membership else { return }
        let batch = intake.batch
        batch.append(contentsOf: intake.deadLetters.batch)
        let notices = withNotice ? ready.filter { $0.watermark > $0.noticedWatermark } : []
        if !notices.isEmpty {
            WatermarkNotice.append(
                notices.map { ($0.place, $0.watermark) }, epoch: context.epoch, topic: context.topics.byUser,
                partitions: context.inputPartitions, to: batch)
            lastNotice = lastCommit
        }
        for source in ready { append(source, to: batch) }
        try publisher.publish(batch, membership: membership)
        for source in ready { source.finishCommit(isNoticed: withNotice) }
        context.control.update { [records = intake.recordCount, counts = intake.counts] in
            $0.records += records
            $0.counts += counts
        }
        intake.removeAll()
        lastCommit = context.control.now
    }

    private func append(_ source: SourcePartition, to batch: OutboundBatch) {
        let position = source.position(context, sourcePartitions: topology.partitions(of: source.place.topic))
        batch.append(
            topic: context.topics.positions, partition: context.positionsPartition(of: source.place),
            key: PositionKey.source(source.place), value: JSONRecord.encode(position))
        batch.append(PartitionOffset(source.place, offset: source.next))
    }

    // MARK: Assignment

    private func assigned(_ assignment: [TopicPartition], _ recovery: SourceRecovery) -> [PartitionOffset]? {
        do {
            // The membership that these partitions were given under, and no other, may commit for them.
            membership = recovery.consumer.membership()
            drop()
            let positions = try recovery.recover(assignment, parked: parked)
            parked.removeAll()
            for (place, position) in positions {
                guard let topic = topics.first(where: { $0.name == place.topic }), let handle = handles[place.topic]
                else { continue }
                sources[Key(topic: handle, partition: place.partition)] = SourcePartition(
                    place, topic: topic, position: position, intake: intake)
            }
            context.control.update { $0.rebalances += 1 }
            return sources.values.map { PartitionOffset($0.place, offset: $0.next) }
        } catch {
            failure = error
            drop()
            membership = nil
            return nil
        }
    }

    private func revoked(isLost: Bool, _ publisher: Publisher) {
        defer {
            drop()
            membership = nil
        }
        guard !isLost else {
            context.log("\(name) lost its partitions; what was not committed is dropped", level: .warning)
            return parked.removeAll()
        }
        do {
            try commit(publisher, withNotice: false)
            for source in sources.values {
                parked[source.place] = source.position(
                    context, sourcePartitions: topology.partitions(of: source.place.topic))
            }
        } catch {
            failure = failure ?? error
        }
    }

    private func drop() {
        sources.removeAll()
        last = nil
        intake.removeAll()
    }
}
