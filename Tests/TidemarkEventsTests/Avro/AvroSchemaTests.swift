import Testing

@testable import TidemarkEvents

/// Parsing schemas: names, canonical form, fingerprints, and what is no schema.
@Suite struct AvroSchemaTests {
    @Test(arguments: [
        ("dataexport.S3.inner.users.messages.pushnotification.Send", TopicType.known(.pushSend)),
        ("users.canvas.Entry", .known(.canvasEntry)), ("acme.campaigns.Conversion", .known(.campaignConversion)),
        ("acme.behaviors.app.SessionStart", .known(.sessionStart)),
        ("x.users.users.canvas.Entry", .known(.canvasEntry)),
        ("dataexport.S3.inner.users.messages.email.Open", .unknown), ("a.agentconsole.AgentExecuted", .unknown),
        ("com.acme.users.Login", .unknown), ("com.acme.users.login", .none), ("com.acme.Push", .none), ("Entry", .none),
    ])
    func typeFromTheName(name: String, type: TopicType) throws {
        let schema = try AvroSchema(json: "{\"type\":\"record\",\"name\":\"\(name)\",\"fields\":[]}")
        #expect(schema.eventType == type)
        #expect(schema.name == name)
    }

    @Test func typeFromNamespaceOrAlias() throws {
        let spaced = #"{"type":"record","name":"Entry","namespace":"a.users.canvas","fields":[]}"#
        #expect(try AvroSchema(json: spaced).eventType == .known(.canvasEntry))
        let alias = #"{"type":"record","name":"a.Push","aliases":["b.users.canvas.Entry"],"fields":[]}"#
        #expect(try AvroSchema(json: alias).eventType == .known(.canvasEntry))
        let inner = #"{"type":"record","name":"a.users.canvas.Push","aliases":["Entry"],"fields":[]}"#
        #expect(try AvroSchema(json: inner).eventType == .known(.canvasEntry))
    }

    /// The event's own field comes before the schema's name, that before the header, the header before the topic.
    @Test func whoNamesTheType() throws {
        let named = recordSchema(plainFields + [("event_type", #"["null","string"]"#)])
        let nameless =
            #"{"type":"record","name":"Any","fields":["#
            + #"{"name":"id","type":"string"},{"name":"user_id","type":"string"},{"name":"time","type":"int"}]}"#
        let own = Datum.record(plainValues + [.union(1, .text("users.canvas.Entry"))]).encoded
        let none = Datum.record(plainValues + [.union(0, .null)]).encoded
        let plain = Datum.record(plainValues).encoded
        let header = EventType.pushOpen.wireName
        #expect(try decodeAvro(own, named, header: header) == expected(type: .canvasEntry))
        #expect(try decodeAvro(none, named, header: header) == expected())
        #expect(
            try decodeAvro(plain, nameless, header: header, topic: .known(.pushBounce)) == expected(type: .pushOpen))
        #expect(try decodeAvro(plain, nameless, topic: .known(.pushBounce)) == expected(type: .pushBounce))
        #expect(try decodeAvro(plain, nameless, topic: .unknown) == [.skipped])
        #expect(try decodeAvro(plain, nameless).map(\.code) == [.missingField])
        let email = recordSchema(plainFields, name: "users.messages.email.Open")
        #expect(try decodeAvro(plain, email, header: header) == [.skipped])
    }

    static let fingerprints: [(String, UInt64)] = [
        ("\"null\"", 0x63DD_24E7_CC25_8F8A), (#"{"type":"int"}"#, 0x7275_D51A_3F39_5C8F),
        ("\"string\"", 0x8F01_4872_6345_03C7),
    ]

    @Test(arguments: fingerprints) func fingerprintsAsTheSpecificationHasThem(schema: String, value: UInt64) throws {
        #expect(try AvroSchema(json: schema).fingerprint == value)
    }

    @Test func whatDoesNotMatterIsNotInTheCanonicalForm() throws {
        let schema = """
            {"doc":"…","aliases":["x.Y"],"fields":[{"default":null,"type":["null",{"type":"string","x":1}],"name":"a"},
             {"name":"b","type":{"type":"fixed","size":16,"name":"F"}},{"name":"c","type":{"type":"array","items":"F"}},
             {"name":"d","type":{"values":{"symbols":["s","t"],"name":"E","type":"enum","namespace":""},"type":"map"}},
             {"name":"e","type":["null","n.R"]}],"name":"R","namespace":"n","type":"record"}
            """
        var parser = AvroSchemaParser()
        let root = try parser.parse(schema)
        let form =
            #"{"name":"n.R","type":"record","fields":[{"name":"a","type":["null","string"]},"#
            + #"{"name":"b","type":{"name":"n.F","type":"fixed","size":16}},"#
            + #"{"name":"c","type":{"type":"array","items":"n.F"}},"#
            + #"{"name":"d","type":{"type":"map","values":{"name":"E","type":"enum","symbols":["s","t"]}}},"#
            + #"{"name":"e","type":["null","n.R"]}]}"#
        #expect(AvroCanonicalForm.text(of: root, in: parser.types) == form)
    }

    static let unusable: [(String, String)] = [
        ("", "the schema is not valid JSON"), ("{", "the schema is not valid JSON"),
        ("7", "the schema: a type must be a string, an object or an array"),
        ("{}", "the schema: an object that defines a type must have `type`"),
        ("\"Unheard\"", "the schema: there is no type `Unheard`; it has to be defined before it is named"),
        ("[]", "the schema: a union must have a branch"),
        ("[\"int\",\"int\"]", "the schema: a union cannot have `int` twice"),
        ("[\"int\",[\"null\"]]", "the schema: a union cannot hold a union"),
        (#"{"type":"array"}"#, "the schema: the array must have `items`"),
        (#"{"type":"map"}"#, "the schema: the map must have `values`"),
        (#"{"type":"record","fields":[]}"#, "the schema: the record must have a `name`"),
        (#"{"type":"record","name":"R"}"#, "the schema: record `R` must have an array `fields`"),
        (
            #"{"type":"record","name":"R","fields":[{"name":"a"}]}"#,
            "the schema: each field of record `R` must be an object with `name` and `type`"
        ),
        (
            #"{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}"#,
            "the schema: record `R` has the field `a` twice"
        ),
        (
            #"{"type":"record","name":"R","fields":[{"name":"a","type":"Text"}]}"#,
            "field `a` of record `R`: there is no type `Text`; it has to be defined before it is named"
        ),
        (#"{"type":"enum","name":"E"}"#, "the schema: enum `E` must have `symbols`, an array of strings"),
        (#"{"type":"fixed","name":"F","size":-1}"#, "the schema: fixed `F` must have `size`, a number of bytes"),
        (#"{"type":"fixed","name":"F","size":1e30}"#, "the schema: fixed `F` must have `size`, a number of bytes"),
        (
            #"{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}"#,
            "record `R` holds itself without an end"
        ),
        (#"{"type":"record","name":"int","fields":[]}"#, "the schema: `int` is the name of a primitive type"),
    ]

    @Test(arguments: unusable) func schemasThatAreNone(text: String, reason: String) {
        #expect(throws: AvroSchema.Failure(description: reason)) { try AvroSchema(json: text) }
    }

    @Test func deeplyNestedSchemasAreRefused() {
        for depth in [63, 70, 400, 600, 100_000] {
            let open = String(repeating: #"{"type":"array","items":"#, count: depth)
            let text = open + "\"int\"" + String(repeating: "}", count: depth)
            #expect((try? AvroSchema(json: text)) == nil || depth == 63, "\(depth)")
        }
    }

    /// A chain of records is no deeper as JSON than one of them, but values of it would be.
    @Test func chainsOfRecordsAreRefusedValueByValue() throws {
        let chain = (0..<300).reversed().map { index in
            let field = index == 299 ? "\"int\"" : "\"R\(index + 1)\""
            return "{\"type\":\"record\",\"name\":\"R\(index)\",\"fields\":[{\"name\":\"a\",\"type\":\(field)}]}"
        }
        for (first, code) in [(0, RejectionCode.malformed), (150, nil)] {
            let schema = recordSchema(plainFields + [("stranger", "\"R\(first)\"")])
            let decoder = EventDecoder()
            decoder.add(.avro(try AvroSchema(json: schema, references: chain)), forID: 7)
            let datum = Datum.record(plainValues + [.long(1)]).encoded
            #expect(decode(framed(datum), with: decoder).map(\.code) == [code])
        }
    }
}
