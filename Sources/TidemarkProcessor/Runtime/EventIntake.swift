internal import TidemarkEvents
internal import TidemarkKafka

/// Takes the records of the input into a task: decodes them, and judges their events in the order in which they come.
///
/// Adding an event is mostly waiting for memory, unless that is asked for some events ahead. So an event that is sure to pass waits in a
/// buffer until there are some, or until `finish`; only then it shows whether it came before. Until then neither the state nor the
/// verdicts have it, while dead letters are written at once.
final class EventIntake {
    /// How many events or records may wait. With the memory that is fetched for them they fit into the caches near the processor.
    private static let limit = 64

    private struct Judged {
        var topic: Int
        var offset: Int64
        /// Where the codes of its events end.
        var codesEnd: Int
    }

    private let state: TaskState
    private let decoder: EventDecoder
    private let deadLetters: DeadLetterWriter
    private let keyCheck: KeyCheck?
    private var sampler: KeySampler
    private var event = Event()

    private let waiting = EventBuffer()
    /// Where each of them has its code.
    private var codePlaces: [Int] = []
    /// What becomes of the events of `records`; of those that wait, what is likely.
    private var codes: [UInt8] = []
    private var records: [Judged] = []
    /// The watermark, if all that wait are accepted.
    private var highestMark: UInt32 = 0

    /// - Parameter topics: how many input topics there are.
    init(state: TaskState, decoder: EventDecoder, deadLetters: DeadLetterWriter, keyCheck: KeyCheck?, topics: Int) {
        self.state = state
        self.decoder = decoder
        self.deadLetters = deadLetters
        self.keyCheck = keyCheck
        sampler = KeySampler(topics: topics)
    }

    /// Whether to `finish` before the next record.
    var isFull: Bool { codePlaces.isEmpty || records.count >= EventIntake.limit }

    /// Takes a record.
    func take(_ record: ConsumedRecord, _ topic: InputTopic) throws(RunFailure) {
        let isSampled = keyCheck != nil && sampler.isDue(topic.index)
        if let value = record.value {
            decoder.begin(ByteView(value), schema: topic.schema)
            while let outcome = decoder.next(into: &event, hint: { topic.hint(record) }) {
                switch outcome {
                case .event:
                    if isSampled { try checkKey(record, topic) }
                    judge(record, topic)
                case .skipped:
                    count(.skipped)
                case .rejected(let rejection):
                    count(.deadLetter(rejection.code))
                    deadLetters.append(record, of: topic.name, decoder, rejection, stage: "decode")
                }
            }
        } else {
            count(.skipped)
        }
        records.append(Judged(topic: topic.index, offset: record.offset, codesEnd: codes.count))
    }

    /// Adds the events that wait, so that the state has all records that were taken.
    ///
    /// - Parameter log: gets the codes of the events of each record since the last call, and the number of its topic.
    func finish(_ log: (_ codes: UnsafeBufferPointer<UInt8>, _ topic: Int, _ offset: Int64) -> Void) {
        addWaiting()
        codes.withUnsafeBufferPointer { codes in
            var start = 0
            for record in records {
                log(UnsafeBufferPointer(rebasing: codes[start..<record.codesEnd]), record.topic, record.offset)
                start = record.codesEnd
            }
        }
        codes.removeAll(keepingCapacity: true)
        records.removeAll(keepingCapacity: true)
    }

    private func judge(_ record: ConsumedRecord, _ topic: InputTopic) {
        let recordTime = record.timestampMilliseconds
        if codePlaces.isEmpty { highestMark = state.watermark }
        if state.wouldTake(event.time, recordTime: recordTime, watermark: highestMark) { return wait() }
        // It is refused, or would be if the watermark rises as far as it may; how far it does, and says in the dead letter, shows now.
        addWaiting()
        let verdict = state.take(event, recordTime: recordTime)
        codes.append(verdict.code)
        guard case .deadLetter(let code) = verdict else { return }
        let rejection = Rejection(
            code: code, message: AcceptanceMessage.text(code, event, watermark: state.watermark))
        deadLetters.append(record, of: topic.name, decoder, rejection, stage: "accept")
    }

    private func wait() {
        highestMark = max(highestMark, event.time)
        let hash = event.userID.hash64
        state.fetchAhead(userHash: hash, distance: 3)
        waiting.append(event, userHash: hash)
        codePlaces.append(codes.count)
        codes.append(Verdict.accepted.code)
        if codePlaces.count >= EventIntake.limit { addWaiting() }
    }

    private func addWaiting() {
        guard !codePlaces.isEmpty else { return }
        state.take(passing: waiting) { codes[codePlaces[$0]] = Verdict.duplicate.code }
        waiting.removeAll()
        codePlaces.removeAll(keepingCapacity: true)
    }

    private func count(_ verdict: Verdict) {
        state.count(verdict)
        codes.append(verdict.code)
    }

    private func checkKey(_ record: ConsumedRecord, _ topic: InputTopic) throws(RunFailure) {
        let place = KeyCheck.Place(topic: topic.name, partition: record.partition, offset: record.offset)
        try keyCheck?.check(key: record.key, userID: event.userID, at: place)
    }
}
