import Testing
import TidemarkEvents

/// A record that must be refused, with the code and a part of the message.
struct BadInput: CustomTestStringConvertible {
    var record: [UInt8]
    var code: RejectionCode
    var message: String
    var header = ""

    init(_ record: String, _ code: RejectionCode, _ message: String, header: String = "") {
        self.init(Array(record.utf8), code, message, header: header)
    }

    init(_ record: [UInt8], _ code: RejectionCode, _ message: String, header: String = "") {
        self.record = record
        self.code = code
        self.message = message
        self.header = header
    }

    var testDescription: String { "\(code.rawValue): \(String(decoding: record.prefix(100), as: UTF8.self))" }
}

@Suite struct BadInputTests {
    @Test(arguments: notJSON + structure + required + sessions)
    func recordIsRefused(input: BadInput) { check(input) }

    @Test(arguments: types + ranges + sizes)
    func fieldIsRefused(input: BadInput) { check(input) }

    private func check(_ input: BadInput) {
        let outcomes = decode(input.record, header: input.header)
        guard outcomes.count == 1, case .rejected(let code, let message, let bytes) = outcomes[0] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(code == input.code)
        #expect(message.contains(input.message), "\(message)")
        #expect(bytes == String(decoding: input.record, as: UTF8.self))
    }

    static let notJSON: [BadInput] = [
        BadInput("", .malformed, "empty value"),
        BadInput("   \n", .malformed, "byte 4 of 4"),
        BadInput("{", .malformed, "byte 1 of 1"),
        BadInput("{\"id\":}", .malformed, "byte 6"),
        BadInput("{\"id\":1,}", .malformed, "byte 8"),
        BadInput("{id:1}", .malformed, "byte 1"),
        BadInput("{'id':1}", .malformed, "byte 1"),
        BadInput("[1 2]", .malformed, "byte 3"),
        BadInput("[1,]", .malformed, "byte 3"),
        BadInput("[1}", .malformed, "byte 2"),
        BadInput("{} {}", .malformed, "byte 3"),
        BadInput("{}x", .malformed, "byte 2"),
        BadInput("nul", .malformed, "not valid JSON"),
        BadInput("[truE]", .malformed, "byte 4"),
        BadInput("[NaN]", .malformed, "byte 1"),
        BadInput("[01]", .malformed, "byte 1"),
        BadInput("[1.]", .malformed, "byte 3"),
        BadInput("[.5]", .malformed, "byte 1"),
        BadInput("[1e]", .malformed, "byte 3"),
        BadInput("[+1]", .malformed, "byte 1"),
        BadInput("[-]", .malformed, "byte 1"),
        BadInput("[0x10]", .malformed, "byte 2"),
        BadInput("// note\n{}", .malformed, "byte 0"),
        BadInput("\u{FEFF}{}", .malformed, "byte order mark"),
        BadInput(flat(["app_id": "\"a\nb\""]), .malformed, "byte 12"),
        BadInput(flat(["app_id": "\"a\u{0}b\""]), .malformed, "byte 12"),
        BadInput(flat(["app_id": #""a\x""#]), .malformed, "byte 12"),
        BadInput(flat(["app_id": #""\u12G4""#]), .malformed, "byte 11"),
        BadInput(flat(["app_id": #""\ud800""#]), .malformed, "byte 11"),
        BadInput(flat(["app_id": #""\udc00""#]), .malformed, "byte 11"),
        BadInput(flat(["app_id": #""\ud800\u0041""#]), .malformed, "byte 11"),
        BadInput(flat(["app_id": #""\ud83d\ud83d""#]), .malformed, "byte 11"),
        BadInput([0x5B, 0x22, 0xFF, 0x22, 0x5D], .malformed, "byte 2 of 5"),
        BadInput([0x5B, 0x22, 0xC0, 0xAF, 0x22, 0x5D], .malformed, "UTF-8"),
        BadInput([0x5B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x5D], .malformed, "byte 2"),
        BadInput([0x5B, 0x22, 0xE2, 0x82, 0x22, 0x5D], .malformed, "UTF-8"),
        BadInput([0x5B, 0x22, 0xF5, 0x80, 0x80, 0x80, 0x22, 0x5D], .malformed, "UTF-8"),
        BadInput(
            String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000), .malformed, "byte 1024"),
        BadInput(String(repeating: "{\"a\":", count: 10_000), .malformed, "not valid JSON"),
        BadInput(flat(["x": String(repeating: "[", count: 2000)]), .malformed, "not valid JSON"),
    ]

    static let structure: [BadInput] = [
        BadInput("5", .badType, "neither an object nor an array"),
        BadInput("null", .badType, "neither an object nor an array"),
        BadInput("true", .badType, "neither an object nor an array"),
        BadInput("\"event\"", .badType, "neither an object nor an array"),
        BadInput("{}", .missingField, "event_type is missing"),
        BadInput("{\"events\":null}", .missingField, "event_type is missing"),
        BadInput("{\"events\":{}}", .missingField, "event_type is missing"),
        BadInput("{}", .missingField, "id is missing", header: EventType.pushSend.wireName),
        BadInput(flat(["event_type": nil]), .missingField, "event_type is missing"),
        BadInput(flat(["event_type": "null"]), .missingField, "event_type is null"),
        BadInput(flat(["event_type": "\"\""]), .missingField, "event_type is empty"),
        BadInput(flat(["event_type": "5"]), .badType, "event_type must be a string", header: "users.canvas.Entry"),
        BadInput(flat(["event_type": "{}"]), .badType, "found an object"),
    ]

    static let required: [BadInput] =
        ["id", "user_id", "time"].flatMap { field in
            [
                BadInput(flat([field: nil]), .missingField, "\(field) is missing"),
                BadInput(flat([field: "null"]), .missingField, "\(field) is null"),
                BadInput(flat([field: "\"\""]), .missingField, "\(field) is empty"),
                BadInput(flat([field: "{\"string\":\"\"}"]), .missingField, "\(field) is empty"),
                BadInput(flat([field: "true"]), .badType, "\(field) must be"),
                BadInput(flat([field: "[]"]), .badType, "found an array"),
                BadInput(flat([field: "{}"]), .badType, "found an object"),
                BadInput(flat([field: "1.5"]), .badType, "not written as an integer"),
                BadInput(flat([field: "{\"record\":\"x\"}"]), .badType, "found an object"),
                BadInput(flat([field: "{\"string\":\"x\",\"int\":1}"]), .badType, "found an object"),
            ]
        } + ["id", "user_id"].map { BadInput(flat([$0: "0"]), .badType, "\($0) must be a string, found an integer") }

    static let sessions: [BadInput] = [EventType.firstSession, .sessionStart].flatMap { type in
        [
            BadInput(flat(type: type), .missingField, "session_id is missing"),
            BadInput(flat(["session_id": "null"], type: type), .missingField, "session_id is null"),
            BadInput(flat(["session_id": "\"\""], type: type), .missingField, "session_id is empty"),
            BadInput(flat(["session_id": "7"], type: type), .badType, "session_id must be a string"),
        ]
    }

    static let types: [BadInput] =
        textFields.map(\.0).map { BadInput(flat([$0: "12"]), .badType, "\($0) must be") }
        + textFields.map(\.0).map { BadInput(flat([$0: "{\"int\":0}"]), .badType, "found an integer") }
        + [
            BadInput(flat(["in_control_group": "1"]), .badType, "in_control_group must be true, false or null"),
            BadInput(flat(["in_control_group": "\"true\""]), .badType, "found a string"),
            BadInput(flat(["conversion_behavior_index": "\"1\""]), .badType, "found a string"),
            BadInput(flat(["conversion_behavior_index": "true"]), .badType, "found a boolean"),
            BadInput(flat(["time": "\"1767225600\""]), .badType, "time must be an integer"),
        ]

    static let ranges: [BadInput] =
        ["-1", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808", "18446744073709551615"].map {
            BadInput(flat(["time": $0]), .badType, "time must be an integer")
        }
        + ["1767225600.0", "1e3", "1E9", "0.0", "1e400", "123456789012345678901234567890"].map {
            BadInput(flat(["time": $0]), .badType, "not written as an integer")
        }
        + ["-1", "4", "256", "4294967296"].map {
            BadInput(flat(["conversion_behavior_index": $0]), .badType, "an integer 0 to 3, or null, found " + $0)
        }
        + ["1.0", "1e0"].map {
            BadInput(flat(["conversion_behavior_index": $0]), .badType, "not written as an integer")
        }

    static let sizes: [BadInput] =
        textFields.map(\.0).map { field in
            let isName = field.hasSuffix("_name") || field == "button_string"
            let limit = isName ? 65535 : 4096
            let text = String(repeating: "x", count: limit + 1)
            return BadInput(flat([field: "\"\(text)\""]), .tooLarge, "\(field) has \(limit + 1) bytes")
        }
        + [
            BadInput(flat(["id": "\"\(String(repeating: "i", count: 1 << 20))\""]), .tooLarge, "id has 1048576 bytes"),
            BadInput([UInt8](repeating: 0x20, count: 5_000_000), .tooLarge, "the record has 5000000 bytes"),
        ]
}
