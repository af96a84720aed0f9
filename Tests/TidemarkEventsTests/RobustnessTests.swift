import Testing

@testable import TidemarkEvents

/// Broken bytes of every kind: always an outcome, never a crash, and the plain scanner agrees with simdjson.
@Suite struct RobustnessTests {
    static let records = [
        flat(), "{\"events\":[\(flat()),\(ShapeTests.httpEvent)]}", "[\(ShapeTests.httpEvent)]",
        flat(["campaign_name": #""\ud83d\ude00\"é😀""#, "x": "[1.5e-3,-0,true,false,null,{\"y\":[[]]}]"]),
        flat(["time": "{\"int\":1767225600}", "platform": "{\"string\":\"ios\"}"]),
    ]

    @Test func everyTruncationIsMalformed() {
        let decoder = EventDecoder()
        for record in Self.records {
            let bytes = Array(record.utf8)
            for count in 0..<bytes.count {
                let outcomes = decode(Array(bytes[..<count]), with: decoder)
                #expect(outcomes.map(\.code) == [.malformed], "\(count) bytes of \(record)")
            }
            #expect(decode(bytes, with: decoder).allSatisfy { $0.fields != nil })
        }
    }

    /// The scanner must call valid exactly what simdjson accepts, numbers beyond 64 bits aside. What begins as Avro does is not for it.
    private func agreesWithScanner(_ bytes: [UInt8], _ outcomes: [Outcome]) -> Bool {
        guard bytes.first != 0 else { return outcomes.count == 1 && outcomes[0].code != nil }
        let offset = bytes.withUnsafeBytes { JSONScanner.firstError(in: ByteView($0)) }
        return (outcomes.first?.code == .malformed) == (offset != nil)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func mutationsNeverCrash(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        let decoder = EventDecoder()
        let corpus = Self.records.map { Array($0.utf8) }
        let telling = Array("{}[]\",:\\u0d8eE+-.19 tfn\u{0}\n".utf8) + [0x80, 0xC3, 0xED, 0xF0, 0xFF]
        for round in 0..<5000 {
            var bytes = corpus[Int.random(in: 0..<corpus.count, using: &random)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                let byte =
                    Bool.random(using: &random) ? telling.randomElement(using: &random)! : UInt8(random.next() & 255)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = byte
                case 1: bytes.insert(byte, at: at)
                case 2: if bytes.count > 1 { bytes.remove(at: at) }
                default: bytes.swapAt(at, Int.random(in: 0..<bytes.count, using: &random))
                }
            }
            let outcomes = decode(bytes, with: decoder)
            #expect(agreesWithScanner(bytes, outcomes), "seed \(seed), round \(round): \(bytes)")
            #expect(outcomes == decode(bytes), "seed \(seed), round \(round): \(bytes)")
        }
    }

    @Test func randomTokensNeverCrash() {
        let seed: UInt64 = 77
        var random = SeededGenerator(state: seed)
        let tokens = [
            "{", "}", "[", "]", ",", ":", "\"events\"", "\"event_type\"", "\"user\"", "\"properties\"", "\"id\"",
            "\"users.canvas.Entry\"", "1", "-2.5", "1e999", "null", "true", " ", "{}", "[]", "\"string\"",
        ]
        let decoder = EventDecoder()
        for round in 0..<20_000 {
            let length = Int.random(in: 1...12, using: &random)
            let bytes = (0..<length).flatMap { _ in Array(tokens.randomElement(using: &random)!.utf8) }
            let outcomes = decode(bytes, with: decoder)
            #expect(agreesWithScanner(bytes, outcomes), "seed \(seed), round \(round): \(bytes)")
        }
    }

    @Test func depthLimitIsTheScannersToo() {
        for depth in 1021...1026 {
            for (open, close) in [("[", "]"), ("[[],", "]"), ("{\"a\":", "}"), ("{\"a\":[],\"b\":", "}")] {
                for inner in ["1", "[]", "{}", "[ ]"] {
                    let text = String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
                    let bytes = Array(text.utf8)
                    #expect(agreesWithScanner(bytes, decode(bytes)), "depth \(depth) of \(open) around \(inner)")
                }
            }
        }
    }

    @Test func largeAndSmallRecordsMixed() {
        let decoder = EventDecoder(limits: DecoderLimits(maxRecordBytes: 8 << 20))
        let large = Array(flat(["x": "\"\(String(repeating: "y", count: 3 << 20))\""]).utf8)
        for _ in 0..<2 {
            #expect(decode(large, with: decoder) == expected())
            for _ in 0..<1100 { #expect(decode(Array(flat().utf8), with: decoder) == expected()) }
        }
        let tooLarge = [UInt8](repeating: 0x20, count: (8 << 20) + 1)
        #expect(decode(tooLarge, with: decoder).map(\.code) == [.tooLarge])
    }
}
