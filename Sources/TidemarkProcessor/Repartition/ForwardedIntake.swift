internal import TidemarkEvents
internal import TidemarkKafka

/// Takes the records of `<app>-by-user` into a task: events that were judged where they were first read, and how far that was read.
final class ForwardedIntake {
    private let context: RunContext
    private let sources: Sources
    private let topics: [InputTopic]
    private let state: TaskState
    private let decoder: EventDecoder
    private let deadLetters: DeadLetterWriter
    private var event = Event()
    /// The watermarks of the last commit, while history is redone.
    private var committed: [UInt32] = []

    /// - Parameter sources: all source partitions of the application.
    init(
        _ context: RunContext, sources: Sources, state: TaskState, decoder: EventDecoder, deadLetters: DeadLetterWriter
    ) {
        self.context = context
        self.sources = sources
        self.state = state
        self.decoder = decoder
        self.deadLetters = deadLetters
        topics = InputTopic.sources(context)
    }

    /// The watermarks of all sources, as position records have them.
    var watermarks: [String: [UInt32]] { sources.byTopic(state.sources?.marks ?? []) }

    /// Takes a record.
    ///
    /// - Parameter codes: gets what became of its event; nothing for a record without one, or of another epoch.
    func take(_ record: ConsumedRecord, codes: inout [UInt8]) throws(RunFailure) {
        let opened: (stamp: SourceStamp, topic: InputTopic, source: Int)
        switch try open(record) {
        case .event(let stamp, let topic, let source): opened = (stamp, topic, source)
        case .nothing: return
        case .foreign:
            codes.append(state.count(.deadLetter(.malformed)).code)
            return deadLetters.append(record, of: context.topics.byUser, ForwardedIntake.foreign, stage: "decode")
        }
        let (stamp, topic, source) = opened
        while let outcome = decoder.next(into: &event) {
            switch outcome {
            case .event:
                codes.append(state.takeForwarded(event, source: source, watermark: stamp.watermark).code)
            case .skipped:
                codes.append(state.count(.skipped).code)
            case .rejected(let rejection):
                codes.append(state.count(.deadLetter(rejection.code)).code)
                deadLetters.append(record, of: topic.name, from: stamp, rejection)
            }
        }
    }

    /// Takes a record again that was taken before.
    ///
    /// - Parameters:
    ///   - codes: what became of its event then.
    ///   - commit: the commit that it was part of.
    func redo(_ record: ConsumedRecord, codes: [UInt8], commit: Int64) throws(RunFailure) {
        guard case .event(let stamp, _, let source) = try open(record) else { return }
        var index = 0
        while index < codes.count, let outcome = decoder.next(into: &event) {
            if case .event = outcome, codes[index] == Verdict.accepted.code {
                state.redo(event, commit: commit, source: source, watermark: stamp.watermark)
            }
            index += 1
        }
    }

    /// Whether the value of a record may begin with the id of its schema: bare Avro of its source does not.
    func mayNameSchema(_ record: ConsumedRecord) -> Bool {
        guard let stamp = record.header(named: SourceStamp.header).flatMap({ SourceStamp($0) }),
            let index = sources.index(ofTopic: stamp.topic)
        else { return false }
        return topics[index].schema == nil
    }

    private enum Content {
        /// An event of this epoch, on which the decoder has begun.
        case event(SourceStamp, InputTopic, source: Int)
        /// A notice of watermarks, taken already, or something of another epoch.
        case nothing
        /// A record that another program has written.
        case foreign
    }

    private func open(_ record: ConsumedRecord) throws(RunFailure) -> Content {
        guard let header = record.header(named: SourceStamp.header) else { return try takeNotice(record) }
        guard let stamp = SourceStamp(header), let value = record.value else { return .foreign }
        guard stamp.epoch == context.epoch else { return .nothing }
        guard let index = sources.index(ofTopic: stamp.topic), stamp.partition >= 0,
            stamp.partition < sources.topics[index].partitions
        else { throw unknown(TopicPartition(topic: stamp.topicName, partition: stamp.partition)) }
        let topic = topics[index]
        decoder.begin(ByteView(value), hint: topic.hint(record), schema: topic.schema)
        return .event(stamp, topic, source: sources.topics[index].first + Int(stamp.partition))
    }

    private func takeNotice(_ record: ConsumedRecord) throws(RunFailure) -> Content {
        guard record.header(named: WatermarkNotice.header) != nil, let value = record.value,
            let notice = try? JSONRecord.decode(WatermarkNotice.self, value, of: context.topics.byUser)
        else { return .foreign }
        guard notice.epoch == context.epoch else { return .nothing }
        for (topic, marks) in notice.watermarks {
            for (partition, mark) in marks {
                let place = TopicPartition(topic: topic, partition: partition)
                guard let source = sources.number(of: place) else { throw unknown(place) }
                state.raise(source: source, to: mark)
            }
        }
        return .nothing
    }

    private static let foreign = Rejection(
        code: .malformed,
        message: "it has no header \(SourceStamp.header): a program other than Tidemark has written it to this topic")

    private func unknown(_ place: TopicPartition) -> RunFailure {
        RunFailure(
            "\(context.topics.byUser) has events of \(place), which was not there when this process started: another process of the "
                + "application has other input.topics, or a topic has been given more partitions. "
                + PartitionAdvice.forMoreSources)
    }

    // MARK: Restoring

    /// Notes the watermarks of the last commit, for when history is redone.
    func willRestore(_ position: Position) { committed = position.sources.flatMap(sources.marks) ?? [] }

    /// Notes that history is redone.
    func finishRestoring() {
        state.restore(sourceWatermarks: committed)
        committed = []
    }
}
