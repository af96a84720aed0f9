import Testing

@testable import TidemarkEvents

/// What Avro values are refused for: the same as JSON, with the same codes.
@Suite struct AvroRefusalTests {
    private func refusal(_ outcomes: [Outcome]) -> String? {
        guard outcomes.count == 1, case .rejected(let code, let message, _) = outcomes[0] else { return nil }
        return "\(code.rawValue): \(message)"
    }

    private func refusal(_ field: String, _ type: String, _ value: Datum) throws -> String? {
        refusal(try decodeField(field, type, value))
    }

    @Test func valuesOfTheWrongType() throws {
        #expect(
            try refusal("platform", "\"int\"", .long(3))
                == "bad_type: platform must be a string or null, found an int or long")
        #expect(
            try refusal("platform", #"["null","boolean"]"#, .union(1, .boolean(true)))
                == "bad_type: platform must be a string or null, found a boolean")
        #expect(
            try refusal("app_id", #"{"type":"map","values":"int"}"#, .map([("a", .long(1))]))
                == "bad_type: app_id must be a string or null, found a record, map or fixed")
        #expect(
            try refusal("app_id", #"{"type":"array","items":"int"}"#, .array([]))
                == "bad_type: app_id must be a string or null, found an array")
        #expect(
            try refusal("conversion_behavior_index", "\"double\"", .double(1))
                == "bad_type: conversion_behavior_index must be an integer 0 to 3, or null, found a float or double")
        #expect(
            try refusal("conversion_behavior_index", "\"long\"", .long(4))
                == "bad_type: conversion_behavior_index must be an integer 0 to 3, or null, found 4")
        #expect(
            try refusal("in_control_group", "\"string\"", .text("true"))
                == "bad_type: in_control_group must be true, false or null, found a string")
        #expect(
            try refusal("event_type", "\"int\"", .long(1))
                == "bad_type: event_type must be a string or null, found an int or long")
    }

    @Test func requiredFieldsThatAreNotThere() throws {
        let advice = "every event of this type must have it"
        for (index, name) in ["id", "user_id", "time"].enumerated() {
            var (fields, values) = (plainFields, plainValues)
            fields.remove(at: index)
            values.remove(at: index)
            let absent = try decodeAvro(Datum.record(values).encoded, recordSchema(fields))
            #expect(refusal(absent) == "missing_field: \(name) is missing; \(advice)")
            let nullable = name == "time" ? #"["null","int"]"# : #"["null","string"]"#
            let null = try decodeAvro(
                Datum.record(values + [.union(0, .null)]).encoded, recordSchema(fields + [(name, nullable)]))
            #expect(refusal(null) == "missing_field: \(name) is null; \(advice)")
        }
        let empty = try decodeAvro(
            Datum.record([.text(""), .text("u"), .long(1)]).encoded, recordSchema(plainFields))
        #expect(refusal(empty) == "missing_field: id is empty; \(advice)")
        let session = recordSchema(plainFields, name: "users.behaviors.app.FirstSession")
        #expect(
            refusal(try decodeAvro(Datum.record(plainValues).encoded, session))
                == "missing_field: session_id is missing; \(advice)")
    }

    @Test(arguments: [-1, Int64(Int32.max) + 1, .max, .min]) func timesOutOfRange(time: Int64) throws {
        let fields = [("id", "\"string\""), ("user_id", "\"string\""), ("time", "\"long\"")]
        let datum = Datum.record([.text("e"), .text("u"), .long(time)]).encoded
        #expect(
            refusal(try decodeAvro(datum, recordSchema(fields)))
                == "bad_type: time must be an integer: seconds since the epoch, 0 to 2147483647, found \(time)")
    }

    @Test func fieldsAndRecordsThatAreTooLong() throws {
        let schema = recordSchema(plainFields + [("campaign_name", "\"string\"")])
        func outcomes(_ size: Int) throws -> [Outcome] {
            let datum = Datum.record(plainValues + [.text(String(repeating: "n", count: size))]).encoded
            return try decodeAvro(datum, schema, limits: DecoderLimits(maxRecordBytes: 80_000))
        }
        #expect(try outcomes(65_535).first?.fields?["campaign_name"]?.count == 65_535)
        #expect(
            refusal(try outcomes(65_536))
                == "too_large: campaign_name has 65536 bytes, the limit is 65535; shorten it")
        #expect(try outcomes(80_000).map(\.code) == [.tooLarge])
    }

    @Test func aSchemaThatIsNotOfRecords() throws {
        for (schema, name) in [("\"string\"", "string"), (#"["null","int"]"#, "union")] {
            #expect(
                refusal(try decodeAvro([0x02, 0x61], schema))
                    == "bad_type: the writer schema is \(name): events are records, or a union of records")
        }
    }

    /// Each is one broken value of the field `platform` behind the 18 bytes of the other fields and the frame.
    static let broken: [(String, [UInt8], String)] = [
        ("\"string\"", [], "it ends in the middle in field platform (byte 18 of 18)"),
        ("\"string\"", [0x80], "it ends in the middle in field platform (byte 19 of 19)"),
        ("\"string\"", [0x01], "a negative length in field platform (byte 18 of 19)"),
        ("\"string\"", [0x04, 0x61], "a length beyond its end in field platform (byte 18 of 20)"),
        (
            "\"string\"", Datum.varint(.max), "a length beyond its end in field platform (byte 18 of 28)"
        ),
        ("\"string\"", Datum.varint(.min), "a negative length in field platform (byte 18 of 28)"),
        (
            "\"string\"", [UInt8](repeating: 0xFF, count: 10) + [1],
            "a number of more than 64 bits in field platform (byte 18 of 29)"
        ),
        (
            "\"long\"", [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02],
            "a number of more than 64 bits in field platform (byte 18 of 28)"
        ),
        ("\"string\"", [0x06, 0x61, 0xC3, 0x28], "text that is not UTF-8 in field platform (byte 20 of 22)"),
        ("\"string\"", [0x06, 0xED, 0xA0, 0x80], "text that is not UTF-8 in field platform (byte 19 of 22)"),
        ("\"int\"", Datum.varint(1 << 31), "an int of more than 32 bits in field platform (byte 18 of 23)"),
        ("\"boolean\"", [2], "a boolean that is neither 0 nor 1 in field platform (byte 18 of 19)"),
        (
            #"["null","string"]"#, [0x04],
            "a union branch that the schema does not have in field platform (byte 18 of 19)"
        ),
        (
            #"["null","string"]"#, [0x01],
            "a union branch that the schema does not have in field platform (byte 18 of 19)"
        ),
        (
            #"{"type":"enum","name":"E","symbols":["a"]}"#, [0x02],
            "an enum symbol that the schema does not have in field platform (byte 18 of 19)"
        ),
        ("\"double\"", [1, 2, 3], "it ends in the middle in field platform (byte 21 of 21)"),
        (
            #"{"type":"array","items":"int"}"#, Datum.varint(1 << 60) + [0],
            "more items than fit into its bytes in field platform (byte 18 of 28)"
        ),
        (
            #"{"type":"map","values":"null"}"#, Datum.varint(.min) + [0, 0],
            "more items than fit into its bytes in field platform (byte 18 of 30)"
        ),
        (#"{"type":"array","items":"int"}"#, [0x01], "it ends in the middle in field platform (byte 19 of 19)"),
        ("\"string\"", [0x02, 0x61, 0x00], "bytes are left over (byte 20 of 21)"),
    ]

    @Test(arguments: broken) func brokenValues(type: String, bytes: [UInt8], words: String) throws {
        let fields = recordSchema(plainFields + [("platform", type)])
        for skipped in [false, true] {
            let schema = skipped ? fields.replacingName("platform", "stranger") : fields
            let outcomes = try decodeAvro(Datum.record(plainValues + [.fixed(bytes)]).encoded, schema)
            let said = skipped ? words.replacingName("platform", "stranger") : words
            #expect(
                refusal(outcomes)
                    == "malformed: not a value of its writer schema made.up.users.messages.pushnotification.Send: \(said); "
                    + "send each value with the schema it was written by")
        }
    }

    @Test func itemsOfNoSizeAreCountedInNoTime() throws {
        let bytes = Datum.varint(.max) + Datum.varint(.max - 1) + Datum.varint(.min) + [0] + [0]
        for items in ["\"null\"", #"{"type":"record","name":"N","fields":[{"name":"a","type":"null"}]}"#] {
            let type = "{\"type\":\"array\",\"items\":\(items)}"
            #expect(try decodeField("stranger", type, .fixed(bytes)) == expected())
        }
    }

    @Test func valuesThatAreNestedTooDeep() throws {
        let type = #"{"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]}]}"#
        func outcomes(_ depth: Int) throws -> [Outcome] {
            try decodeField("stranger", type, .fixed([UInt8](repeating: 2, count: depth) + [0]))
        }
        #expect(try outcomes(90) == expected())
        #expect(
            try refusal(outcomes(4_000_000 / 2))?.contains("values nested deeper than 200 in field stranger") == true)
    }
}

extension String {
    func replacingName(_ name: String, _ other: String) -> String {
        split(separator: name, omittingEmptySubsequences: false).joined(separator: other)
    }
}
