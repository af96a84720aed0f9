internal import TidemarkAttribution
internal import TidemarkEvents
internal import TidemarkRegistry

/// Decodes pieces: events go to buffers by user, everything else is counted.
final class ReplayDecoder {
    /// What became of a piece, beside its events.
    struct Outcome {
        var eventCount = 0
        var counts = VerdictCounts()
        var lineCount = 0
        /// The first refusals, with the numbers of their records.
        var refusals: [(number: Int, rejection: Rejection)] = []
    }

    private let acceptance: Acceptance
    private let decoder: EventDecoder
    /// Where writer schemas come from; `nil` without a registry.
    private let registry: SchemaFetcher?
    private var event = Event()

    init(_ rules: AttributionRules, limits: DecoderLimits, schemas: [AvroSchema], registry: SchemaFetcher?) {
        self.registry = registry
        acceptance = Acceptance(rules)
        decoder = EventDecoder(limits: limits, schemas: schemas)
    }

    func decode(_ piece: RecordPiece, into buffers: [EventBuffer]) -> Outcome {
        var outcome = Outcome()
        outcome.lineCount = piece.forEach { record in
            if let damage = record.damage {
                outcome.eventCount += 1
                return refuse(damage, record, &outcome)
            }
            guard decoder.begin(record, registry) else {
                outcome.eventCount += 1
                return outcome.counts.count(.skipped)
            }
            while let decoded = decoder.next(into: &event) {
                outcome.eventCount += 1
                switch decoded {
                case .event: hand(record, to: buffers, &outcome)
                case .skipped: outcome.counts.count(.skipped)
                case .rejected(let rejection): refuse(decoder.located(rejection, in: record), record, &outcome)
                }
            }
        }
        return outcome
    }

    private func hand(_ record: RecordPiece.Record, to buffers: [EventBuffer], _ outcome: inout Outcome) {
        // Nothing is late here, so that no watermark is needed.
        if let code = acceptance.refusal(event.time, recordTime: record.time, watermark: 0) {
            let message = AcceptanceMessage.text(code, event, watermark: 0)
            return refuse(Rejection(code: code, message: message), record, &outcome)
        }
        let hash = event.userID.hash64
        buffers[ReplayDecoder.share(of: hash, among: buffers.count)].append(event, userHash: hash)
    }

    /// The part of the users that one is in, of `count` parts that are about as large. It depends on other bits of the hash than those that
    /// choose a user's place in its table.
    static func share(of userHash: UInt64, among count: Int) -> Int {
        (Int(truncatingIfNeeded: userHash >> 32 & 0xFFFF) * count) >> 16
    }

    private func refuse(_ rejection: Rejection, _ record: RecordPiece.Record, _ outcome: inout Outcome) {
        outcome.counts.count(.deadLetter(rejection.code))
        guard outcome.refusals.count < ReplayFigures.refusalLimit else { return }
        outcome.refusals.append((record.number, rejection))
    }
}

extension EventDecoder {
    /// Starts on a record of a piece; false where it has no value.
    func begin(_ record: RecordPiece.Record, _ registry: SchemaFetcher?) -> Bool {
        if let block = record.block {
            begin(block, hint: record.hint)
            return true
        }
        guard let value = record.value else { return false }
        if record.schema == nil { registry?.supply(self, for: value) }
        begin(value, hint: record.hint, padded: true, schema: record.schema)
        return true
    }

    /// A refusal that says which event of a block it is about; the place of the block alone would not tell.
    func located(_ rejection: Rejection, in record: RecordPiece.Record) -> Rejection {
        guard let block = record.block, let index = elementIndex else { return rejection }
        return Rejection(
            code: rejection.code, message: "\(rejection.message) (value \(index + 1) of \(block.valueCount))")
    }
}
