internal import TidemarkConfiguration
internal import TidemarkKafka
internal import TidemarkReports

/// Adds up the changes that tasks publish and keeps the report topic. One thread with its own group, consumer and producer.
///
/// It commits as soon as it has input and no transaction in flight, so that a change reaches the report one commit interval after its
/// event, not two.
final class Aggregator {
    /// How long a position may lag behind markers of transactions: far less than deltas are kept.
    private static let restInterval = Duration.seconds(60)
    /// Delta records of one transaction at most.
    private static let commitRecords = 2_000

    private let context: RunContext
    private let name: String
    private var partitions: [Int32: ReportPartition] = [:]
    /// Partitions that were given up with everything committed, for the case that they come back.
    private var kept: [Int32: ReportPartition] = [:]
    private var membership: (any GroupMembership)?
    private var failure: (any Error)?
    private var lastCommit: ContinuousClock.Instant
    private let batch = OutboundBatch()
    private var status: LoopReport

    init(context: RunContext) {
        self.context = context
        status = LoopReport(context: context)
        lastCommit = context.control.now
        name = "\(context.configuration.applicationID)-\(context.instance)-reports"
    }

    /// Works until the process stops.
    func run() throws {
        try SessionLoop(name: name, context: context).run(runSession)
    }

    private func runSession() throws {
        let publisher = try Publisher(context: context, transactionalID: name)
        let reader = try PartitionReader(context.configuration, control: context.control, clients: context.clients)
        let properties = ClientProperties(context.configuration)
        let namesConsumer = try context.clients.consumer(
            properties.reader(name: context.topics.aggregatorGroup + "-reader"), log: nil)
        let consumer = try context.clients.consumer(
            properties.consumer(group: context.topics.aggregatorGroup), log: nil)
        defer {
            partitions.removeAll()
            kept.removeAll()
            membership = nil
            reportStatus(nil)
            // Closing waits in vain while the group holds back the answer to joining; leaving takes milliseconds.
            consumer.close(timeoutMilliseconds: 2_500)
            namesConsumer.close(timeoutMilliseconds: 10_000)
            publisher.close()
            reader.close()
        }
        reader.onProgress = { [context] in context.beat() }
        let names = ReportNames(epoch: context.epoch)
        let recovery = ReportRecovery(context: context, names: names, reader: reader, consumer: consumer)
        try consumer.subscribe(
            [context.topics.deltas],
            onAssign: { [unowned self] in assigned($0, namesConsumer, recovery) },
            onRevoke: { [unowned self] in revoked(isLost: $1, publisher) })
        while !context.control.isStopping {
            context.beat()
            reportStatus(consumer)
            try takeDeltas(consumer)
            try takeNames(namesConsumer, names)
            try commit(publisher)
        }
        try commit(publisher)
    }

    private func takeDeltas(_ consumer: any ConsumerClient) throws {
        _ = try consumer.poll(max: Aggregator.commitRecords, timeoutMilliseconds: 50) { item in
            switch item {
            case .record(let record): try partitions[record.partition]?.apply(record)
            case .endOfPartition(_, let partition, let offset): partitions[partition]?.reachedEnd(offset)
            case .failure(let error, let topic, let partition): try handle(error, topic, partition)
            }
        }
        if let failure {
            self.failure = nil
            throw failure
        }
    }

    private func takeNames(_ consumer: any ConsumerClient, _ names: ReportNames) throws {
        _ = try consumer.poll(max: Aggregator.commitRecords, timeoutMilliseconds: 0) { item in
            switch item {
            case .record(let record):
                if let named = try names.take(record) { renamed(named) }
            case .endOfPartition(_, _, let offset): names.passed(before: offset)
            case .failure(let error, let topic, let partition): try handle(error, topic, partition)
            }
        }
    }

    /// Tells all partitions of a new name, those as well that may come back: the names are read once.
    private func renamed(_ named: NamedNumber) {
        for partition in partitions.values { partition.renamed(named) }
        for partition in kept.values { partition.renamed(named) }
    }

    private func handle(_ error: KafkaError, _ topic: String?, _ partition: Int32?) throws {
        try context.handle(
            error, reading: topic ?? context.topics.deltas, partition,
            loss:
                "changes that were not yet added up: retention has removed them. Start under a new application_id and new output topics"
        )
    }

    private func commit(_ publisher: Publisher) throws {
        // Where only markers of transactions were passed, there is no hurry.
        let isRestDue = lastCommit.duration(to: context.control.now) >= Aggregator.restInterval
        let ready = partitions.values.filter { $0.isDirty || isRestDue && $0.hasMoved }
        guard !ready.isEmpty, let membership else { return }
        batch.removeAll()
        for partition in ready { partition.prepareCommit(into: batch) }
        try publisher.publish(batch, membership: membership)
        let rows = batch.records.count { $0.topic == context.topics.reports }
        let deltas = ready.reduce(0) { $0 + $1.pendingDeltas }
        for partition in ready { partition.finishCommit() }
        lastCommit = context.control.now
        context.control.update {
            $0.deltasPublished += deltas
            $0.rowsPublished += rows
        }
    }

    private func reportStatus(_ consumer: (any ConsumerClient)?) {
        status.publish(isUrgent: consumer == nil) { status in
            status.isJoined = membership != nil
            status.reports = partitions.values.map { report in
                let place = TopicPartition(topic: context.topics.deltas, partition: report.partition)
                return ReportStatus(
                    partition: report.partition, next: report.next,
                    end: consumer?.cachedWatermarks(of: place)?.high)
            }
        }
    }

    // MARK: Assignment

    private func assigned(
        _ assignment: [TopicPartition], _ namesConsumer: any ConsumerClient, _ recovery: ReportRecovery
    ) -> [PartitionOffset]? {
        do {
            membership = recovery.consumer.membership()
            partitions = [:]
            if !assignment.isEmpty { try takeNamesOfOthers(namesConsumer, recovery) }
            for deltas in assignment {
                partitions[deltas.partition] = try recovery.restore(deltas, kept: kept[deltas.partition])
            }
            kept = [:]
            if !assignment.isEmpty { FreeMemory.giveBack() }
            context.control.update { $0.rebalances += 1 }
            return assignment.map { PartitionOffset($0, offset: partitions[$0.partition]?.next ?? 0) }
        } catch {
            failure = error
            partitions = [:]
            kept = [:]
            return nil
        }
    }

    /// Brings the names up to what any owner before may have known.
    private func takeNamesOfOthers(_ consumer: any ConsumerClient, _ recovery: ReportRecovery) throws {
        try recovery.names.catchUp(context, recovery.reader, onChange: renamed)
        let place = TopicPartition(topic: context.topics.names, partition: 0)
        try consumer.assign([PartitionOffset(place, offset: recovery.names.next)])
    }

    private func revoked(isLost: Bool, _ publisher: Publisher) {
        defer {
            partitions.removeAll()
            membership = nil
        }
        guard !isLost else { return kept.removeAll() }
        do {
            try commit(publisher)
            kept = partitions.filter { !$0.value.isDirty }
        } catch {
            failure = failure ?? error
        }
    }
}
