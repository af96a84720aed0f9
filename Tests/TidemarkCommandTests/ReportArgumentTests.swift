import Testing

@testable import tidemark

@Suite("Arguments of replay, load and report show")
struct ReportArgumentTests {
    @Test(
        "Wrong usage ends with 2 and says what to write",
        arguments: [
            ("replay", "name files, `-` for standard input, or a --topic"),
            ("replay a --topic t", "name files or a --topic, not both"),
            ("replay a --from 2026-01-05", "`--from` and `--to` choose records of a --topic by their Kafka timestamps"),
            ("replay - -", "standard input (`-`) can be read once"),
            ("replay a --format xml", "`--format` takes one of `table`, `ndjson`, `json`, `csv`, not `xml`"),
            ("replay a --by week", "`--by` takes one of `campaign`, `message`, `day`, not `week`"),
            ("replay a --format csv --by day", "`--by` is for tables; `--format csv` holds all rows"),
            (
                "replay --topic t --from yesterday",
                "`--from` takes a time such as 2026-01-05T08:00:00Z, a day such as 2026-01-05 (from midnight UTC) "
                    + "or epoch seconds, not `yesterday`"
            ),
            ("load", "say where the stream goes: `--to topic` or `--to file`"),
            ("load --to tape", "`--to` takes one of `topic`, `file`, not `tape`"),
            ("load --to file --topic t", "`--topic` needs `--to topic`"),
            ("load --to topic -o f", "`--output` needs `--to file`"),
            ("load --to file --format avro", "`--format avro` needs `--to topic`, and takes no `--shape`"),
            ("load --to file --shape avro", "`--shape avro` needs `--to topic`: lines of a file have no type header"),
            ("load --to file --late 2", "`--late` takes a share from 0 to 1 or from 0% to 100%, not `2`"),
            ("load --to file --turnover 101%", "`--turnover` takes a share from 0 to 1 or from 0% to 100%, not `101%`"),
            (
                "load --to file --hot-campaign x",
                "`--hot-campaign` takes a share from 0 to 1 or from 0% to 100%, not `x`"
            ),
            ("load --to file --campaigns 10001", "`--campaigns` takes a whole number from 1 to 10000, not `10001`"),
            (
                "load --to file --users 100000000 --days 365 --turnover 1%",
                "`--turnover`: 5400000000 users could come in 365 days, more than 4294967296"
            ),
            ("load --to file --users 0", "`--users` takes a whole number from 1 to 100000000, not `0`"),
            (
                "load --to file --start 2038-01-15",
                "`--start`: the stream would end after 2038-01-19, where event times end"
            ),
            (
                "report show --channel sms",
                "`--channel` takes one of `push`, `in_app_message`, `content_card`, `banner`, `feature_flag`, "
                    + "`campaign`, not `sms`"
            ),
            (
                "report show --day 2026-02-30",
                "`--day` takes a day such as 2026-11-30, or days as in 2026-11-01..2026-11-30, not `2026-02-30`"
            ),
            (
                "report show --day 2026-02-02..2026-02-01",
                "`--day` takes a day such as 2026-11-30, or days as in 2026-11-01..2026-11-30, "
                    + "not `2026-02-02..2026-02-01`"
            ),
        ])
    func usage(line: String, message: String) {
        let outcome = run(line)
        #expect(outcome.code == ExitCode.wrongUsage)
        #expect(outcome.notes.first == "tidemark: \(message)")
        #expect(outcome.output.isEmpty)
    }

    @Test(
        "Times are read in every form",
        arguments: [
            ("1767571200", 1_767_571_200_000), ("2026-01-05", 1_767_571_200_000),
            ("2026-01-05T01:00:00+01:00", 1_767_571_200_000), ("2026-01-05T00:00:00.250Z", 1_767_571_200_250),
            ("0", 0),
        ])
    func times(text: String, milliseconds: Int64) throws {
        #expect(try TimeArgument.milliseconds(text, option: "from") == milliseconds)
    }

    @Test("Numbers are shown with separators and units")
    func numbers() {
        #expect(NumberText.count(0) == "0")
        #expect(NumberText.count(-1_234_567) == "-1,234,567")
        #expect(NumberText.count(1, "user") == "1 user")
        #expect(NumberText.count(1_000, "user") == "1,000 users")
        #expect(NumberText.bytes(999) == "999 B")
        #expect(NumberText.bytes(2_014_946_729) == "2.0 GB")
    }

    @Test("Help of each command shows an example", arguments: ["replay", "load", "report show"])
    func help(command: String) {
        let outcome = run("\(command) --help")
        #expect(outcome.code == ExitCode.done)
        #expect(outcome.output.contains("\nExample:\n  tidemark \(command) "))
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
