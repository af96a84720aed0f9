internal import TidemarkEvents

/// Splits a body into its events without copying them. Knows neither HTTP nor Kafka; used by one thread at a time.
///
/// ```swift
/// guard splitter.begin(body) == .events else { … }
/// while let outcome = splitter.next(into: &event) { … }
/// ```
///
/// An event is refused for the same reasons for which `run` would make it a dead letter, and of types that the rules do not know
/// only when it is no event at all.
final class BatchSplitter {
    /// How many readable bytes must follow a body.
    static var padding: Int { EventDecoder.padding }

    private let decoder: EventDecoder
    private let eventBytes: Int
    private var event = Event()
    private var hint = TypeHint.none
    /// The outcome of a body that is one event, which `begin` has looked at.
    private var first: PostedOutcome?

    /// - Parameters:
    ///   - bodyBytes: the largest body.
    ///   - eventBytes: the largest event.
    init(bodyBytes: Int, eventBytes: Int) {
        decoder = EventDecoder(limits: DecoderLimits(maxRecordBytes: bodyBytes))
        self.eventBytes = eventBytes
    }

    /// Starts on a body, which must stay in place until the next `begin`, with `padding` readable bytes behind it.
    ///
    /// - Parameter hint: the type of events that do not name theirs.
    func begin(_ body: ByteView, hint: TypeHint = .none) -> PostedBody {
        first = nil
        self.hint = hint
        guard !BatchSplitter.isBlank(body) else { return .nothing }
        // The decoder knows Avro by its first bytes, too; none of them begins JSON.
        guard let first = body.start?.pointee, ![0x00, 0xC3, UInt8(ascii: "O")].contains(first) else {
            return .unreadable(.notJSON)
        }
        return decoder.begin(body, hint: hint, padded: true) == .batch ? .events : beginLone()
    }

    /// Moves to the next event.
    ///
    /// - Returns: what becomes of it, or `nil` after the last one.
    func next(into posted: inout PostedEvent) -> PostedOutcome? {
        let outcome = first ?? advance()
        first = nil
        guard let outcome else { return nil }
        let label = decoder.elementLabel
        posted.value = decoder.elementBytes()
        posted.key = label.userID
        posted.type = label.type.isNull ? hint.header : label.type
        guard posted.value.count > eventBytes else { return outcome }
        return .refused(.eventTooLarge(posted.value.count, eventBytes), index: decoder.elementIndex)
    }

    /// A body that is no batch must at least say what type of event it is, or else it is something altogether different.
    private func beginLone() -> PostedBody {
        guard let outcome = advance() else { return .unreadable(.noEvents) }
        guard case .refused(let rejection, _) = outcome, decoder.elementLabel.type.isNull, hint.header.isNull else {
            first = outcome
            return .events
        }
        return .unreadable(rejection.code == .missingField ? .noEvents : rejection)
    }

    private func advance() -> PostedOutcome? {
        switch decoder.next(into: &event) {
        case nil: nil
        case .event, .skipped: .event
        case .rejected(let rejection): .refused(rejection, index: decoder.elementIndex)
        }
    }

    private static func isBlank(_ body: ByteView) -> Bool {
        guard let start = body.start else { return true }
        return (0..<body.count).allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains(start[$0]) }
    }
}

extension Rejection {
    static func eventTooLarge(_ count: Int, _ limit: Int) -> Rejection {
        Rejection(
            code: .tooLarge,
            message:
                "the event has \(count) bytes, the limit is \(limit); raise limits.record_bytes and the input topic's "
                + "max.message.bytes to take it")
    }

    static var notJSON: Rejection {
        Rejection(code: .malformed, message: "not valid JSON: send one JSON text in UTF-8")
    }

    static var noEvents: Rejection {
        Rejection(
            code: .missingField,
            message:
                "the body holds no events: send {\"events\": […]}, an array of events, or one event with its event_type"
        )
    }
}
