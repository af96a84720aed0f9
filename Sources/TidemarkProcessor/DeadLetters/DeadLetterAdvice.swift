internal import TidemarkEvents

extension DeadLetter {
    /// What the code means, and what can be done about dead letters that have it.
    public var advice: String {
        switch rejection {
        case .malformed:
            "The value is not one JSON text in UTF-8, so that nothing of it could be read. Mend the producer; repair what it sent with `tidemark dlq "
                + "export` and `tidemark dlq import`."
        case .missingField:
            "A field that every event of this type must have is absent, null or empty. Mend the producer; add the field with `tidemark dlq export` and "
                + "`tidemark dlq import`."
        case .badType:
            "A field is of another JSON type than it must be, or outside its range; values are not guessed at. Mend the producer; repair what it sent "
                + "with `tidemark dlq export` and `tidemark dlq import`."
        case .unknownSchema:
            "The schema that the value was written with was not found. Register it, then `tidemark dlq redrive --code unknown_schema`."
        case .tooLarge:
            "The record, or one of its fields, is above its limit. A whole record: raise limits.record_bytes, then `tidemark dlq redrive --code "
                + "too_large`. A field: shorten it with `tidemark dlq export` and `tidemark dlq import`."
        case .futureDated:
            "The event's time was further ahead of its record's than attribution.future_tolerance allows: the clock of the producer, or the unit of its "
                + "time, is wrong. Once its time has come, `tidemark dlq redrive --code future_dated` feeds it; a wrong time is mended with `tidemark dlq "
                + "export` and `tidemark dlq import`."
        case .late:
            "The event came later behind the watermark of its partition than attribution.allowed_lateness allows. `tidemark replay` counts it. To have it in "
                + "the live report, allow more lateness, `tidemark reset`, and let `run` read the input again."
        case nil:
            "A newer version of Tidemark has written it: that one explains it."
        }
    }
}
