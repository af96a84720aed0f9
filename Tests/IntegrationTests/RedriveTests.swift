import Foundation
import Testing
import TidemarkKafka
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// `tidemark dlq`: what could not be counted is listed, shown, repaired and fed again, each once.
    @Suite struct RedriveTests {
        private func command(_ application: TestApplication, _ words: String...) throws -> (status: Int32, text: String)
        {
            let ending = try application.command(["dlq"] + words)
            return (ending.status, String(decoding: ending.output, as: UTF8.self) + ending.log)
        }

        /// Records that the present limits refuse, and wider ones take: their dead letters can be fed as they are.
        private func long(_ count: Int) -> [InputRecord] {
            (0..<count).map { number in
                let padding = String(repeating: " ", count: 3_000)
                let time = WorkloadOptions().start + number
                let json =
                    "{\"event_type\":\"users.behaviors.app.SessionStart\",\"id\":\"long-\(number)\",\"user_id\":\"u-\(number)\","
                    + "\"time\":\(time),\"session_id\":\"s-\(number)\",\"app_id\":\"a\",\"platform\":\"ios\"\(padding)}"
                return InputRecord(key: Array("u-\(number)".utf8), value: Array(json.utf8), type: nil)
            }
        }

        private func redriven(_ application: TestApplication) throws -> [TopicRecord] {
            let reader = try TopicReader(application.input)
            try reader.update()
            return reader.records.filter { $0.header("tidemark.redriven") != nil }
        }

        @Test(
            "killed in the middle and begun again, with filters in any order: each record is fed once, where it came from"
        )
        func onceEach() throws {
            let application = try TestApplication(
                "redrive", partitions: 3, settings: "attribution.allowed_lateness: unlimited")
            try application.createTopics()
            let count = 400
            let records = long(count)
            try StreamFeeder(topic: application.input).feed(records)
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a", ["limits.record_bytes=2KiB"])
            try eventually(within: 40, process.log) {
                try report.update()
                return report.deadLetters.records.count == count
            }
            #expect(try process.stop().status == 0)

            // Under the limits that refused them they would be refused again.
            let narrow = try command(application, "redrive", "--set", "limits.record_bytes=2KiB")
            #expect(narrow.status == 1)
            #expect(narrow.text.contains("it would be refused again as too_large"), "\(narrow.text.prefix(500))")
            #expect(try redriven(application).isEmpty)

            let dry = try command(application, "redrive", "--dry-run", "--partition", "1")
            let inPartition = report.deadLetters.records.count { $0.partition == 1 }
            #expect(dry.status == 0)
            #expect(
                dry.text.contains("\(inPartition) would be fed, 0 fed before, 0 refused"), "\(dry.text.suffix(200))")
            #expect(dry.text.split(separator: "\n").count { $0.hasPrefix("feed ") } == inPartition)
            #expect(try redriven(application).isEmpty)

            // Slow enough to be killed in the middle, and by no clock: once something is there.
            let first = try TidemarkProcess(
                ["dlq", "redrive", "--rate", "20", "-c", application.configurationFile.path])
            try eventually(within: 30, first.log) { try !redriven(application).isEmpty }
            try first.killHard()
            let some = try redriven(application).count
            #expect(some > 0 && some < count)

            let half = try command(application, "redrive", "--partition", "2")
            #expect(half.status == 0, "\(half.text)")
            let rest = try command(application, "redrive")
            #expect(rest.status == 0, "\(rest.text)")
            let again = try command(application, "redrive", "--code", "too_large")
            #expect(again.text.contains("0 fed, \(count) fed before, 0 refused"), "\(again.text)")
            try check(try redriven(application), against: records, application)

            let listed = try command(application, "list", "--format", "csv")
            #expect(listed.text.contains("too_large,\(application.input),\(count),\(count),"), "\(listed.text)")
        }

        private func check(
            _ fed: [TopicRecord], against records: [InputRecord], _ application: TestApplication
        ) throws {
            let reader = try TopicReader(application.input)
            try reader.update()
            #expect(fed.count == records.count)
            #expect(Set(fed.map(\.value)) == Set(records.map(\.value)))
            for record in fed {
                let id = try #require(record.header("tidemark.redriven"))
                let origin = try #require(RecordOrigin(id: id))
                let original = try #require(
                    reader.records.first { $0.partition == origin.partition && $0.offset == origin.offset })
                #expect(origin.topic == application.input)
                #expect(record.partition == original.partition)
                #expect(record.key == original.key && record.value == original.value)
                #expect(record.headers.map(\.name) == ["tidemark.redriven"])
            }
        }

        @Test("a second redrive ends the first, and together they feed each record once")
        func twoAtOnce() throws {
            let application = try TestApplication(
                "fenced", partitions: 2, settings: "attribution.allowed_lateness: unlimited")
            try application.createTopics()
            let records = long(200)
            try StreamFeeder(topic: application.input).feed(records)
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a", ["limits.record_bytes=2KiB"])
            try eventually(within: 40, process.log) {
                try report.update()
                return report.deadLetters.records.count == records.count
            }
            #expect(try process.stop().status == 0)
            let first = try TidemarkProcess(
                ["dlq", "redrive", "--rate", "5", "-c", application.configurationFile.path])
            try eventually(within: 30, first.log) { try !redriven(application).isEmpty }
            let second = try command(application, "redrive")
            #expect(second.status == 0, "\(second.text)")
            let ending = try first.waitForEnd(within: 60)
            #expect(ending.status == 1)
            #expect(ending.log.contains("only one feeds at a time"), "\(ending.log)")
            try check(try redriven(application), against: records, application)
        }

        @Test(
            "late ones are refused, with advice; future-dated ones are fed once their time is near enough; what is cut is fetched"
        )
        func timesAndExcerpts() throws {
            let application = try TestApplication("times", partitions: 1)
            try application.createTopics()
            let now = Int(Date().timeIntervalSince1970)
            func send(_ id: String, _ time: Int, _ more: String = "") -> InputRecord {
                InputRecord(
                    key: Array("u".utf8),
                    value: Array(
                        ("{\"event_type\":\"users.messages.pushnotification.Send\",\"id\":\"\(id)\",\"user_id\":\"u\",\"time\":\(time)"
                            + "\(more)}").utf8), type: nil)
            }
            let large = String(repeating: " ", count: 6 << 20)
            try StreamFeeder(topic: application.input, properties: ["compression.type": "lz4"]).feed([
                send("on time", now), send("late", now - 90_000), send("future", now + 7_200),
                send("large", now, large),
            ])
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a")
            try eventually(within: 40, process.log) {
                try report.update()
                return report.deadLetters.records.count == 3
            }
            #expect(try process.stop().status == 0)
            #expect(report.deadLetters.records.map { $0.header("tidemark.error.allowed") } == ["86400", "3600", nil])

            let refused = try command(application, "redrive")
            #expect(refused.status == 1)
            #expect(refused.text.contains("0 fed, 0 fed before, 3 refused"), "\(refused.text)")
            #expect(refused.text.contains("no more than 86400 s are allowed now; `tidemark replay --topic"))
            #expect(refused.text.contains("s more than attribution.future_tolerance allows; try again then"))
            let wide = [
                "--set", "attribution.future_tolerance=3h", "--set", "limits.record_bytes=16MiB", "--set",
                "attribution.allowed_lateness=30d",
            ]
            // More lateness is another fingerprint, of which `run` would say so: what is fed is judged by the settings at hand.
            let ending = try application.command(["dlq", "redrive"] + wide)
            #expect(ending.status == 0, "\(ending.log)")
            let fed = try redriven(application)
            #expect(fed.count == 3)
            #expect(fed.map(\.value).contains(send("large", now, large).value))
            #expect(fed.allSatisfy { $0.key == Array("u".utf8) })
        }
    }
}
