internal import TidemarkConfiguration
internal import TidemarkKafka

/// Reads partitions of the report back, at positions that agree with the group's offsets, and refuses what does not fit, with advice.
struct ReportRecovery {
    /// How long a position may differ from the group's offset before it is refused, in seconds: longer than any transaction can be open.
    private static let patience = 60

    let context: RunContext
    let names: ReportNames
    let reader: PartitionReader
    let consumer: any ConsumerClient

    /// The partition of the report that belongs to a partition of the deltas.
    ///
    /// - Parameter kept: the rows as this process had them when it last gave the partition up. They still hold where the last position is
    ///   the one that it has committed, because every commit leaves another.
    func restore(_ deltas: TopicPartition, kept: ReportPartition?) throws -> ReportPartition {
        for attempt in 0... {
            // Waits for transactions that are being decided; what they wrote is then below the end that the reader goes to.
            let committed = try consumer.decidedOffsets([deltas], context: context)[deltas]
            let position = try position(of: deltas.partition)
            if let kept, let position, kept.committed == position, position.next == committed { return kept }
            // A group that was empty for long loses its offsets; the position, of the same transactions, still holds.
            if position?.next == committed || committed == nil {
                do {
                    return try load(deltas, position)
                } catch let failure as RunFailure {
                    // Somebody else may have taken the partition over and gone on: what was read then does not go together.
                    if try self.position(of: deltas.partition) == position { throw failure }
                }
            }
            guard attempt < ReportRecovery.patience else { throw disagreement(deltas, position, committed) }
            if context.control.isStopping { throw Stopped() }
            context.control.sleep(.seconds(1))
        }
        preconditionFailure("the loop ends by itself")
    }

    private func position(of partition: Int32) throws -> AggregatorPosition? {
        var position: AggregatorPosition?
        let key = PositionKey.aggregator(partition)
        try reader.read(TopicPartition(topic: context.topics.positions, partition: partition)) { record in
            guard record.keyBytes == key else { return }
            position = try record.value.map {
                try JSONRecord.decode(AggregatorPosition.self, $0, of: context.topics.positions)
            }
        }
        return position
    }

    private func load(_ deltas: TopicPartition, _ position: AggregatorPosition?) throws -> ReportPartition {
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
            try check(position, of: rows)
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
        report.begin(at: next, position)
        context.log(
            "restored \(rows): \(report.rowCount) rows from \(progress.recordCount) records, \(progress.byteCount >> 20) MB, "
                + "\(progress.milliseconds) ms", partition: deltas.partition)
        return report
    }

    private func check(_ position: AggregatorPosition, of rows: TopicPartition) throws(RunFailure) {
        let checks = RestoreChecks(context: context)
        try checks.check(format: position.format, of: "the position of \(rows) in \(context.topics.positions)")
        try checks.check(epoch: position.epoch)
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
    }

    private func disagreement(_ deltas: TopicPartition, _ position: AggregatorPosition?, _ offset: Int64?) -> RunFailure
    {
        RunFailure(
            "\(context.topics.positions) says that \(deltas) was added up to offset \(position.map { "\($0.next)" } ?? "none"), group "
                + "`\(context.topics.aggregatorGroup)` says \(offset.map { "\($0)" } ?? "none"): somebody has moved the "
                + "group's offsets, or another program uses the group. Start under a new application_id and new output topics"
        )
    }
}
