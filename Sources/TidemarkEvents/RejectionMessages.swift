internal import CTidemark

/// The decoder's refusals in words. All of this runs on the cold path only.
extension Rejection {
    static var emptyValue: Rejection {
        Rejection(code: .malformed, message: "empty value: a record must hold a JSON object or array")
    }

    static func recordTooLarge(_ count: Int, _ limits: DecoderLimits) -> Rejection {
        Rejection(
            code: .tooLarge,
            message:
                "the record has \(count) bytes, the limit is \(limits.maxRecordBytes); send smaller batches or raise it"
        )
    }

    /// simdjson's words, and the place, which simdjson does not tell.
    static func notJSON(_ value: ByteView, _ code: Int32) -> Rejection {
        let text = String(cString: tidemark_json_error_text(code))
        let place = JSONScanner.firstError(in: value).map { " (byte \($0) of \(value.count))" } ?? ""
        let advice = hasByteOrderMark(value) ? "leave out the byte order mark" : "send one JSON text in UTF-8"
        return Rejection(code: .malformed, message: "not valid JSON: \(trimmed(text))\(place); \(advice)")
    }

    static var notARecord: Rejection {
        Rejection(code: .badType, message: "the record is JSON, but neither an object nor an array of events")
    }

    static func notAnEvent(_ kind: UInt8) -> Rejection {
        Rejection(code: .badType, message: "an event must be a JSON object, found \(JSONKind.text(kind))")
    }

    static var nestedBatch: Rejection {
        Rejection(code: .badType, message: "a batch inside a batch: send its events in the outer one, or on their own")
    }

    static func missing(_ field: EventField, _ kind: UInt8) -> Rejection {
        let state =
            switch kind {
            case JSONKind.null: "null"
            case JSONKind.empty: "empty"
            default: "missing"
            }
        let advice =
            field == .eventType
            ? "name the type in the record, in the type header, or by the topic"
            : "every event of this type must have it"
        return Rejection(code: .missingField, message: "\(field.name) is \(state); \(advice)")
    }

    static func badType(_ field: EventField, _ kind: UInt8, _ words: ValueWords) -> Rejection {
        Rejection(
            code: .badType, message: "\(field.name) must be \(field.expectation), found \(JSONKind.text(kind, words))")
    }

    static func outOfRange(_ field: EventField, _ number: Int64) -> Rejection {
        Rejection(code: .badType, message: "\(field.name) must be \(field.expectation), found \(number)")
    }

    static func fieldTooLong(_ field: EventField, _ length: Int, _ limit: Int) -> Rejection {
        Rejection(code: .tooLarge, message: "\(field.name) has \(length) bytes, the limit is \(limit); shorten it")
    }

    private static func hasByteOrderMark(_ value: ByteView) -> Bool {
        guard let start = value.start, value.count >= 3 else { return false }
        return start[0] == 0xEF && start[1] == 0xBB && start[2] == 0xBF
    }

    /// Without the full stop at the end, so that the place can follow.
    private static func trimmed(_ text: String) -> Substring {
        text.last == "." ? text.dropLast() : text[...]
    }
}
