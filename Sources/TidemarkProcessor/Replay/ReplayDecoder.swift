internal import TidemarkAttribution
internal import TidemarkEvents

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
    private var event = Event()

    init(_ rules: AttributionRules, limits: DecoderLimits) {
        acceptance = Acceptance(rules)
        decoder = EventDecoder(limits: limits)
    }

    func decode(_ piece: RecordPiece, into buffers: [EventBuffer]) -> Outcome {
        var outcome = Outcome()
        outcome.lineCount = piece.forEach { record in
            guard let value = record.value else {
                outcome.eventCount += 1
                return outcome.counts.count(.skipped)
            }
            decoder.begin(value, hint: record.hint, padded: true)
            while let decoded = decoder.next(into: &event) {
                outcome.eventCount += 1
                switch decoded {
                case .event: hand(record, to: buffers, &outcome)
                case .skipped: outcome.counts.count(.skipped)
                case .rejected(let rejection): refuse(rejection, record, &outcome)
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
        // Other bits than those that choose a user's place in its table.
        let hash = event.userID.hash64
        let share = (hash >> 32) & 0xFFFF
        buffers[Int(share) * buffers.count >> 16].append(event, userHash: hash)
    }

    private func refuse(_ rejection: Rejection, _ record: RecordPiece.Record, _ outcome: inout Outcome) {
        outcome.counts.count(.deadLetter(rejection.code))
        guard outcome.refusals.count < ReplayFigures.refusalLimit else { return }
        outcome.refusals.append((record.number, rejection))
    }
}
