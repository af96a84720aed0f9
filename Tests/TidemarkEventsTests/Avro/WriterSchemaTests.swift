import Testing

@testable import TidemarkEvents

/// Values with the id of a schema in a registry, and what the decoder asks its caller for.
@Suite struct WriterSchemaTests {
    private let value = framed(Datum.record(plainValues).encoded, id: 258)

    private func shape(_ value: [UInt8], _ decoder: EventDecoder) -> RecordShape {
        value.withUnsafeBytes { decoder.begin(ByteView($0)) }
    }

    private func refusal(_ reason: String) -> [Outcome] {
        [.rejected(.unknownSchema, "schema id 258: \(reason)", bytes: String(decoding: value, as: UTF8.self))]
    }

    @Test func aSchemaIsAskedForOnceAndThenUsed() throws {
        let decoder = EventDecoder()
        #expect(shape(value, decoder) == .schemaNeeded(258))
        #expect(shape(value, decoder) == .schemaNeeded(258))
        decoder.add(.avro(try AvroSchema(json: recordSchema(plainFields))), forID: 258)
        #expect(shape(value, decoder) == .event)
        #expect(decode(value, with: decoder) == expected())
        #expect(shape(framed([], id: 259), decoder) == .schemaNeeded(259))
        #expect(decode(value, with: decoder) == expected())
    }

    @Test func withoutAnAnswerTheRecordIsRefused() {
        #expect(decode(value) == refusal("no schema registry is configured to ask for it"))
    }

    @Test func anIDThatDoesNotExistIsRefusedUntilForgotten() throws {
        let decoder = EventDecoder()
        decoder.refuse(schemaID: 258, reason: "the registry does not have it")
        #expect(shape(value, decoder) == .unreadable)
        #expect(decode(value, with: decoder) == refusal("the registry does not have it"))
        decoder.forget(schemaID: 258)
        #expect(shape(value, decoder) == .schemaNeeded(258))
        decoder.refuse(schemaID: 258, reason: "the registry does not have it")
        decoder.add(.avro(try AvroSchema(json: recordSchema(plainFields))), forID: 258)
        #expect(decode(value, with: decoder) == expected())
    }

    @Test func schemasOfManyIDsInTurns() throws {
        let decoder = EventDecoder()
        let types = EventType.allCases.filter { !$0.isSession }
        for (id, type) in types.enumerated() {
            decoder.add(.avro(try AvroSchema(json: recordSchema(plainFields, name: type.wireName))), forID: UInt32(id))
        }
        for round in 0..<3 {
            for (id, type) in types.enumerated() {
                let record = framed(Datum.record(plainValues).encoded, id: UInt32(id))
                #expect(decode(record, with: decoder) == expected(type: type), "round \(round)")
            }
            #expect(decode(flat(), header: "", with: decoder) == expected())
        }
    }

    @Test func jsonBehindAnID() {
        let decoder = EventDecoder()
        decoder.add(.json, forID: 258)
        #expect(decode(framed(Array(flat().utf8), id: 258), with: decoder) == expected())
        let batch = "{\"events\":[\(flat()),\(flat(["id": nil]))]}"
        let outcomes = decode(framed(Array(batch.utf8), id: 258), with: decoder)
        #expect(outcomes.count == 2)
        #expect(outcomes[0] == expected()[0])
        guard case .rejected(.missingField, _, let bytes) = outcomes[1] else {
            Issue.record("\(outcomes[1])")
            return
        }
        #expect(bytes == flat(["id": nil]))
        #expect(decode(framed([], id: 258), with: decoder).map(\.code) == [.malformed])
    }

    @Test func valuesThatAreCutOffInTheID() {
        for count in 1...4 {
            let outcomes = decode(Array(value[..<count]))
            #expect(outcomes.map(\.code) == [.malformed], "\(count)")
        }
    }
}

func decode(_ record: String, header: String, with decoder: EventDecoder) -> [Outcome] {
    decode(Array(record.utf8), header: header, with: decoder)
}
