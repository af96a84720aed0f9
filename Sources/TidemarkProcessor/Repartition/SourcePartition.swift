internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkRegistry

/// One source partition on its way into `<app>-by-user`: decodes and judges its events, and gives each to its user's partition.
final class SourcePartition {
    let place: TopicPartition
    /// The next offset to read.
    private(set) var next: Int64
    /// The greatest accepted event time, seconds since the epoch; 0 before the first.
    private(set) var watermark: UInt32
    /// Whether there is something to commit.
    private(set) var isDirty = false
    /// The watermark that all partitions of `<app>-by-user` were last told.
    private(set) var noticedWatermark: UInt32 = 0

    private let topic: InputTopic
    private let topicName: [UInt8]
    private let intake: SourceIntake
    /// Holds records whose schema is not there yet, and all after them.
    private var gate: SchemaGate

    /// - Parameter topic: the source topic.
    init(_ place: TopicPartition, topic: InputTopic, position: (next: Int64, watermark: UInt32), intake: SourceIntake) {
        self.place = place
        self.topic = topic
        self.intake = intake
        topicName = Array(topic.name.utf8)
        gate = SchemaGate([place])
        (next, watermark) = position
    }

    /// Takes a record: what becomes of it waits in the intake for the next commit.
    func take(_ record: ConsumedRecord) {
        guard record.offset >= next else { return }
        if gate.isClosed {
            // What it needs should be there, too, when its turn comes.
            if gate.hold(record, of: 0) { _ = wait(for: record) }
            return
        }
        if let wait = wait(for: record) {
            return gate.close(wait, record, of: 0, now: intake.control.now)
        }
        next = record.offset + 1
        isDirty = true
        intake.recordCount += 1
        guard let value = record.value else { return intake.counts.count(.skipped) }
        let hint = topic.hint(record)
        intake.decoder.begin(ByteView(value), hint: hint, schema: topic.schema)
        while let outcome = intake.decoder.next(into: &intake.event) {
            switch outcome {
            case .event: judge(record, hint)
            case .skipped: intake.counts.count(.skipped)
            case .rejected(let rejection): refuse(record, rejection, stage: "decode")
            }
        }
    }

    /// The schema that has to come before a record can be decoded; `nil` where it can be, as all bare Avro.
    private func wait(for record: ConsumedRecord) -> SchemaWait? {
        topic.schema == nil ? intake.schemas?.wait(for: record.value) : nil
    }

    private func judge(_ record: ConsumedRecord, _ hint: TypeHint) {
        let time = intake.event.time
        if let code = intake.acceptance.refusal(
            time, recordTime: record.timestampMilliseconds, watermark: watermark)
        {
            let message = AcceptanceMessage.text(code, intake.event, watermark: watermark)
            return refuse(record, Rejection(code: code, message: message), stage: "accept")
        }
        watermark = max(watermark, time)
        topicName.withUnsafeBytes { name in
            intake.forward(
                SourceStamp(
                    epoch: intake.epoch, watermark: watermark, partition: record.partition, offset: record.offset,
                    timestamp: record.timestampMilliseconds, index: intake.decoder.elementIndex, topic: name),
                typeHeader: hint.header)
        }
    }

    private func refuse(_ record: ConsumedRecord, _ rejection: Rejection, stage: String) {
        intake.counts.count(.deadLetter(rejection.code))
        intake.deadLetters.append(record, of: topic.name, intake.decoder, rejection, stage: stage)
    }

    /// Notes that the partition was read to its end, which may lie behind control records.
    func reachedEnd(_ offset: Int64) {
        guard !gate.isClosed else { return gate.reachedEnd(of: 0, offset: offset) }
        guard offset > next else { return }
        next = offset
        isDirty = true
    }

    /// The schema that is waited for, in words; `nil` where none is.
    var schemaWaitText: String? {
        gate.wait.map { $0.text(addresses: intake.schemas?.addresses ?? "", now: intake.control.now) }
    }

    /// Whether its partition is not fetched for now.
    var isPaused: Bool { gate.isClosed }

    /// Whether fetching should change.
    func takeFetchChange() -> FetchChange? {
        guard var change = gate.takeFetchChange() else { return nil }
        change.next = max(change.next, next)
        return change
    }

    /// Goes on if the schema has come that is waited for, or is known not to come.
    ///
    /// - Parameter log: takes what is worth a line.
    func lookForSchema(log: (String) -> Void) {
        guard let schemas = intake.schemas else { return }
        if let note = gate.takeNote(addresses: schemas.addresses, now: intake.control.now) { log("\(place) \(note)") }
        guard let wait = gate.wait else { return }
        if let still = schemas.wait(for: wait.id) { return gate.keepWaiting(still) }
        let (records, ends) = gate.open(stillPaused: [])
        for (copy, _) in records { take(copy.record) }
        for (_, offset) in ends { reachedEnd(offset) }
    }

    /// The position to commit.
    func position(_ context: RunContext, sourcePartitions: Int) -> SourcePosition {
        SourcePosition(
            epoch: context.epoch, next: next, watermark: watermark, sourcePartitions: sourcePartitions,
            userPartitions: context.inputPartitions, fingerprint: context.fingerprint)
    }

    /// Notes what a commit has published.
    ///
    /// - Parameter isNoticed: whether all partitions of `<app>-by-user` were told the watermark.
    func finishCommit(isNoticed: Bool) {
        isDirty = false
        if isNoticed { noticedWatermark = watermark }
    }
}
