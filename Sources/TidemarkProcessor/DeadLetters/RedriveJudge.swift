internal import TidemarkAttribution
internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// Says before a record is fed again whether it would be refused again.
final class RedriveJudge {
    private let configuration: Configuration
    private let targets: RedriveTargets
    private let watermarks: CurrentWatermarks
    private let acceptance: Acceptance
    private let decoder: EventDecoder
    private let inputs: [String: InputTopic]
    private var event = Event()

    init(
        _ configuration: Configuration, targets: RedriveTargets, watermarks: CurrentWatermarks,
        schemas: InputSchemas = InputSchemas()
    ) {
        self.configuration = configuration
        self.targets = targets
        self.watermarks = watermarks
        acceptance = Acceptance(configuration.attribution)
        decoder = EventDecoder(
            limits: DecoderLimits(maxRecordBytes: configuration.limits.recordBytes), schemas: schemas.all)
        inputs = configuration.input.topics.enumerated().reduce(into: [:]) { inputs, topic in
            inputs[topic.element] = InputTopic(
                topic.element, index: topic.offset, configuration.input, schema: schemas.ofTopics[topic.element])
        }
    }

    /// Why a record should not be fed, and what to do instead; `nil` where it would be counted.
    ///
    /// - Parameters:
    ///   - isRepaired: whether a person had it in hand: only then its key may be wrong.
    ///   - now: milliseconds since the epoch.
    func problem(with record: RedriveRecord, isRepaired: Bool = false, now: Int64) -> String? {
        let topic = record.origin.topic
        guard let input = inputs[topic] else {
            return "\(topic) is not among input.topics: use the configuration of the application that read it"
        }
        guard targets[topic] != nil else { return "the input topic \(topic) does not exist any more" }
        guard let value = record.value else { return "it has no value: a tombstone would be skipped" }
        if let problem = lateness(of: record) { return problem }
        let header = record.headers.last { $0.name == configuration.input.typeHeader }?.value ?? []
        return value.withUnsafeBytes { value in
            header.withUnsafeBytes { header in
                let hint = TypeHint(header: ByteView(header), topic: input.type)
                let shape = decoder.begin(ByteView(value), hint: hint, schema: input.schema)
                if case .schemaNeeded = shape { return problemWithoutSchema(record) }
                return firstProblem(record, isRepaired, now)
            }
        }
    }

    /// Of a record that came too late: whether more lateness is allowed now.
    private func lateness(of record: RedriveRecord) -> String? {
        guard record.code == RejectionCode.late.rawValue, let then = record.allowed,
            let now = configuration.attribution.allowedLateness, now <= then
        else { return nil }
        return
            "it was late when attribution.allowed_lateness was \(then) s, and no more than \(now) s are allowed now; "
            + replayAdvice(record.origin.topic)
    }

    private func replayAdvice(_ topic: String) -> String {
        "`tidemark replay --topic \(topic)` counts events however late they are"
    }

    /// Of Avro whose schema is in a registry, which is not asked here: whether something other than the value decided then.
    private func problemWithoutSchema(_ record: RedriveRecord) -> String? {
        switch RejectionCode(rawValue: record.code) {
        case .malformed, .missingField, .badType:
            "it was refused as \(record.code) when its schema was known, and its bytes are the same: its source has to send it again"
        default: nil
        }
    }

    private func firstProblem(_ record: RedriveRecord, _ isRepaired: Bool, _ now: Int64) -> String? {
        var counted = 0
        while let outcome = decoder.next(into: &event) {
            let place = decoder.elementIndex.map { "event \($0) of the batch: " } ?? ""
            switch outcome {
            case .event:
                counted += 1
                if let problem = problemOfTime(record, now) ?? problemOfKey(record, isRepaired) {
                    return place + problem
                }
            case .skipped: continue
            case .rejected(let rejection):
                let advice = isRepaired ? "" : "; repair it: `tidemark dlq export`, then `tidemark dlq import`"
                return "\(place)it would be refused again as \(rejection)\(advice)"
            }
        }
        return counted > 0 ? nil : "it would be skipped: it has no event of a type that is counted"
    }

    private func problemOfTime(_ record: RedriveRecord, _ now: Int64) -> String? {
        let topic = record.origin.topic
        let sent = targets.sentTime(of: record, now: now)
        let partition = targets.partition(ofUnchanged: record)
        let watermark = watermarks.of(topic, partition)
        switch acceptance.refusal(event.time, recordTime: sent > 0 ? sent : now, watermark: watermark) {
        case .futureDated:
            let ahead = Int64(event.time) - now / 1_000 - (configuration.attribution.futureTolerance ?? 0)
            return "it would be refused again as future_dated: its time \(event.time) is "
                + (ahead > 0
                    ? "still ahead by \(ahead) s more than attribution.future_tolerance allows; try again then"
                    : "ahead of its record's, which it keeps; mend the time: `tidemark dlq export`, then `tidemark dlq import`")
        case .late:
            let allowed = configuration.attribution.allowedLateness ?? 0
            return
                "it would be refused as late: its time \(event.time) is \(Int64(watermark) - Int64(event.time)) s behind the watermark of "
                + "\(topic)[\(partition)], \(allowed) s are allowed; \(replayAdvice(topic))"
        default: return nil
        }
    }

    /// A person may have mended `user_id` and not the key.
    private func problemOfKey(_ record: RedriveRecord, _ isRepaired: Bool) -> String? {
        guard isRepaired, !configuration.input.repartition, configuration.input.keyCheck != .off else { return nil }
        let isUser = withOptionalBytes(record.key) { $0.map { ByteView($0) == event.userID } ?? false }
        if isUser { return nil }
        return
            "its key is not its user_id, so that it would be counted apart from the user's other events; give it the key "
            + "\((event.userID.text ?? "").debugDescription)"
    }
}
