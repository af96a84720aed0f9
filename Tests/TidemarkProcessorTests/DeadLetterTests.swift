import Testing
import TidemarkConfiguration
import TidemarkKafka
import TidemarkTestKit
import TidemarkWorkload

@testable import TidemarkProcessor

/// A dead letter with some parts replaced.
func deadLetter(
    code: String = "missing_field", message: String = "user_id is missing", topic: String = "currents.events",
    offset: Int64 = 17, index: Int? = nil, time: Int64 = 1_767_225_700_000, allowed: Int64? = nil,
    key: [UInt8]? = Array("u-7".utf8), value: [UInt8]? = Array("{}".utf8), headers: [KafkaHeader] = [],
    excerpt: DeadLetter.Excerpt? = nil
) -> DeadLetter {
    DeadLetter(
        topic: "tidemark.dead-letter", partition: 2, offset: 5, time: time,
        origin: RecordOrigin(topic: topic, partition: 3, offset: offset, index: index, timestamp: 1_767_225_600_123),
        code: code, message: message, stage: "decode", allowed: allowed, key: key, value: value, headers: headers,
        excerpt: excerpt)
}

@Suite struct DeadLetterTests {
    @Test(
        arguments: [
            ("currents.events/3/120@1767225600123", 3, 120, nil), ("a_b-c/0/0/2@-1", 0, 0, 2),
        ] as [(String, Int32, Int64, Int?)])
    func idsAreReadBack(id: String, partition: Int32, offset: Int64, index: Int?) throws {
        let origin = try #require(RecordOrigin(id: id))
        #expect((origin.partition, origin.offset) == (partition, offset))
        #expect(origin.index == index)
        #expect(origin.id == id)
    }

    @Test(arguments: [
        "", "a", "a/1/2", "a/1@2", "a/1/2/3/4@5", "/1/2@3", "a/x/2@3", "a/1/2/x@3", "a/1/2@", "a/1/2@3@4",
        "a/1/99999999999999999999@1",
    ])
    func whatIsNoID(id: String) { #expect(RecordOrigin(id: id) == nil) }

    @Test func filtersByEachPart() {
        let letter = deadLetter(index: 1)
        func matches(_ change: (inout DeadLetterFilter) -> Void) -> Bool {
            var filter = DeadLetterFilter()
            change(&filter)
            return filter.matches(letter)
        }
        #expect(matches { _ in })
        #expect(matches { $0.codes = ["late", "missing_field"] } && !matches { $0.codes = ["late"] })
        #expect(matches { $0.topics = ["currents.events"] } && !matches { $0.topics = ["other"] })
        #expect(matches { $0.ids = ["currents.events/3/17/1"] } && matches { $0.ids = [letter.id] })
        #expect(!matches { $0.ids = ["currents.events/3/17"] })
        #expect(matches { $0.from = 1_767_225_700_000 } && !matches { $0.from = 1_767_225_700_001 })
        #expect(matches { $0.to = 1_767_225_700_001 } && !matches { $0.to = 1_767_225_700_000 })
        #expect(matches { $0.partition = 2 } && !matches { $0.partition = 3 })
        #expect(matches { $0.offsets = 5...5 } && !matches { $0.offsets = 6...9 })
    }

    @Test func whatNeverWasInItsTopicIsKnownByWhereItStands() throws {
        var letter = deadLetter(index: 3)
        (letter.origin.partition, letter.origin.offset) = (-1, -1)
        #expect(letter.id == "tidemark.dead-letter/2/5@1767225700000")
        let line = try DeadLetterLine.write(letter).withUnsafeBytes {
            try DeadLetterLine(UnsafeRawBufferPointer(rebasing: $0.dropLast()))
        }
        #expect(line.id == letter.id)
        #expect(
            line.origin
                == RecordOrigin(topic: "currents.events", partition: -1, offset: -1, timestamp: 1_767_225_700_000))
    }

    @Test func countsByCodeAndTopic() {
        var summary = DeadLetterSummary(samples: 2)
        for (number, message) in ["a", "b", "a", "c"].enumerated() {
            summary.add(
                deadLetter(message: message, offset: Int64(number), time: 1_000 - Int64(number)), isRedriven: number > 1
            )
        }
        summary.add(deadLetter(code: "late", topic: "other"), isRedriven: false)
        let group = summary.groups[.init(code: "missing_field", topic: "currents.events")]
        #expect(summary.groups.count == 2)
        #expect(group?.count == 4 && group?.redriven == 2)
        #expect(group?.first == 997 && group?.last == 1_000)
        #expect(group?.samples.map(\.message) == ["a", "b"])
    }
}

@Suite struct DeadLetterLineTests {
    private func line(_ bytes: [UInt8]) throws -> DeadLetterLine {
        try bytes.withUnsafeBytes { try DeadLetterLine(UnsafeRawBufferPointer(rebasing: $0.dropLast())) }
    }

    @Test func anyBytesComeBackFromALine() throws {
        var random = SplitMix64(seed: 11)
        let pieces: [[UInt8]] = [
            Array("{\"a\":1}".utf8), Array(" [1]".utf8), Array("{\"a\":\n1}".utf8), Array("é\"\\\u{0}".utf8), [0xFF],
            [], [0x0A],
            Array("[[{\"x\":\"\\u0000\"}],1e999]".utf8), Array("null".utf8),
        ]
        for _ in 0..<2_000 {
            func bytes() -> [UInt8]? {
                if Int.random(in: 0..<8, using: &random) == 0 { return nil }
                return (0..<Int.random(in: 1...2, using: &random)).flatMap { _ in
                    pieces.randomElement(using: &random) ?? []
                }
            }
            let headers = (0..<Int.random(in: 0...2, using: &random)).map {
                KafkaHeader(name: "h\($0)", value: bytes())
            }
            let letter = deadLetter(
                index: Bool.random(using: &random) ? 4 : nil, allowed: Bool.random(using: &random) ? 60 : nil,
                key: bytes(),
                value: bytes(), headers: headers)
            let written = DeadLetterLine.write(letter)
            #expect(written.filter { $0 == 0x0A }.count == 1 && written.last == 0x0A)
            let read = try line(written)
            #expect(read.id == letter.id && read.origin == letter.origin && read.code == letter.code)
            #expect(read.allowed == letter.allowed)
            #expect(read.key == letter.key, "\(String(decoding: written, as: UTF8.self))")
            #expect(read.value == letter.value, "\(String(decoding: written, as: UTF8.self))")
            #expect(read.headers == letter.headers)
        }
    }

    @Test func anObjectStandsThereAsItIs() throws {
        let letter = deadLetter(value: Array("{\"id\":1, \"id\":2}".utf8))
        #expect(
            String(decoding: DeadLetterLine.write(letter), as: UTF8.self)
                == #"{"id":"currents.events/3/17@1767225600123","code":"missing_field","message":"user_id is missing","stage":"decode","#
                + #""refused":1767225700000,"key":"u-7","headers":[],"value":{"id":1, "id":2}}"# + "\n")
    }

    @Test(arguments: [
        ("nonsense", "a line must be a JSON object as `dlq export` writes it"),
        (#"{"id":"a/0/1@2","value":{}"#, "not a JSON object as `dlq export` writes it (byte 26 of 26)"),
        ("[]", "a line must be a JSON object as `dlq export` writes it"),
        ("{}", "has no `id`: it says which dead letter the line is for"),
        (#"{"id":"a/0/1@2"}"#, "has no `value`"),
        (#"{"id":"a/0/1","value":""}"#, "`a/0/1` is not the id of a dead letter: keep it as `dlq export` wrote it"),
        (#"{"id":"a/0/1@2","vlaue":{}}"#, "has a member `vlaue`, which is none of a dead letter's"),
        (#"{"id":"a/0/1@2","value":{},"value_base64":"AA=="}"#, "has two values: leave `value` or `value_base64`"),
        (#"{"id":"a/0/1@2","value_base64":"%"}"#, "`value_base64` is not base64"),
        (#"{"id":7,"value":{}}"#, "`id` must be a string"),
        (#"{"id":"a/0/1@2","value":{},"headers":{}}"#, "`headers` must be an array"),
        (#"{"id":"a/0/1@2","value":{},"headers":[{"value":"x"}]}"#, "a header has no `name`"),
        (#"{"id":"a/0/1@2","value":{}} {}"#, "goes on after the JSON object"),
        (
            #"{"id":"a/0/1@2","size":9,"value":"{"}"#,
            "holds only the first bytes of its record, the rest is gone: its source has to send it again; take the line out"
        ),
    ])
    func whatIsNoLine(text: String, problem: String) {
        let error = #expect(throws: DeadLetterLine.Problem.self) { try line(Array(text.utf8) + [0x0A]) }
        #expect(error?.description == problem)
    }

    @Test func aFileNamesItsLines() {
        let good = #"{"id":"a/0/1@2","value":{}}"#
        let several = #"{"id":"a/0/1@2#1","value":{}}"#
        let file = DeadLetterFile(Array("\n\(good)\r\nx\n\(several)\n\(good)".utf8))
        #expect(file.lines.map(\.number) == [2, 4])
        #expect(file.lines.map(\.line.id) == ["a/0/1@2", "a/0/1@2#1"])
        #expect(
            file.problems.map(\.description) == [
                "line 3: a line must be a JSON object as `dlq export` writes it",
                "line 5: has the same id as line 2; where one dead letter becomes several records, end the ids with #1, #2 and so on",
            ])
    }
}
