/// Refusals of Avro values in words. All of this runs on the cold path only.
extension Rejection {
    static func notAvro(
        _ fault: AvroFault, schema: String, field: String?, at place: Int, of count: Int, _ what: String
    ) -> Rejection {
        let whereabouts = field.map { " in field \($0)" } ?? ""
        return Rejection(
            code: .malformed,
            message:
                "not a value of its writer schema \(schema): \(fault.words)\(whereabouts) (byte \(place) of \(count)\(what)); "
                + "send each value with the schema it was written by")
    }

    static func notARecordSchema(_ schema: AvroSchema) -> Rejection {
        Rejection(
            code: .badType,
            message: "the writer schema is \(schema.name): events are records, or a union of records")
    }

    static func shortFrame(_ count: Int) -> Rejection {
        Rejection(
            code: .malformed,
            message:
                "it begins as Avro with the name of its schema, but ends within that, after \(count) bytes; send whole values"
        )
    }

    static func brokenContainer(_ reason: String) -> Rejection {
        Rejection(code: .malformed, message: "not a whole Avro container file: \(reason); send or copy it again")
    }

    static func unusableSchema(_ reason: String) -> Rejection { Rejection(code: .unknownSchema, message: reason) }

    static func unknownSchema(fingerprint: UInt64) -> Rejection {
        let digits = String(fingerprint, radix: 16)
        let text = String(repeating: "0", count: 16 - digits.count) + digits
        return Rejection(
            code: .unknownSchema,
            message: "no configured schema has the fingerprint \(text); name its file under input.avro_schemas")
    }

    static func unknownSchema(id: UInt32, _ reason: String) -> Rejection {
        Rejection(code: .unknownSchema, message: "schema id \(id): \(reason)")
    }

    /// What is said where nobody has looked for a schema.
    static let noRegistry = "no schema registry is configured to ask for it"
}

extension AvroFault {
    /// What is wrong, as a part of a sentence.
    var words: String {
        switch self {
        case .none: "nothing"
        case .truncated: "it ends in the middle"
        case .negativeLength: "a negative length"
        case .beyondEnd: "a length beyond its end"
        case .overlongNumber: "a number of more than 64 bits"
        case .tooLargeForInt: "an int of more than 32 bits"
        case .notBoolean: "a boolean that is neither 0 nor 1"
        case .noSuchBranch: "a union branch that the schema does not have"
        case .noSuchSymbol: "an enum symbol that the schema does not have"
        case .notUTF8: "text that is not UTF-8"
        case .tooDeep: "values nested deeper than \(AvroCursor.maxDepth)"
        case .tooManyItems: "more items than fit into its bytes"
        case .bytesLeft: "bytes are left over"
        }
    }
}

extension TopicType {
    /// The families of event types, each the first part of a type or, after `users`, the second.
    private static let families: Set<Substring> = [
        "users", "campaigns", "canvas", "canvasstep", "messages", "behaviors", "profile", "agentconsole",
    ]

    /// The event type that the full name of a writer's record spells in its last parts, else one of its aliases.
    ///
    /// `dataexport.S3.inner.users.canvas.Entry` is a canvas Entry, and so is `acme.canvas.Entry`. A name that looks like an event type but is
    /// none of ours makes `unknown`, so that its records are skipped; any other says nothing.
    static func of(recordNames names: [String]) -> TopicType {
        let types = names.map { of(recordName: $0) }
        let known = types.first { if case .known = $0 { true } else { false } }
        return known ?? types.first { $0 == .unknown } ?? .none
    }

    private static func of(recordName name: String) -> TopicType {
        let parts = name.split(separator: ".")
        var looksLikeType = false
        for index in parts.indices.dropLast() where families.contains(parts[index]) {
            let suffix = parts[index...].joined(separator: ".")
            for candidate in [suffix, "users." + suffix] {
                if case .known(let type) = TopicType.named(candidate) { return .known(type) }
            }
            looksLikeType = looksLikeType || parts[parts.count - 1].utf8.first.map { $0 < 0x60 } ?? false
        }
        return looksLikeType ? .unknown : .none
    }
}
