import Foundation
import Testing
import TidemarkEvents
import TidemarkReports

@Suite("The reader of JSON")
struct JSONReaderTests {
    @Test("It takes and refuses the documents that another parser takes and refuses", arguments: 1...200)
    func agreesWithFoundation(seed: Int) {
        var random = RandomDocuments(seed: UInt64(seed))
        for _ in 0..<50 {
            let document = random.document()
            let parsed = try? JSONSerialization.jsonObject(with: Data(document), options: .fragmentsAllowed)
            let read = try? document.withUnsafeBytes { bytes throws(JSONReader.Broken) in
                try JSONReader.read(bytes) { json throws(JSONReader.Broken) in
                    let value = try JSONTree(&json)
                    guard json.isAtEnd() else { throw JSONReader.Broken() }
                    return value
                }
            }
            let text = String(decoding: document, as: UTF8.self)
            // The other one takes a comma before the end.
            if text.firstMatch(of: /,\s*[}\]]/) != nil { continue }
            #expect((parsed == nil) == (read == nil), "seed \(seed): \(text)")
            if let parsed, let read { #expect(read.equals(parsed), "seed \(seed): \(text)") }
        }
    }

    @Test("Texts come without their escapes")
    func escapes() throws {
        let pairs: [(String, String)] = [
            (#""""#, ""), (#""plain""#, "plain"), (#""a\"b\\c\/d""#, "a\"b\\c/d"),
            (#""\b\t\n\f\r""#, "\u{8}\t\n\u{c}\r"), (#""\u0000\u001f\u00e9\uD83D\uDE00é""#, "\0\u{1f}é😀é"),
        ]
        for (document, wanted) in pairs { #expect(try text(document) == wanted) }
    }

    @Test(
        "Broken texts are refused",
        arguments: [
            #"""#, #""a"#, #""\"#, #""\x""#, #""\u12"#, #""\u12G4""#, #""\uD83D""#, #""\uDE00""#, #""\uD83D\u0041""#,
            "\"a\nb\"", "a",
        ])
    func brokenTexts(document: String) { #expect(throws: JSONReader.Broken.self) { try text(document) } }

    @Test("Bytes that are not UTF-8 are refused, with and without escapes")
    func notUTF8() {
        for bytes: [UInt8] in [[0x22, 0xC3, 0x22], [0x22, 0xFF, 0x22], [0x22, 0x5C, 0x6E, 0xC3, 0x22]] {
            #expect(throws: JSONReader.Broken.self) {
                try bytes.withUnsafeBytes { try JSONReader.read($0) { json in _ = try json.text() } }
            }
        }
    }

    @Test("Whole numbers of 64 bits are exact, all others are none")
    func numbers() throws {
        let pairs: [(String, Int64?)] = [
            ("0", 0), ("-0", 0), ("7", 7), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", nil), ("1e3", nil), ("-2.5E-3", nil),
        ]
        for (document, wanted) in pairs { #expect(try integer(document) == wanted, "\(document)") }
        for document in ["", "-", "01", "-01", "1.", ".5", "1e", "1e+", "+1", "x"] {
            #expect(throws: JSONReader.Broken.self, "\(document)") { try integer(document) }
        }
    }

    @Test("A comma needs something before and after it", arguments: ["[1,]", "[,1]", "[1 2]", "[1,,2]", "[,]"])
    func commas(document: String) {
        #expect(throws: JSONReader.Broken.self) {
            try Array(document.utf8).withUnsafeBytes { try JSONReader.read($0) { json in try json.skip() } }
        }
    }

    @Test("Nesting has an end")
    func nesting() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSONReader.Broken.self) {
            try Array(deep.utf8).withUnsafeBytes { try JSONReader.read($0) { json in try json.skip() } }
        }
    }

    private func text(_ document: String) throws -> String {
        try Array(document.utf8).withUnsafeBytes {
            try JSONReader.read($0) { json in try json.text().text ?? "" }
        }
    }

    private func integer(_ document: String) throws -> Int64? {
        try Array(document.utf8).withUnsafeBytes {
            try JSONReader.read($0) { json in
                let number = try json.integer()
                guard json.isAtEnd() else { throw JSONReader.Broken() }
                return number
            }
        }
    }
}

/// A document as a tree, to compare with what another parser makes of it.
private indirect enum JSONTree {
    case object([String: JSONTree]), array([JSONTree]), text(String), number(Int64?), other

    init(_ json: inout JSONReader) throws(JSONReader.Broken) {
        switch json.kind() {
        case .object:
            var members: [String: JSONTree] = [:]
            try json.openObject()
            while let key = try json.nextKey() {
                let name = key.text ?? ""
                members[name] = try JSONTree(&json)
            }
            self = .object(members)
        case .array:
            var elements: [JSONTree] = []
            try json.openArray()
            while try json.nextElement() { elements.append(try JSONTree(&json)) }
            self = .array(elements)
        case .text: self = .text(try json.text().text ?? "")
        case .number: self = .number(try json.integer())
        case .other:
            try json.skip()
            self = .other
        }
    }

    func equals(_ other: Any) -> Bool {
        switch self {
        case .object(let members):
            guard let object = other as? [String: Any], object.count == members.count else { return false }
            return members.allSatisfy { name, value in object[name].map(value.equals) ?? false }
        case .array(let elements):
            guard let array = other as? [Any], array.count == elements.count else { return false }
            return zip(elements, array).allSatisfy { $0.equals($1) }
        case .text(let text): return other as? String == text
        case .number(let number): return number == nil || other as? Int64 == number
        case .other: return other is NSNull || other is Bool
        }
    }
}

/// Small documents with all that JSON has, some of them broken in one place.
private struct RandomDocuments {
    private var random: SeededNumbers

    init(seed: UInt64) { random = SeededNumbers(state: seed) }

    mutating func document() -> [UInt8] {
        var bytes = Array(value(depth: 0).utf8)
        guard Bool.random(using: &random), !bytes.isEmpty else { return bytes }
        let place = bytes.indices.randomElement(using: &random)!
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(Array("{}[],:\"\\0a- ".utf8).randomElement(using: &random)!, at: place)
        default: bytes.removeSubrange(place...)
        }
        return bytes
    }

    private mutating func value(depth: Int) -> String {
        switch Int.random(in: 0..<(depth < 3 ? 6 : 4), using: &random) {
        case 0: return ["null", "true", "false"].randomElement(using: &random)!
        case 1:
            let number = Int64.random(in: .min ... .max, using: &random)
            // The other one is not exact beyond.
            return String(number >> Int64.random(in: 11..<64, using: &random))
        case 2, 3: return text()
        case 4:
            let elements = (0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth: depth + 1) }
            return "[" + elements.joined(separator: space() + "," + space()) + "]"
        default:
            let members = (0..<Int.random(in: 0..<4, using: &random)).map { "\"\($0)\":" + value(depth: depth + 1) }
            return "{" + space() + members.joined(separator: ",") + space() + "}"
        }
    }

    private mutating func space() -> String { ["", "", " ", "\n\t"].randomElement(using: &random)! }

    private mutating func text() -> String {
        let pieces = [
            "a", "Name", "é", "名", "😀", #"\""#, #"\\"#, #"\/"#, #"\n"#, #"\u001f"#, #"\u00e9"#, #"\uD83D\uDE00"#,
        ]
        var text = "\""
        for _ in 0..<Int.random(in: 0..<6, using: &random) { text += pieces.randomElement(using: &random)! }
        return text + "\""
    }
}

private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
