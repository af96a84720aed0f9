import Testing

@testable import TidemarkEvents

/// Values whose schema is named by a fingerprint or by nothing, and how encodings are told apart.
@Suite struct FramingTests {
    private let plain = Datum.record(plainValues).encoded

    private func single(_ schema: AvroSchema, _ datum: [UInt8]) -> [UInt8] {
        [0xC3, 0x01] + withUnsafeBytes(of: schema.fingerprint.littleEndian) { Array($0) } + datum
    }

    private func decodeBare(_ value: [UInt8], _ schema: String, with decoder: EventDecoder = EventDecoder()) throws
        -> [Outcome]
    {
        let schema = try AvroSchema(json: schema)
        var event = Event()
        var outcomes: [Outcome] = []
        value.withUnsafeBytes { value in
            decoder.begin(ByteView(value), schema: schema)
            while let outcome = decoder.next(into: &event) {
                switch outcome {
                case .event: outcomes.append(.event(summary(of: event)))
                case .skipped: outcomes.append(.skipped)
                case .rejected(let rejection): outcomes.append(.rejected(rejection.code, rejection.message, bytes: ""))
                }
            }
        }
        return outcomes
    }

    @Test func singleObjectsOfConfiguredSchemas() throws {
        let send = try AvroSchema(json: recordSchema(plainFields))
        let entry = try AvroSchema(json: recordSchema(plainFields, name: "users.canvas.Entry"))
        let decoder = EventDecoder(schemas: [send, entry])
        for _ in 0..<2 {
            #expect(decode(single(send, plain), with: decoder) == expected())
            #expect(decode(single(entry, plain), with: decoder) == expected(type: .canvasEntry))
        }
        let cut = single(send, plain).dropLast()
        #expect(decode(Array(cut), with: decoder).map(\.code) == [.malformed])
        for count in 2..<10 {
            #expect(decode(Array(single(send, plain)[..<count]), with: decoder).map(\.code) == [.malformed])
        }
    }

    @Test func singleObjectsOfOtherSchemas() throws {
        let schema = try AvroSchema(json: "\"int\"")
        guard case .rejected(let code, let message, _) = decode(single(schema, [2]))[0] else {
            Issue.record("not refused")
            return
        }
        #expect(code == .unknownSchema)
        #expect(
            message
                == "no configured schema has the fingerprint 7275d51a3f395c8f; name its file under input.avro_schemas")
    }

    @Test func bareValues() throws {
        #expect(try decodeBare(plain, recordSchema(plainFields)) == expected())
        let nullable = recordSchema([("x", #"["null","string"]"#)] + plainFields)
        // What would be a schema id elsewhere is the number of the branch.
        #expect(try decodeBare([0] + plain, nullable) == expected())
        #expect(try decodeBare(Array(plain.dropLast()), recordSchema(plainFields)).map(\.code) == [.malformed])
        #expect(try decodeBare([], recordSchema(plainFields)).map(\.code) == [.malformed])
    }

    /// Line feeds, spaces and letters are lengths: 5, 16 and 40 bytes.
    @Test(arguments: [5, 16, 40]) func bareValuesThatBeginAsText(length: Int) throws {
        let id = String(repeating: "i", count: length)
        let datum = Datum.record([.text(id), .text("u-7"), .long(1_767_225_600)]).encoded
        #expect(try decodeBare(datum, recordSchema(plainFields)) == expected(["id": id]))
    }

    @Test func otherEncodingsWhereBareValuesAreExpected() throws {
        let schema = recordSchema(plainFields)
        #expect(try decodeBare(Array(flat().utf8), schema) == expected())
        #expect(try decodeBare(Array("[\(flat())]".utf8), schema) == expected())
        let other = try AvroSchema(json: recordSchema(plainFields, name: "users.canvas.Entry"))
        let decoder = EventDecoder(schemas: [other])
        #expect(try decodeBare(single(other, plain), schema, with: decoder) == expected(type: .canvasEntry))
        let file = container(schema, [[plain]])
        #expect(try decodeBare(file, schema) == expected())
    }

    /// A number may begin with any byte: then nothing else is looked for.
    @Test func bareValuesThatMayBeginWithABrace() throws {
        let fields = [("x", "\"int\"")] + plainFields
        for first in [-62, -46] as [Int64] {
            let datum = Datum.record([.long(first)] + plainValues).encoded
            #expect(datum[0] == UInt8(ascii: first == -62 ? "{" : "["))
            #expect(try decodeBare(datum, recordSchema(fields)) == expected())
        }
    }

    @Test func theOneSchemaThatIsReadMayChangeFromValueToValue() throws {
        let decoder = EventDecoder()
        for _ in 0..<3 {
            #expect(try decodeBare(plain, recordSchema(plainFields), with: decoder) == expected())
            #expect(
                try decodeBare(plain, recordSchema(plainFields, name: "users.canvas.Entry"), with: decoder)
                    == expected(type: .canvasEntry))
        }
    }

    @Test func whatBeginsLikeNoneOfThemIsJSON() {
        for text in ["Ob", "Obj", "Obj\u{2}", "Object", "\u{FEFF}{}", "x"] {
            guard case .rejected(.malformed, let message, _) = decode(text)[0] else {
                Issue.record("\(text)")
                continue
            }
            #expect(message.hasPrefix("not valid JSON"), "\(text)")
        }
    }
}
