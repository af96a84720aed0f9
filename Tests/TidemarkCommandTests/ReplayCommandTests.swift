import Foundation
import Testing

@testable import tidemark

@Suite("replay and load")
struct ReplayCommandTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func load(_ more: String...) throws -> Outcome {
        let stream = try folder.path("events.ndjson")
        let truth = try folder.path("truth.ndjson")
        return run(
            words: ["load", "--to", "file", "-q", "-o", stream, "--truth", truth, "--start", "2026-01-05"] + more)
    }

    @Test(
        "The rows of a generated stream are those that are due",
        arguments: [
            ["--users", "400", "--seed", "1"],
            ["--users", "150", "--seed", "2", "--shape", "http"],
            ["--users", "150", "--seed", "3", "--late", "0.1", "--campaigns", "5", "--days", "9"],
            ["--users", "150", "--seed", "5", "--days", "30", "--turnover", "20%", "--hot-campaign", "90%"],
            ["--users", "150", "--seed", "6", "--campaigns", "10000"],
            [
                "--users", "150", "--seed", "4", "--set", "attribution.window.policy=shorter", "--set",
                "attribution.credit.model=all_recent", "--set", "report.time_zone=Europe/Berlin",
            ],
        ])
    func truth(options: [String]) throws {
        let settings = options.indices.filter { options[$0] == "--set" }.flatMap { ["--set", options[$0 + 1]] }
        let stream = try folder.path("events.ndjson")
        let loaded = run(
            words: [
                "load", "--to", "file", "-q", "-o", stream, "--truth", try folder.path("truth.ndjson"), "--start",
                "2026-01-05",
            ] + options)
        #expect(loaded.code == ExitCode.done)
        let replayed = run(words: ["replay", stream, "-q", "--format", "ndjson"] + settings)
        #expect(replayed.code == ExitCode.done)
        let rows = try folder.read("truth.ndjson")
        #expect(!rows.isEmpty)
        #expect(replayed.output == rows, "\(options)")
        #expect(replayed.notes.count == 2, "\(replayed.notes)")
    }

    @Test("The rows of a stream in container files are those that are due, with one worker and with several")
    func containers() throws {
        let export = try folder.path("export")
        let options = [
            "--users", "300", "--seed", "8", "--start", "2026-01-05", "--truth", try folder.path("truth.ndjson"),
        ]
        let loaded = run(
            words: ["load", "--to", "file", "--shape", "container", "-q", "-o", export] + options)
        #expect(loaded.code == ExitCode.done)
        let rows = try folder.read("truth.ndjson")
        #expect(rows.count > 10_000)
        for workers in [1, 3] {
            let replayed = run(
                words: [
                    "replay", export + "/event_type=*/*.avro", "-q", "--format", "ndjson", "--set",
                    "workers=\(workers)",
                ])
            #expect(replayed.code == ExitCode.done)
            #expect(replayed.output == rows)
        }
        let nowhere = run("load --to file --shape container")
        #expect(nowhere.code == ExitCode.wrongUsage)
        #expect(run("load --to topic --shape container").code == ExitCode.wrongUsage)
    }

    @Test("Equal options give equal bytes")
    func determinism() throws {
        _ = try load("--users", "20")
        let first = try folder.read("events.ndjson")
        _ = try load("--users", "20")
        #expect(try folder.read("events.ndjson") == first)
        _ = try load("--users", "20", "--seed", "2")
        #expect(try folder.read("events.ndjson") != first)
    }

    @Test("Several files, patterns and --output give the same report")
    func files() throws {
        _ = try load("--users", "60")
        let lines = try folder.read("events.ndjson").split(separator: "\n")
        for part in 0..<3 {
            let own = lines.enumerated().filter { $0.offset % 3 == part }.map { String($0.element) }
            _ = try folder.write("parts/\(part).ndjson", own.joined(separator: "\n"))
        }
        let output = try folder.path("rows.ndjson")
        let pattern = try folder.path("parts/none").replacingOccurrences(of: "none", with: "[0-9].ndjson")
        let replayed = run(words: ["replay", "-q", pattern, "--format=ndjson", "--output", output])
        #expect(replayed.code == ExitCode.done)
        #expect(replayed.output.isEmpty)
        #expect(try folder.read("rows.ndjson") == folder.read("truth.ndjson"))
        #expect(replayed.notes.first?.contains(" of 3 files (") == true, "\(replayed.notes)")
    }

    @Test("Lines that cannot be counted are named with file and line, and do not fail the replay")
    func refusals() throws {
        let file = try folder.write(
            "bad.ndjson",
            """
            {"event_type":"users.messages.pushnotification.Send","id":"e-1","user_id":"u","time":1767571200}
            nonsense
            {"event_type":"users.messages.pushnotification.Send","id":"e-2","time":1767571200}

            {"event_type":"users.behaviors.CustomEvent","id":"e-3"}
            """)
        let replayed = run(words: ["replay", "-q", file])
        #expect(replayed.code == ExitCode.done)
        #expect(replayed.notes.count == 5, "\(replayed.notes)")
        #expect(replayed.notes[1] == "1 counted, 0 duplicates, 1 skipped, 2 refused, 1 user")
        #expect(replayed.notes[2] == "refused: malformed 1, missing_field 1")
        #expect(replayed.notes[3].hasPrefix("  \(file):2: malformed: "))
        #expect(replayed.notes[4].hasPrefix("  \(file):3: missing_field: "))
        #expect(replayed.output.contains("(no campaign)"))
    }

    @Test("A part event_type=… of the path names the type of flat records")
    func typeOfPath() throws {
        let record = #"{"id":"e-1","user_id":"u","time":1767571200}"#
        let push = try folder.write("event_type=users.messages.pushnotification.Send/date=2026-01-05/1.ndjson", record)
        let other = try folder.write("event_type=users.behaviors.CustomEvent/1.ndjson", record)
        let none = try folder.write("1.ndjson", record)
        let replayed = run(words: ["replay", "-q", push, other, none])
        #expect(replayed.notes[1] == "1 counted, 0 duplicates, 1 skipped, 1 refused, 1 user")
    }

    @Test("More than fits into limits.memory: the rows that are due, and what went to disk; nothing stays there")
    func spilling() throws {
        _ = try load("--users", "12000", "--days", "5")
        let stream = try folder.path("events.ndjson")
        let marker = try folder.path("spill/none")
        let directory = URL(fileURLWithPath: marker).deletingLastPathComponent().path
        let replayed = run(words: [
            "replay", stream, "-q", "--format", "ndjson", "--set", "limits.memory=64MiB", "--spill-directory",
            directory,
        ])
        #expect(replayed.code == ExitCode.done)
        #expect(replayed.output == (try folder.read("truth.ndjson")))
        #expect(
            replayed.notes.last?.hasSuffix(" MB of events did not fit into limits.memory and went through \(directory)")
                == true, "\(replayed.notes)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
        let nowhere = run(words: ["replay", stream, "--spill-directory", directory + "/nowhere"])
        #expect(nowhere.code == ExitCode.failed)
        #expect(
            nowhere.notes == [
                "tidemark: --spill-directory: \(directory)/nowhere is not a folder that can be written to"
            ])
    }

    @Test("Late events count unless the configuration says how late is too late")
    func lateness() throws {
        func event(_ id: String, _ time: Int) -> String {
            #"{"event_type":"users.messages.pushnotification.Send","id":"\#(id)","user_id":"u","time":\#(time)}"#
        }
        let file = try folder.write(
            "late.ndjson", [event("e-1", 1_767_571_200), event("e-2", 1_767_398_400)].joined(separator: "\n"))
        #expect(run(words: ["replay", "-q", file]).notes[1].hasPrefix("2 counted, "))
        let strict = run(words: ["replay", "-q", file, "--set", "attribution.allowed_lateness=24h"])
        #expect(strict.notes[1].hasPrefix("1 counted, "))
        #expect(strict.notes[2] == "refused: late 1")
    }

    @Test("What cannot be read ends with 1 and its name")
    func unreadable() throws {
        let missing = try folder.path("missing.ndjson")
        let outcome = run(words: ["replay", "-q", missing])
        #expect(outcome.code == ExitCode.failed)
        #expect(outcome.notes == ["tidemark: cannot open \(missing): No such file or directory"])
        #expect(run(words: ["replay", "-q", missing + "*"]).notes == ["tidemark: no file matches \(missing)*"])
        let file = try folder.write("empty.ndjson", "")
        let nowhere = run(words: ["replay", "-q", file, "-o", "\(missing)/rows"])
        #expect(nowhere.code == ExitCode.failed)
        #expect(nowhere.output.isEmpty)
    }

    @Test("An empty file is a report without rows")
    func empty() throws {
        let file = try folder.write("empty.ndjson", "\n")
        #expect(run(words: ["replay", "-q", file]).output == "No rows.\n")
        #expect(run(words: ["replay", "-q", file, "--format", "json"]).output == "[]\n")
        #expect(run(words: ["replay", "-q", file, "--format", "ndjson"]).output.isEmpty)
    }
}
