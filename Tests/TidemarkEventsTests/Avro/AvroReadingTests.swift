import Testing

@testable import TidemarkEvents

/// Values of all kinds of writer schemas, and what comes of them.
@Suite struct AvroReadingTests {
    @Test func aSessionAsStorageWritesIt() throws {
        let schema = recordSchema(
            [
                ("id", "\"string\""), ("user_id", "\"string\""), ("external_user_id", #"["null","string"]"#),
                ("app_id", "\"string\""), ("time", "\"int\""), ("session_id", "\"string\""),
                ("platform", #"["null","string"]"#),
            ], name: "users.behaviors.app.SessionStart")
        let datum: [UInt8] = [
            0x06, 0x65, 0x2D, 0x31, 0x06, 0x75, 0x2D, 0x37, 0x00, 0x06, 0x61, 0x2D, 0x31, 0x80, 0xE4, 0xAD, 0x95, 0x0D,
            0x06, 0x73, 0x2D, 0x39, 0x02, 0x06, 0x69, 0x6F, 0x73,
        ]
        let fields = ["app_id": "a-1", "session_id": "s-9", "platform": "ios"]
        #expect(try decodeAvro(datum, schema) == expected(fields, type: .sessionStart))
    }

    @Test(arguments: [
        (#""string""#, Datum.text("x")), (#"{"type":"string","connect.doc":"…"}"#, .text("x")),
        (#"{"type":{"type":"string"}}"#, .text("x")), (#"["null","string"]"#, .union(1, .text("x"))),
        (#"["string","null"]"#, .union(0, .text("x"))), (#"["null",{"type":"string"}]"#, .union(1, .text("x"))),
        (#"["int","null","string"]"#, .union(2, .text("x"))), (#"["string"]"#, .union(0, .text("x"))),
        (#""bytes""#, .text("x")), (#"["null","bytes"]"#, .union(1, .text("x"))),
        (#"{"type":"string","logicalType":"uuid"}"#, .text("x")),
        (#"{"type":"enum","name":"E","symbols":["a","x"]}"#, .long(1)),
        (#"["null",{"type":"enum","name":"E","symbols":["x"]}]"#, .union(1, .long(0))),
    ])
    func textOfEverySpelling(type: String, value: Datum) throws {
        #expect(try decodeField("platform", type, value) == expected(["platform": "x"]))
    }

    @Test(arguments: [
        ("\"null\"", Datum.null), (#"["null","string"]"#, .union(0, .null)), (#"["string","null"]"#, .union(1, .null)),
        (#"["int","null"]"#, .union(1, .null)), ("\"string\"", .text("")),
        (#"["null","string"]"#, .union(1, .text(""))),
    ])
    func nullAndEmptyTextAreNothing(type: String, value: Datum) throws {
        #expect(try decodeField("platform", type, value) == expected())
    }

    @Test(arguments: [
        (#""int""#, Datum.long(3)), (#""long""#, .long(3)), (#"["null","int"]"#, .union(1, .long(3))),
        (#"["long","null"]"#, .union(0, .long(3))), (#"["null","string","int"]"#, .union(2, .long(3))),
        (#"{"type":"int"}"#, .long(3)),
    ])
    func numbersOfEverySize(type: String, value: Datum) throws {
        #expect(
            try decodeField("conversion_behavior_index", type, value) == expected(["conversion_behavior_index": "3"]))
    }

    @Test(arguments: [(#""boolean""#, Datum.boolean(true)), (#"["null","boolean"]"#, .union(1, .boolean(true)))])
    func booleans(type: String, value: Datum) throws {
        #expect(try decodeField("in_control_group", type, value) == expected(["in_control_group": "true"]))
    }

    @Test(arguments: [
        ("\"long\"", 1_767_225_600), (#"{"type":"long","logicalType":"timestamp-millis"}"#, 1_767_225_600_999),
        (#"{"type":"long","logicalType":"timestamp-micros"}"#, 1_767_225_600_999_999),
        (#"{"type":"long","logicalType":"timestamp-nanos"}"#, 1_767_225_600_999_999_999),
        (#"{"type":"long","logicalType":"something-else"}"#, 1_767_225_600),
    ])
    func timesInSecondsOrFiner(type: String, time: Int64) throws {
        let fields = [("time", type), ("id", "\"string\""), ("user_id", "\"string\"")]
        let datum = Datum.record([.long(time), .text("e-1"), .text("u-7")]).encoded
        #expect(try decodeAvro(datum, recordSchema(fields)) == expected())
    }

    static let strangers: [(String, Datum)] = [
        ("\"null\"", .null), ("\"boolean\"", .boolean(true)), ("\"int\"", .long(-5)), ("\"long\"", .long(.min)),
        ("\"float\"", .float(1.5)), ("\"double\"", .double(-2)), ("\"bytes\"", .bytes([0xFF, 0xFE])),
        ("\"string\"", .text("é")), (#"{"type":"fixed","name":"F","size":3}"#, .fixed([1, 2, 3])),
        (#"{"type":"fixed","name":"F0","size":0}"#, .fixed([])),
        (#"{"type":"enum","name":"E","symbols":["a","b"]}"#, .long(1)),
        (#"{"type":"array","items":"string"}"#, .array([.text("a"), .text("b")])),
        (#"{"type":"array","items":"null"}"#, .array([.null, .null])), (#"{"type":"array","items":"int"}"#, .array([])),
        (#"{"type":"map","values":["null","double"]}"#, .map([("k", .union(1, .double(1))), ("l", .union(0, .null))])),
        (
            #"{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"n","type":["null","R"]}]}"#,
            .record([.long(1), .union(1, .record([.long(2), .union(0, .null)]))])
        ),
        (#"["null","string"]"#, .union(0, .null)), (#"["null","string"]"#, .union(1, .text("x"))),
        (#"["string","null"]"#, .union(0, .text("x"))),
        (#"["null",{"type":"array","items":"long"}]"#, .union(0, .null)),
        (#"["null","int"]"#, .union(1, .long(9))), (#"["boolean"]"#, .union(0, .boolean(false))),
        (#"{"type":"record","name":"Nothing","fields":[]}"#, .record([])),
    ]

    /// Fields that the rules do not know are passed over, wherever they stand and whatever they hold.
    @Test(arguments: strangers) func fieldsThatNobodyReads(type: String, value: Datum) throws {
        for place in 0...plainFields.count {
            var (fields, values) = (plainFields, plainValues)
            fields.insert(("stranger", type), at: place)
            values.insert(value, at: place)
            #expect(try decodeAvro(Datum.record(values).encoded, recordSchema(fields)) == expected())
        }
    }

    @Test func blocksOfItemsWithTheirSizes() throws {
        let items: [UInt8] = [0x03, 0x04, 0x02, 0x61, 0x02, 0x62, 0x02, 0x02, 0x63, 0x00]
        let outcomes = try decodeField("stranger", #"{"type":"array","items":"string"}"#, .fixed(items))
        #expect(outcomes == expected())
    }

    @Test func aUnionOfRecordsAtTheTop() throws {
        let send = recordSchema(plainFields)
        let entry = recordSchema(plainFields, name: "users.canvas.Entry")
        let schema = "[\(send),\"null\",\(entry)]"
        let value = Datum.record(plainValues)
        #expect(try decodeAvro(Datum.union(0, value).encoded, schema) == expected())
        #expect(try decodeAvro(Datum.union(2, value).encoded, schema) == expected(type: .canvasEntry))
        #expect(try decodeAvro(Datum.union(1, .null).encoded, schema).map(\.code) == [.malformed])
    }

    @Test func fieldsAreAlsoKnownByTheirAliases() throws {
        let schema = """
            {"type":"record","name":"x.users.canvas.Entry","fields":[{"name":"id","type":"string"},{"name":"time","type":"int"},
            {"name":"uid","aliases":["user_id","id"],"type":"string"}]}
            """
        let datum = Datum.record([.text("e-1"), .long(1_767_225_600), .text("u-7")]).encoded
        #expect(try decodeAvro(datum, schema) == expected(type: .canvasEntry))
    }

    @Test func sharedTypesThatReferencesDefine() throws {
        let platform = #"{"type":"enum","name":"shared.Platform","symbols":["ios","web"]}"#
        let schema = recordSchema(plainFields + [("platform", "\"shared.Platform\"")])
        let decoder = EventDecoder()
        decoder.add(.avro(try AvroSchema(json: schema, references: [platform])), forID: 7)
        let datum = Datum.record(plainValues + [.long(1)]).encoded
        #expect(decode(framed(datum), with: decoder) == expected(["platform": "web"]))
    }
}
