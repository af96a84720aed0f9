/// Why a record, or an event of a batch, goes to the dead-letter topic. The raw value is the text of the error header.
public enum RejectionCode: String, CaseIterable, Sendable {
    /// Not UTF-8, not JSON, nested too deeply, or empty.
    case malformed
    /// A required field is absent, null or empty.
    case missingField = "missing_field"
    /// A field, or the record itself, is of the wrong JSON type or outside its range.
    case badType = "bad_type"
    /// The writer's schema cannot be found or resolved.
    case unknownSchema = "unknown_schema"
    /// The record or one of its fields exceeds a limit.
    case tooLarge = "too_large"
    /// Too far ahead of the record's timestamp.
    case futureDated = "future_dated"
    /// Older than the watermark less the allowed lateness.
    case late

    /// A number that never changes, for compact storage.
    public var number: UInt8 {
        switch self {
        case .malformed: 1
        case .missingField: 2
        case .badType: 3
        case .unknownSchema: 4
        case .tooLarge: 5
        case .futureDated: 6
        case .late: 7
        }
    }

    /// The code with this `number`, or `nil`.
    public init?(number: UInt8) {
        guard let code = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = code
    }
}

/// A refusal in words: what is wrong, with which field, where, and what to do about it. Built on the cold path only.
public struct Rejection: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason by name.
    public var code: RejectionCode
    /// The reason in a sentence or two, for people.
    public var message: String

    /// A refusal with this code and message.
    public init(code: RejectionCode, message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message.
    public var description: String { "\(code.rawValue): \(message)" }
}

/// What became of one event of a record.
public enum DecodedEvent: Equatable, Sendable {
    /// Well formed: its fields are in the caller's `Event`.
    case event
    /// Of a type that the rules do not name; none of its fields was looked at.
    case skipped
    /// Cannot be used; the event's own bytes are `EventDecoder.elementBytes()`.
    case rejected(Rejection)
}
