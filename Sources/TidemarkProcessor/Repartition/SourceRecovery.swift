internal import TidemarkConfiguration
internal import TidemarkKafka

/// Finds where source partitions go on, and refuses what does not fit, with advice.
struct SourceRecovery {
    /// How long a position may differ from the group's offset before it is refused, in seconds: longer than any transaction can be open.
    private static let patience = 60

    let context: RunContext
    let topology: Sources
    let reader: PartitionReader
    let consumer: any ConsumerClient

    private var application: String { context.configuration.applicationID }

    /// The next offset and the watermark of each partition.
    ///
    /// - Parameter parked: positions that this process has committed; one still holds where the group's offset is the same, because both
    ///   only move together.
    func recover(
        _ partitions: [TopicPartition], parked: [TopicPartition: SourcePosition]
    ) throws -> [TopicPartition: (next: Int64, watermark: UInt32)] {
        try requireKnown(partitions)
        var found: [TopicPartition: (next: Int64, watermark: UInt32)] = [:]
        var missing = partitions
        for attempt in 0... {
            // Waits for transactions that are being decided; what they wrote is then below the end that the reader goes to.
            let committed = try consumer.decidedOffsets(missing, context: context)
            if attempt == 0 {
                for (place, offset) in committed {
                    if let kept = parked[place], kept.next == offset { found[place] = (offset, kept.watermark) }
                }
                missing.removeAll { found[$0] != nil }
            }
            let positions = try read(missing)
            for place in missing {
                let position = positions[place]
                if let position { try check(position, of: place) }
                // A group that was empty for long loses its offsets; the position, of the same transactions, still holds.
                if let offset = committed[place], offset != position?.next { continue }
                found[place] = try position.map { ($0.next, $0.watermark) } ?? (reader.bounds(of: place).low, 0)
            }
            missing.removeAll { found[$0] != nil }
            guard let place = missing.first else { return found }
            guard attempt < SourceRecovery.patience else {
                throw disagreement(place, positions[place], committed[place])
            }
            if context.control.isStopping { throw Stopped() }
            context.control.sleep(.seconds(1))
        }
        preconditionFailure("the loop ends by itself")
    }

    /// The committed positions of partitions, where there are some.
    private func read(_ partitions: [TopicPartition]) throws -> [TopicPartition: SourcePosition] {
        var places: [[UInt8]: TopicPartition] = [:]
        for place in partitions { places[PositionKey.source(place)] = place }
        var positions: [TopicPartition: SourcePosition] = [:]
        for number in Set(partitions.map(context.positionsPartition)).sorted() {
            try reader.read(TopicPartition(topic: context.topics.positions, partition: number)) { record in
                guard PositionKey.isSource(record.key), let place = places[record.keyBytes] else { return }
                positions[place] = try record.value.map {
                    try JSONRecord.decode(SourcePosition.self, $0, of: context.topics.positions)
                }
            }
        }
        return positions
    }

    /// Partitions that were added while the process runs.
    private func requireKnown(_ partitions: [TopicPartition]) throws(RunFailure) {
        guard let added = partitions.first(where: { topology.number(of: $0) == nil }) else { return }
        throw RunFailure(
            "\(added) is new: \(added.topic) had \(topology.partitions(of: added.topic)) partitions at the start, and what is final was "
                + "reckoned from those. " + PartitionAdvice.forMoreSources)
    }

    private func check(_ position: SourcePosition, of place: TopicPartition) throws(RunFailure) {
        let checks = RestoreChecks(context: context)
        try checks.check(format: position.format, of: "the position of \(place) in \(context.topics.positions)")
        try checks.check(epoch: position.epoch)
        guard position.fingerprint == context.fingerprint else {
            throw RunFailure(
                "the attribution or report settings are not those that the events of application `\(application)` were judged with. "
                    + "Put them back, or begin anew with `tidemark reset`: the input is then read from its beginning")
        }
        guard position.userPartitions == context.inputPartitions else {
            throw RunFailure(
                "\(context.topics.byUser) had \(position.userPartitions) partitions so far, now it has \(context.inputPartitions): users "
                    + "would change their partitions. Start under a new application_id and new output topics")
        }
        let count = topology.partitions(of: place.topic)
        guard position.sourcePartitions == count else {
            throw RunFailure(
                "\(place.topic) had \(position.sourcePartitions) partitions so far, now it has \(count), and what is final was reckoned from "
                    + "those there were. " + PartitionAdvice.forMoreSources)
        }
    }

    private func disagreement(_ place: TopicPartition, _ position: SourcePosition?, _ offset: Int64?) -> RunFailure {
        RunFailure(
            "\(context.topics.positions) says that \(place) was brought together by user up to offset \(position.map { "\($0.next)" } ?? "none"), "
                + "group `\(context.topics.repartitionGroup)` says \(offset.map { "\($0)" } ?? "none"): somebody has moved the group's "
                + "offsets, or another program uses the group. Move them back, or start under a new application_id")
    }
}
