internal import TidemarkConfiguration
internal import TidemarkKafka

/// Adds up the changes that tasks publish and keeps the report topic. One thread with its own group, consumer and producer.
///
/// It commits as soon as it has input and no transaction in flight, so that a change reaches the report one commit interval after its
/// event, not two.
final class Aggregator {
    /// How long a position may lag behind markers of transactions: far less than deltas are kept.
    private static let restInterval = Duration.seconds(60)
    /// Delta records of one transaction at most.
    private static let commitRecords = 2_000
    /// How long a position may differ from the group's offset before it is refused, in seconds.
    private static let patience = 60

    private let context: RunContext
    private let name: String
    private var partitions: [Int32: ReportPartition] = [:]
    private var membership: (any GroupMembership)?
    private var failure: (any Error)?
    /// What the partitions share; `nil` while there are none.
    private var names: ReportNames?
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
            names = nil
            membership = nil
            reportStatus(nil)
            // Closing waits in vain while the group holds back the answer to joining; leaving takes milliseconds.
            consumer.close(timeoutMilliseconds: 2_500)
            namesConsumer.close(timeoutMilliseconds: 10_000)
            publisher.close()
            reader.close()
        }
        reader.onProgress = { [context] in context.beat() }
        try consumer.subscribe(
            [context.topics.deltas],
            onAssign: { [unowned self] in assigned($0, consumer, namesConsumer, reader) },
            onRevoke: { [unowned self] in revoked(isLost: $1, publisher) })
        while !context.control.isStopping {
            context.beat()
            reportStatus(consumer)
            try takeDeltas(consumer)
            try takeNames(namesConsumer)
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

    private func takeNames(_ consumer: any ConsumerClient) throws {
        guard let names else { return }
        _ = try consumer.poll(max: Aggregator.commitRecords, timeoutMilliseconds: 0) { item in
            switch item {
            case .record(let record):
                guard let named = try names.take(record) else { return }
                for partition in partitions.values { partition.renamed(named) }
            case .endOfPartition(_, _, let offset): names.passed(before: offset)
            case .failure(let error, let topic, let partition): try handle(error, topic, partition)
            }
        }
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
        _ assignment: [TopicPartition], _ consumer: any ConsumerClient, _ namesConsumer: any ConsumerClient,
        _ reader: PartitionReader
    ) -> [PartitionOffset]? {
        do {
            membership = consumer.membership()
            partitions = [:]
            names = try assignment.isEmpty ? nil : loadNames(reader)
            try namesConsumer.assign(names.map { [PartitionOffset(namesPlace, offset: $0.next)] } ?? [])
            for deltas in assignment {
                partitions[deltas.partition] = try restore(deltas, consumer, reader)
            }
            if !assignment.isEmpty { FreeMemory.giveBack() }
            context.control.update { $0.rebalances += 1 }
            return assignment.map { PartitionOffset($0, offset: partitions[$0.partition]?.next ?? 0) }
        } catch {
            failure = error
            partitions = [:]
            names = nil
            return nil
        }
    }

    private func revoked(isLost: Bool, _ publisher: Publisher) {
        defer {
            partitions.removeAll()
            names = nil
            membership = nil
        }
        guard !isLost else { return }
        do { try commit(publisher) } catch { failure = failure ?? error }
    }

    private var namesPlace: TopicPartition { TopicPartition(topic: context.topics.names, partition: 0) }

    /// Reads the names, once for all partitions of an assignment.
    private func loadNames(_ reader: PartitionReader) throws -> ReportNames {
        let names = ReportNames(epoch: context.epoch)
        // The reader goes to this end or beyond, and no owner before can have known more: what it sent belongs to a generation of the
        // group that has ended. So revisions do not fall behind theirs.
        let end = try reader.bounds(of: namesPlace).high
        var progress = RestoreProgress(context: context, of: namesPlace, to: end)
        try reader.read(namesPlace) { record in
            _ = try names.take(record)
            progress.note(record)
        }
        names.passed(before: end)
        return names
    }

    /// Reads a partition of the report back, at a position that agrees with the group's offset.
    private func restore(
        _ deltas: TopicPartition, _ consumer: any ConsumerClient, _ reader: PartitionReader
    ) throws -> ReportPartition {
        for attempt in 0... {
            // Waits for transactions that are being decided; what they wrote is then below the end that the reader goes to.
            let committed = try consumer.decidedOffsets([deltas], context: context)[deltas]
            let position = try position(of: deltas.partition, reader)
            if position?.next == committed || committed == nil {
                do {
                    return try load(deltas, position, reader)
                } catch let failure as RunFailure {
                    // Somebody else may have taken the partition over and gone on: what was read then does not go together.
                    if try self.position(of: deltas.partition, reader) == position { throw failure }
                }
            }
            guard attempt < Aggregator.patience else {
                throw RunFailure(
                    "the checkpoint says that \(deltas) was added up to offset \(position.map { "\($0.next)" } ?? "none"), group "
                        + "`\(context.topics.aggregatorGroup)` says \(committed.map { "\($0)" } ?? "none"): somebody has moved the "
                        + "group's offsets, or another program uses the group. Start under a new application_id and new output topics"
                )
            }
            if context.control.isStopping { throw Stopped() }
            context.control.sleep(.seconds(1))
        }
        preconditionFailure("the loop ends by itself")
    }

    private func position(of partition: Int32, _ reader: PartitionReader) throws -> AggregatorPosition? {
        var position: AggregatorPosition?
        let key = CheckpointRecord.aggregatorKey(partition)
        let checkpoint = TopicPartition(
            topic: context.topics.checkpoint, partition: partition % Int32(context.inputPartitions))
        try reader.read(checkpoint) { record in
            guard record.keyBytes == key else { return }
            position = try record.value.map { try CheckpointRecord.decode(AggregatorPosition.self, Array($0)) }
        }
        return position
    }

    private func load(
        _ deltas: TopicPartition, _ position: AggregatorPosition?, _ reader: PartitionReader
    ) throws -> ReportPartition {
        guard let names else { preconditionFailure("names come before rows") }
        let report = ReportPartition(context: context, partition: deltas.partition, names: names)
        let rows = TopicPartition(topic: context.topics.reports, partition: deltas.partition)
        var progress = RestoreProgress(context: context, of: rows, to: try reader.bounds(of: rows).high)
        try reader.read(rows) { record in
            guard let key = record.key else { return }
            try report.restore(key: key, value: record.value)
            progress.note(record)
        }
        let low = try reader.bounds(of: deltas).low
        if let position {
            try RestoreChecks(context: context).check(epoch: position.epoch)
            guard position.fingerprint == context.fingerprint else {
                throw RunFailure(
                    "the attribution or report settings are not those that \(context.topics.reports) was made with. Put them back, or "
                        + "begin anew with `tidemark reset`")
            }
            guard position.reports == context.topics.reports else {
                throw RunFailure(
                    "application `\(context.configuration.applicationID)` has published to \(position.reports) so far, and what was "
                        + "published is not in \(context.topics.reports): put output.reports back, or start under a new application_id"
                )
            }
        } else if !report.isEmpty {
            throw RunFailure(
                "\(context.topics.reports) already holds rows, and application `\(context.configuration.applicationID)` has not written "
                    + "them: choose another output.reports, or the application_id that they belong to")
        }
        // Deltas of an epoch that was ended may be gone already; they are not ours.
        let next = position?.next ?? (context.epoch == Epoch.first ? 0 : low)
        guard low <= next else {
            throw RunFailure(
                "\(deltas) begins at offset \(low), but changes from \(next) on are not yet added up: retention has removed them. Start "
                    + "under a new application_id and new output topics")
        }
        report.begin(at: next, asOf: position?.asOf ?? 0)
        context.log(
            "restored \(rows): \(report.rowCount) rows from \(progress.recordCount) records, \(progress.byteCount >> 20) MB, "
                + "\(progress.milliseconds) ms", partition: deltas.partition)
        return report
    }
}
