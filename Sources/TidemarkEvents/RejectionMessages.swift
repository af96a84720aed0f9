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
                "the record has \(count) bytes, the limit is \(limits.maxRecordBytes); send smaller batches or raise limits.record_bytes"
        )
    }

    /// The place, and what is wrong there; simdjson, which judges, tells neither.
    static func notJSON(_ value: ByteView, _ code: Int32) -> Rejection {
        guard let (offset, mistake) = JSONScanner.firstMistake(in: value) else {
            return Rejection(
                code: .malformed, message: "not valid JSON: \(String(cString: tidemark_json_error_text(code)))")
        }
        let words = foreignEncoding(value) ?? mistake.rawValue
        return Rejection(code: .malformed, message: "not valid JSON at byte \(offset) of \(value.count): \(words)")
    }

    /// What a byte order mark gives away.
    private static func foreignEncoding(_ value: ByteView) -> String? {
        guard let start = value.start, value.count >= 3 else { return nil }
        switch (start[0], start[1], start[2]) {
        case (0xEF, 0xBB, 0xBF): return "leave out the byte order mark"
        case (0xFF, 0xFE, _), (0xFE, 0xFF, _): return "this looks like UTF-16; send UTF-8"
        default: return nil
        }
    }

    static var notARecord: Rejection {
        Rejection(
            code: .badType,
            message: "the record is JSON, but neither an object nor an array of events; send an event as an object")
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

    static func outOfRange(_ field: EventField, _ number: Int64, _ words: ValueWords) -> Rejection {
        // Larger ones are read as the greatest of 64 bits; Avro has none.
        let found = number == .max && words == .json ? "\(number) or more" : "\(number)"
        let isMilliseconds = field == .time && (1_000_000_000_000..<10_000_000_000_000).contains(number)
        let advice = isMilliseconds ? "; milliseconds have to be divided by 1,000" : ""
        return Rejection(code: .badType, message: "\(field.name) must be \(field.expectation), found \(found)\(advice)")
    }

    static func fieldTooLong(_ field: EventField, _ length: Int, _ limit: Int) -> Rejection {
        Rejection(code: .tooLarge, message: "\(field.name) has \(length) bytes, the limit is \(limit); shorten it")
    }
}
