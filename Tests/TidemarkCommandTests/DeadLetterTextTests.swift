import Testing
import TidemarkEvents
import TidemarkKafka
import TidemarkReports

@testable import TidemarkProcessor
@testable import tidemark

@Suite("Payloads with the place of an error marked")
struct PayloadTextTests {
    private func text(_ value: [UInt8], _ mark: Range<Int>?, width: Int = 40, isFull: Bool = false) -> [String] {
        PayloadText(value: value, mark: mark, width: width, isFull: isFull).text.split(
            separator: "\n", omittingEmptySubsequences: false
        ).dropLast().map(String.init)
    }

    @Test("A marker stands below the bytes it is about")
    func oneLine() {
        #expect(text(Array(#"{"id":7}"#.utf8), 6..<7) == [#"    {"id":7}"#, "          ^"])
        #expect(text(Array(#"{"id":true}"#.utf8), 6..<10) == [#"    {"id":true}"#, "          ^~~~"])
        #expect(text(Array(#"{"id":7}"#.utf8), nil) == [#"    {"id":7}"#])
        #expect(text([], nil) == ["    (no bytes)"])
    }

    @Test("What lacks at the end is marked behind the last character")
    func atTheEnd() {
        #expect(text(Array(#"{"id":"#.utf8), 6..<6) == [#"    {"id":"#, "          ^"])
        #expect(text(Array("{\n".utf8), 2..<2) == ["    {", "    ", "    ^"])
    }

    @Test("Wide characters take two columns, lines are wrapped, tabs are one column")
    func columns() {
        #expect(text(Array("好a".utf8), 3..<4) == ["    好a", "      ^"])
        #expect(text(Array("\t\ta".utf8), 2..<3) == ["      a", "      ^"])
        let long = Array(repeating: UInt8(ascii: "x"), count: 50)
        #expect(
            text(long, 34..<37) == [
                "    " + String(repeating: "x", count: 35), "    " + String(repeating: " ", count: 34) + "^",
                "    " + String(repeating: "x", count: 15), "    ^~",
            ])
    }

    @Test("What is not text is shown in hexadecimal")
    func bytes() {
        let value: [UInt8] = [0x5B, 0x22, 0xFF, 0x22, 0x5D] + Array(repeating: 0x41, count: 13)
        #expect(
            text(value, 2..<3, width: 100) == [
                #"    00000000  5b 22 ff 22 5d 41 41 41 41 41 41 41 41 41 41 41  |["."]AAAAAAAAAAA|"#,
                "                    ^^", "    00000010  41 41                                            |AA|",
            ])
        #expect(text([0x00], 0..<1).last == "              ^^")
        #expect(text([0x7B, 0x00], 2..<2).last == "                    ^^")
    }

    @Test("Only what is around the mark is shown of a long value")
    func window() {
        let value = Array((0..<100).map { "line \($0)\n" }.joined().utf8)
        let place = value.count - 9
        let shown = text(value, place..<place + 1)
        #expect(shown.count == 26)
        #expect(shown.first == "    … 598 bytes before")
        #expect(shown.contains("    line 98"))
        let head = text(value, nil)
        #expect(head.count == 25)
        #expect(head.last == "    … 608 bytes more (--full)")
        #expect(text(value, nil, isFull: true).count == 100)
    }
}

@Suite("Listing and showing dead letters")
struct DeadLetterTextTests {
    private func letter(_ code: RejectionCode, _ message: String, _ value: String, offset: Int64 = 17) -> DeadLetter {
        DeadLetter(
            topic: "tidemark.dead-letter", partition: 2, offset: 5, time: 1_767_225_700_000,
            origin: RecordOrigin(topic: "currents.events", partition: 0, offset: offset, timestamp: 1_767_225_600_123),
            code: code.rawValue, message: message, stage: "decode", allowed: nil, key: Array("u-7".utf8),
            value: Array(value.utf8), headers: [KafkaHeader(name: "event_type", text: "x")], excerpt: nil)
    }

    private var listing: DeadLetterListing {
        var summary = DeadLetterSummary(samples: 3)
        summary.add(letter(.missingField, "user_id is missing", "{}"), isRedriven: true)
        summary.add(letter(.missingField, "id is missing", "{}", offset: 18), isRedriven: false)
        summary.add(letter(.late, "event time", "{}"), isRedriven: false)
        return DeadLetterListing(summary: summary)
    }

    @Test("A table has a line per reason and topic, and samples below")
    func table() {
        #expect(
            listing.text(.table, width: 100) == """
                CODE           TOPIC            COUNT  REDRIVEN  FIRST                 LAST
                late           currents.events      1         0  2026-01-01T00:01:40Z  2026-01-01T00:01:40Z
                missing_field  currents.events      2         1  2026-01-01T00:01:40Z  2026-01-01T00:01:40Z

                late, currents.events:
                  currents.events/0/17@1767225600123
                    event time

                missing_field, currents.events:
                  currents.events/0/17@1767225600123
                    user_id is missing
                  currents.events/0/18@1767225600123
                    id is missing

                """)
        #expect(
            DeadLetterListing(summary: DeadLetterSummary(samples: 1)).text(.table, width: 80) == "No dead letters.\n")
    }

    @Test("CSV and NDJSON have the same figures")
    func figures() {
        let csv =
            "code,topic,count,redriven,first,last\r\n"
            + "late,currents.events,1,0,2026-01-01T00:01:40Z,2026-01-01T00:01:40Z\r\n"
            + "missing_field,currents.events,2,1,2026-01-01T00:01:40Z,2026-01-01T00:01:40Z\r\n"
        #expect(listing.text(.csv, width: 80) == csv)
        let lines = listing.text(.ndjson, width: 80).split(separator: "\n").map(String.init)
        let late =
            #"{"code":"late","topic":"currents.events","count":1,"redriven":0,"first":1767225700000,"last":1767225700000,"samples":"#
            + #"[{"id":"currents.events/0/17@1767225600123","time":1767225700000,"message":"event time"}]}"#
        #expect(lines[0] == late)
        let array = "[\n" + lines.joined(separator: ",\n") + "\n]\n"
        #expect(listing.text(.json, width: 80) == array)
    }

    @Test("A dead letter is shown with what to do and the field marked")
    func shown() {
        let text = DeadLetterText(
            letter: letter(.badType, "user_id must be a string, found an integer", #"{"id":"e","user_id":7}"#),
            redrivenAt: 1_767_225_800_000, width: 100, isFull: false
        ).text
        #expect(
            text == """
                currents.events/0/17@1767225600123
                  from        currents.events[0] offset 17, 2026-01-01T00:00:00Z
                  stands in   tidemark.dead-letter[2] offset 5, refused 2026-01-01T00:01:40Z
                  code        bad_type (decode)
                  message     user_id must be a string, found an integer
                  what to do  A field is of another JSON type than it must be, or outside its range; values are not
                              guessed at. Mend the producer; repair what it sent with `tidemark dlq export` and
                              `tidemark dlq import`.
                  fed again   2026-01-01T00:03:20Z
                  key         u-7
                  header      event_type: x
                  value       22 bytes
                    {"id":"e","user_id":7}
                                        ^

                """)
    }

    @Test("Every code has advice")
    func advice() {
        let all = RejectionCode.allCases.map { letter($0, "", "").advice }
        #expect(Set(all).count == all.count)
    }

    @Test(
        "Wrong usage ends with 2 and says what to write",
        arguments: [
            (
                "dlq list --code lte",
                "`--code` takes one of `malformed`, `missing_field`, `bad_type`, `unknown_schema`, `too_large`, `future_dated`, `late`, not `lte`"
            ),
            ("dlq show --offset 3", "`--offset` needs `--partition`"),
            (
                "dlq show --partition 0 --offset 9..3",
                "`--offset` takes an offset such as 17, or offsets as in 10..20, not `9..3`"
            ),
            ("dlq redrive --rate 0", "`--rate` takes a whole number of at least 1, not `0`"),
            ("dlq list --format xml", "`--format` takes one of `table`, `ndjson`, `json`, `csv`, not `xml`"),
            ("dlq import", "an argument is missing: tidemark dlq import FILE [options]"),
            ("dlq", "`dlq` needs a command: `list`, `show`, `redrive`, `export`, `import`"),
        ])
    func usage(line: String, message: String) {
        let outcome = run(line)
        #expect(outcome.code == ExitCode.wrongUsage)
        #expect(outcome.notes.first == "tidemark: \(message)")
    }

    @Test(
        "Offsets are read in every form",
        arguments: [("7", 7...7), ("7..9", 7...9), ("7..", 7...Int64.max), ("..9", 0...9)])
    func offsets(text: String, range: ClosedRange<Int64>) throws {
        let arguments = try ParsedArguments(["--partition", "1", "--offset", text], spec: DlqListCommand.spec)
        let filter = try DeadLetterOptions.filter(arguments)
        #expect(filter.partition == 1 && filter.offsets == range)
    }

    @Test("Help of each command shows an example", arguments: ["list", "show", "redrive", "export", "import"])
    func help(command: String) {
        let outcome = run("dlq \(command) --help")
        #expect(outcome.code == ExitCode.done)
        #expect(outcome.output.contains("\nExample:\n  tidemark dlq \(command) "))
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
