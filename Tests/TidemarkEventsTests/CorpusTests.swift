import Foundation
import Testing

@testable import TidemarkEvents

/// Replays what fuzzing has found to take different ways through the decoder (`make fuzz`).
@Suite struct CorpusTests {
    private func records() throws -> [(line: Int, bytes: [UInt8])] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("fuzz/corpus.txt")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return try lines.enumerated().map { ($0 + 1, Array(try #require(Data(base64Encoded: String($1))))) }
    }

    @Test func everyRecordHasTheSameOutcomeWhateverCameBefore() throws {
        let records = try records()
        #expect(records.count > 300)
        let decoder = EventDecoder()
        var kinds: Set<String> = []
        for (line, bytes) in records {
            let outcomes = decode(bytes, with: decoder)
            #expect(outcomes == decode(bytes), "line \(line)")
            for outcome in outcomes {
                switch outcome {
                case .event: kinds.insert("event")
                case .skipped: kinds.insert("skipped")
                case .rejected(let code, _, _): kinds.insert(code.rawValue)
                }
            }
        }
        #expect(kinds.isSuperset(of: ["event", "skipped", "malformed", "missing_field", "bad_type"]))
    }

    /// A byte 1 in front is for a value of the schema, as in the fuzzer.
    @Test func bareAvroComesToTheSameWithoutTheQuickSteps() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("fuzz/event.avsc")
        let text = try String(contentsOf: file, encoding: .utf8)
        let schemas = [try AvroSchema(json: text), try AvroSchema(json: text, hasFastPaths: false)]
        var count = 0
        var eventCount = 0
        for (line, bytes) in try records() where bytes.first == 1 {
            let outcomes = schemas.map { decode(Array(bytes.dropFirst()), schema: $0) }
            #expect(outcomes[0] == outcomes[1], "line \(line)")
            count += 1
            if outcomes[0].contains(where: { $0.fields != nil }) { eventCount += 1 }
        }
        #expect(count > 50 && eventCount > 0)
    }

    @Test func theScannerAgreesOnWhatIsJSON() throws {
        for (line, bytes) in try records() where !bytes.isEmpty {
            bytes.withUnsafeBufferPointer { buffer in
                guard let start = buffer.baseAddress, Framing.of(start, buffer.count) == nil else { return }
                let isBroken = JSONScanner.firstError(in: ByteView(start: start, count: buffer.count)) != nil
                #expect((decode(bytes).first?.code == .malformed) == isBroken, "line \(line)")
            }
        }
    }
}
