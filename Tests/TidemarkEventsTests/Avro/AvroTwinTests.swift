import Testing

@testable import TidemarkEvents

/// The same event as JSON and as Avro, by random writer schemas: the same comes of both.
@Suite struct AvroTwinTests {
    /// A field of an event: what it holds in JSON and as an Avro value of some type.
    private struct Twin {
        var name: String
        var json: String
        var type: String
        var value: Datum
    }

    private static let texts = [
        "", "x", "c0ffee00-1111-4222-8333-444444444444", "iOS", "Frühling 🌷", String(repeating: "long ", count: 30),
        "seven77", "eight888", "nine99999", "sixteen-letters.", "日本語の名前",
    ]

    private static func twin(_ field: EventField, _ random: inout SeededGenerator) -> Twin {
        // Now and then a value of a type that the field cannot have.
        let isWrong = Int.random(in: 0..<100, using: &random) == 0
        let shape = isWrong ? EventField.allCases[Int.random(in: 0..<24, using: &random)] : field
        let (json, type, value): (String, String, Datum)
        switch shape {
        case .time, .conversionIndex:
            let number =
                field == .time
                ? Int64.random(in: 0...Int64(Int32.max), using: &random) : Int64.random(in: 0...3, using: &random)
            (json, type, value) = ("\(number)", Bool.random(using: &random) ? "int" : "long", .long(number))
        case .isInControlGroup:
            let bit = Bool.random(using: &random)
            (json, type, value) = ("\(bit)", "boolean", .boolean(bit))
        default:
            let text = texts.randomElement(using: &random)!
            (json, type, value) = ("\"\(text)\"", Bool.random(using: &random) ? "string" : "bytes", .text(text))
        }
        return spelled(field.name, json, type, value, &random)
    }

    /// Bare, or in a union with others; in JSON as it is or wrapped.
    private static func spelled(
        _ name: String, _ json: String, _ type: String, _ value: Datum, _ random: inout SeededGenerator
    ) -> Twin {
        let primitive = Bool.random(using: &random) ? "\"\(type)\"" : "{\"type\":\"\(type)\"}"
        guard Int.random(in: 0..<4, using: &random) > 0 else {
            return Twin(name: name, json: json, type: primitive, value: value)
        }
        var branches = [primitive, "\"null\""]
        if Bool.random(using: &random) { branches.append("\"float\"") }
        if Bool.random(using: &random) { branches.append("{\"type\":\"array\",\"items\":\"int\"}") }
        branches.shuffle(using: &random)
        let isNull = !["id", "user_id", "time"].contains(name) && Bool.random(using: &random)
        let branch = branches.firstIndex(of: isNull ? "\"null\"" : primitive)!
        let wrapper = type == "bytes" ? "string" : type
        let wrapped = Bool.random(using: &random) ? "{\"\(wrapper)\":\(json)}" : json
        return Twin(
            name: name, json: isNull ? "null" : wrapped, type: "[\(branches.joined(separator: ","))]",
            value: .union(branch, isNull ? .null : value))
    }

    private static func stranger(_ number: Int, _ random: inout SeededGenerator) -> Twin {
        let (type, value) = AvroReadingTests.strangers.randomElement(using: &random)!
        // Each definition needs a name of its own; "name":"a" and the like are fields.
        let renamed = ["F", "F0", "E", "R", "Nothing"].reduce(type) {
            $0.replacingName("\"\($1)\"", "\"\($1)x\(number)\"")
        }
        return Twin(name: "stranger_\(number)", json: "[\(number),{}]", type: renamed, value: value)
    }

    private static func twins(_ random: inout SeededGenerator) -> [Twin] {
        var fields = EventField.allCases.filter { $0.isChecked }
        fields.removeAll { field in
            field != .id && field != .userID && field != .time && Int.random(in: 0..<3, using: &random) == 0
        }
        var twins = fields.map { twin($0, &random) }
        for number in 0..<Int.random(in: 0..<5, using: &random) { twins.append(stranger(number, &random)) }
        twins.shuffle(using: &random)
        return twins
    }

    /// The field at fault and what is wrong are the same; how each encoding calls what was found is not.
    private func comparable(_ outcomes: [Outcome]) -> [Outcome] {
        outcomes.map { outcome in
            guard case .rejected(let code, let message, _) = outcome else { return outcome }
            return .rejected(code, String(message.split(separator: ",")[0]), bytes: "")
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func aRandomEventInBothEncodings(seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        var counts: [RejectionCode?: Int] = [:]
        for round in 0..<400 {
            let twins = Self.twins(&random)
            let type = EventType.allCases.randomElement(using: &random)!
            let members = ["\"event_type\":\"\(type.wireName)\""] + twins.map { "\"\($0.name)\":\($0.json)" }
            let schema = recordSchema(twins.map { ($0.name, $0.type) }, name: type.wireName)
            let datum = Datum.record(twins.map(\.value)).encoded
            let json = comparable(decode("{" + members.joined(separator: ",") + "}"))
            let avro = comparable(try decodeAvro(datum, schema))
            #expect(json == avro, "seed \(seed), round \(round): \(schema)")
            counts[avro[0].code, default: 0] += 1
        }
        #expect(counts[nil, default: 0] > 200)
        #expect(counts[.badType, default: 0] > 5)
    }

    /// Whatever the bytes are, the short steps and the plain ones say the same, at the same place, and nothing is read beyond the end.
    @Test(arguments: [11, 12, 13, 14] as [UInt64]) func fastPathsNeverDiffer(seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        var isWhole = 0
        for round in 0..<150 {
            let twins = Self.twins(&random)
            let schema = recordSchema(twins.map { ($0.name, $0.type) })
            let (fast, plain) = (EventDecoder(), EventDecoder())
            fast.add(.avro(try AvroSchema(json: schema)), forID: 7)
            plain.add(.avro(try AvroSchema(json: schema, hasFastPaths: false)), forID: 7)
            let datum = Datum.record(twins.map(\.value)).encoded
            for _ in 0..<40 {
                var bytes = datum
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let at = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: bytes[at] = UInt8(random.next() & 255)
                    case 1: bytes[at] ^= 1 << UInt8(random.next() & 7)
                    case 2: bytes.insert(UInt8(random.next() & 255), at: at)
                    default: if bytes.count > 1 { bytes.remove(at: at) }
                    }
                }
                let outcomes = decode(framed(bytes), with: fast)
                #expect(outcomes == decode(framed(bytes), with: plain), "seed \(seed), round \(round): \(bytes)")
                isWhole += outcomes[0].fields == nil ? 0 : 1
            }
        }
        #expect(isWhole > 1_000)
    }

    @Test func truncatedAtEveryByte() throws {
        var random = SeededGenerator(state: 21)
        for _ in 0..<20 {
            let twins = Self.twins(&random)
            let schema = recordSchema(twins.map { ($0.name, $0.type) })
            let datum = Datum.record(twins.map(\.value)).encoded
            for count in 0..<datum.count {
                let outcomes = try decodeAvro(Array(datum[..<count]), schema)
                // Fields of no size at the end are all there however little there is.
                #expect(outcomes.map(\.code) == [.malformed], "\(count) of \(datum.count) bytes")
            }
        }
    }
}
