internal import TidemarkKafka
internal import TidemarkRegistry

/// Records that cannot be processed yet: because other topics come first, or because their schemas are not there.
extension PartitionTask {
    /// The next partition whose fetching should change: because too much of it waits or a schema is missing, or no longer so.
    func takeFetchChange() -> FetchChange? {
        if var change = gate.takeFetchChange() {
            let place = lanes.firstIndex { $0.topic == change.partition.topic } ?? 0
            change.next = max(change.next, lanes[place].input.next, merged?.next(of: place) ?? 0)
            return change
        }
        while let change = merged?.takeFetchChange() {
            // When the gate opens, it has all partitions fetched that are not too far ahead.
            if change.isPaused || !gate.isClosed { return change }
        }
        return nil
    }

    /// The partitions that are not fetched for now.
    var pausedPartitions: [TopicPartition] { gate.isClosed ? gate.places : merged?.paused ?? [] }

    /// Forgets what waits for its turn: should the task go on later, it is read again.
    ///
    /// - Returns: the partitions that are not fetched for now.
    func dropWaiting() -> [TopicPartition] {
        let paused = pausedPartitions
        gate.removeAll()
        _ = merged?.removeAll()
        return paused
    }

    /// The schema that is waited for, in words; `nil` where none is.
    var schemaWaitText: String? {
        gate.wait.map { $0.text(addresses: schemas?.addresses ?? "", now: context.control.now) }
    }

    func hold(_ record: ConsumedRecord, _ topic: InputTopic) {
        // What it needs should be there, too, when its turn comes.
        if gate.hold(record, of: topic.index) { _ = wait(for: record, topic) }
    }

    /// The schema that has to come before a record can be decoded; `nil` where it can be.
    func wait(for record: ConsumedRecord, _ topic: InputTopic) -> SchemaWait? {
        // Bare Avro may begin as if it named a schema.
        guard let schemas, record.value?.first == 0, topic.schema == nil, forwarded?.mayNameSchema(record) ?? true
        else {
            return nil
        }
        return schemas.wait(for: record.value)
    }

    /// Goes on if the schema has come that is waited for, or is known not to come.
    func lookForSchema() throws(RunFailure) {
        guard let schemas else { return }
        schemas.forgetOldRefusals()
        if let note = gate.takeNote(addresses: schemas.addresses, now: context.control.now) {
            context.log("partition \(partition) \(note)", level: .warning, partition: partition)
        }
        guard let wait = gate.wait else { return }
        if let still = schemas.wait(for: wait.id) { return gate.keepWaiting(still) }
        let topics = InputTopic.all(context)
        let (records, ends) = gate.open(stillPaused: merged?.paused ?? [])
        for (place, (copy, topic)) in records.enumerated() {
            // The first one's turn has come before; what came after it may have to wait for other topics by now.
            if place == 0 {
                try process(copy.record, topics[topic])
            } else {
                try take(copy.record, topic: topics[topic])
            }
        }
        for (topic, offset) in ends { try reachedEnd(of: topics[topic], offset: offset) }
        guard !gate.isClosed, !isRestoring else { return }
        finishTaking()
        for (topic, offset) in merged?.ends ?? [] { moveOn(topic, to: offset) }
        try takeWaiting()
        finishTaking()
    }
}
