import Foundation
import Testing
import TidemarkKafka
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// Input that is not keyed by user, brought together by user first.
    @Suite struct RepartitionTests {
        /// Short spans, so that users fold within the days of a small stream; a fold that comes too early would show.
        private static let shortSpans = [
            "attribution.window.cap: 1h", "attribution.instance_span: 1h", "attribution.allowed_lateness: 24h",
        ]
        private var shortSettings: PlainSettings {
            var settings = PlainSettings()
            settings.cap = 3_600
            settings.span = 3_600
            return settings
        }

        private func application(
            _ name: String, partitions: Int = 4, inputs: [String] = ["events"], _ settings: [String] = []
        ) throws -> TestApplication {
            let application = try TestApplication(
                name, partitions: partitions,
                settings: (["input.repartition: true"] + settings).joined(separator: "\n"), inputs: inputs)
            try application.createTopics()
            return application
        }

        /// Records one after the other into all partitions, with keys that say nothing.
        private func scattered(_ records: [InputRecord], over partitions: Int) -> [InputRecord] {
            records.enumerated().map { index, record in
                var record = record
                record.key = index % 3 == 0 ? nil : Array("tenant-\(index % 2)".utf8)
                record.partition = Int32(index % partitions)
                return record
            }
        }

        private func stop(_ processes: TidemarkProcess...) throws {
            for process in processes {
                let ending = try process.stop()
                #expect(ending.status == 0 && ending.seconds < 5, "\(ending.seconds) s: \(ending.log)")
                #expect(!ending.log.contains("user_id"), "keys were checked: \(ending.log)")
            }
        }

        @Test(
            "keys of something else, users in all partitions: rows and opens equal the truth, figures count the input once"
        )
        func scatteredKeys() throws {
            let application = try application("scatter")
            let workload = Workload.small(users: 300, seed: 61)
            let records = scattered(workload.records(), over: 4)
            let process = try application.start(instance: "a", ["server.listen=127.0.0.1:0"])
            let address = try process.metricsAddress()
            let broken = InputRecord(key: nil, value: Array("{".utf8), type: nil)
            try StreamFeeder(topic: application.input).feed(records + [broken, broken])
            let report = try PublishedReport(application)
            let expected = try ExpectedReport(workload)
            try expected.wait(for: report)

            var scrape = try Scrape.read(address)
            try eventually(within: 20, "\(scrape.values)\n\(process.log)") {
                scrape = try Scrape.read(address)
                let lags = ["tidemark_input_lag_records", "tidemark_input_end_lag_records"].map(scrape.series)
                let byUser = scrape.series("tidemark_by_user_lag_records")
                // Each partition hears of each source, whether it got events of it last or not.
                let marks = scrape.series("tidemark_source_watermark_timestamp_seconds").values
                let lowest = scrape.series("tidemark_source_watermark_lowest_seconds").values
                return try lowest.allSatisfy { $0 == marks.min() }
                    && scrape["tidemark_input_records_total"] == Double(records.count + 2)
                    && (lags + [byUser]).allSatisfy { $0.count == 4 && $0.values.allSatisfy { $0 == 0 } }
                    && lags.allSatisfy { $0.keys.allSatisfy { $0.contains("topic=\"\(application.input)\"") } }
                    && Scrape.page("/readyz", address) == (200, "ready\n")
            }
            let verdict = { (name: String) in scrape["tidemark_input_events_total{verdict=\"\(name)\"}"] }
            #expect(verdict("counted") == Double(expected.truth.uniqueEvents))
            #expect(verdict("duplicate") == Double(expected.truth.duplicates))
            #expect(verdict("skipped") == Double(expected.truth.unknownTypes))
            #expect(scrape["tidemark_dead_letter_records_total{code=\"malformed\"}"] == 2)
            #expect(scrape["tidemark_input_lateness_seconds_count"] == Double(expected.truth.uniqueEvents))
            #expect(scrape.series("tidemark_source_watermark_timestamp_seconds").count == 4)
            try stop(process)

            // Who goes on knows what is final, before anything new has come.
            let names = ["tidemark_source_watermark_timestamp_seconds", "tidemark_source_watermark_lowest_seconds"]
            let lowest = try #require(scrape.series(names[0]).values.min())
            #expect(scrape.series(names[1]).count == 4 && scrape.series(names[1]).values.allSatisfy { $0 == lowest })
            let second = try application.start(instance: "a", ["server.listen=127.0.0.1:0"])
            let secondAddress = try second.metricsAddress()
            try eventually(within: 20, second.log) { try Scrape.page("/readyz", secondAddress).status == 200 }
            let restored = try Scrape.read(secondAddress)
            for name in names { #expect(restored.series(name) == scrape.series(name)) }
            try stop(second)

            let byUser = try TopicReader(application.topics.byUser)
            try byUser.update()
            let event = try #require(byUser.records.first { $0.key != nil })
            let words = try #require(event.header("tidemark.source")).split(separator: " ")
            #expect(words.count == 7 && words.last.map(String.init) == application.input)
        }

        @Test("one partition days ahead of the others: nothing is late, and nothing is final too early")
        func onePartitionAhead() throws {
            let application = try application("ahead", RepartitionTests.shortSpans)
            let workload = Workload.small(users: 200, days: 8, seed: 62)
            let records = scattered(workload.records(), over: 4)
            let feeder = StreamFeeder(topic: application.input)
            let report = try PublishedReport(application)
            let group = try GroupReader(application)
            let process = try application.start(instance: "a")
            for partition in [2, 0, 3, 1] as [Int32] {
                try feeder.feed(records.filter { $0.partition == partition })
                try eventually(within: 30, process.log) { try group.committed() == group.end() }
                // Several commits of the tasks, each of which could fold.
                Thread.sleep(forTimeInterval: 1)
            }
            try ExpectedReport(workload, settings: shortSettings).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            try stop(process)
        }

        @Test("late and future-dated events are judged by the watermark and time of their own partition")
        func judgedAtTheSource() throws {
            let application = try application("judge", partitions: 2)
            let start = WorkloadOptions().start
            func session(_ id: String, _ time: Int, in partition: Int32) -> InputRecord {
                let json =
                    "{\"event_type\":\"users.behaviors.app.SessionStart\",\"id\":\"\(id)\",\"user_id\":\"u\","
                    + "\"session_id\":\"\(id)\",\"app_id\":\"app\",\"time\":\(time)}"
                return InputRecord(key: Array(id.utf8), value: Array(json.utf8), type: nil, partition: partition)
            }
            let day = 86_400
            try StreamFeeder(topic: application.input).feed([
                session("ahead", start + 10 * day, in: 0),
                session("late", start + 9 * day - 1, in: 0),
                session("just in time", start + 9 * day, in: 0),
                session("of another partition", start, in: 1),
                session("future", Int(Date().timeIntervalSince1970) + 2 * 3_600, in: 1),
            ])
            let process = try application.start(instance: "a", ["server.listen=127.0.0.1:0"])
            let address = try process.metricsAddress()
            try eventually(within: 30, process.log) {
                try Scrape.read(address)["tidemark_input_events_total{verdict=\"counted\"}"] == 3
            }
            let report = try PublishedReport(application)
            try report.update()
            let letters = report.deadLetters.records
            #expect(Set(letters.compactMap { $0.header("tidemark.error.code") }) == ["late", "future_dated"])
            #expect(
                Set(letters.compactMap { $0.key.map { String(decoding: $0, as: UTF8.self) } }) == ["late", "future"])
            #expect(letters.allSatisfy { $0.header("tidemark.error.topic") == application.input })
            try stop(process)
        }

        @Test(
            "batches of several users with bad events: each event goes to its user, each bad one is kept once with its place"
        )
        func batches() throws {
            let application = try application("batches", partitions: 3)
            let workload = Workload.small(users: 150, seed: 63)
            let single = workload.records()
            let bad = Array("{\"event_type\":\"users.messages.pushnotification.Open\",\"id\":\"bad\"}".utf8)
            var batches: [InputRecord] = []
            for start in stride(from: 0, to: single.count, by: 5) {
                var elements = single[start..<min(start + 5, single.count)].compactMap(\.value)
                if batches.count % 40 == 7 { elements.insert(bad, at: min(2, elements.count)) }
                let list = Array(elements.joined(separator: Array(" ,".utf8)))
                let value =
                    batches.count % 2 == 0
                    ? Array("[".utf8) + list + Array("]".utf8) : Array("{\"events\": [".utf8) + list + Array("]}".utf8)
                batches.append(InputRecord(key: nil, value: value, type: nil, partition: Int32(batches.count % 3)))
            }
            try StreamFeeder(topic: application.input).feed(batches)
            let process = try application.start(instance: "a")
            let report = try PublishedReport(application)
            try ExpectedReport(workload).wait(for: report)
            let letters = report.deadLetters.records
            #expect(letters.count == (batches.count + 32) / 40)
            let places = Set(
                letters.compactMap { letter -> [String]? in
                    #expect(letter.value == bad && letter.header("tidemark.error.index") == "2")
                    let place = ["partition", "offset"].compactMap { letter.header("tidemark.error." + $0) }
                    return place.count == 2 ? place : nil
                })
            let due = batches.indices.filter { $0 % 40 == 7 }.map { ["\($0 % 3)", "\($0 / 3)"] }
            #expect(places == Set(due))
            try stop(process)
        }

        @Test(
            "several topics of different size, types known from topic and header only, one topic read long after the other"
        )
        func severalTopics() throws {
            let inputs = ["users.messages.pushnotification.Send", "rest"]
            let application = try TestApplication(
                "topics", partitions: 3, settings: "input.repartition: true", inputs: inputs)
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            let small = KafkaAdmin.NewTopic(
                name: application.topics.inputs[1], partitions: 2, replicationFactor: 1,
                config: ["message.timestamp.type": "LogAppendTime"])
            try #require(try admin.createTopics([small]).allSatisfy { $0.error == nil })
            try application.createTopics()
            let workload = Workload(WorkloadOptions(users: 200, days: 5, campaigns: 12, seed: 64))
            var stream = workload.stream()
            var record = WorkloadRecord()
            var records: [[InputRecord]] = [[], []]
            while stream.next(into: &record) {
                let place = record.eventType == inputs[0] ? 0 : 1
                records[place].append(
                    InputRecord(
                        key: nil, value: record.json, type: place == 0 ? nil : record.eventType,
                        topic: application.topics.inputs[place],
                        partition: Int32(records[place].count % (place == 0 ? 3 : 2))))
            }
            let feeder = StreamFeeder(topic: application.input)
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a")
            try feeder.feed(records[1])
            Thread.sleep(forTimeInterval: 3)
            try feeder.feed(records[0])
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            try stop(process)
        }

        @Test("two processes, killed, stopped and started again while events come in: nothing lost, nothing twice")
        func kills() throws {
            let seed: UInt64 = 65
            var random = SplitMix64(seed: seed)
            let application = try application("rekill", RepartitionTests.shortSpans)
            let workload = Workload.small(users: 300, days: 8, seed: seed)
            let group = try GroupReader(application)
            let report = try PublishedReport(application)
            let feeder = StreamFeeder(topic: application.input)
            feeder.begin(scattered(workload.records(), over: 4), over: 35)
            var other = try application.start(instance: "b")
            for round in 0..<3 {
                let process = try application.start(instance: "a")
                try group.awaitProgress(of: process, by: 100, from: feeder)
                Thread.sleep(forTimeInterval: Double.random(in: 0...0.8, using: &random))
                try process.killHard()
                guard round == 1 else { continue }
                try stop(other)
                other = try application.start(instance: "b")
            }
            let last = try application.start(instance: "a")
            try feeder.waitForEnd()
            try ExpectedReport(workload, settings: shortSettings).wait(for: report, within: 60)
            #expect(report.deadLetters.records.isEmpty, "seed \(seed)")
            try eventually(within: 20, "offsets: \(last.log)") { try group.committed() == group.end() }
            try stop(last, other)
        }

        @Test("frozen until another has taken over, then awake again: what it had in hand does not count")
        func freeze() throws {
            let application = try application("refreeze")
            let workload = Workload.small(users: 300, seed: 66)
            let report = try PublishedReport(application)
            let feeder = StreamFeeder(topic: application.input)
            let group = try GroupReader(application)
            feeder.begin(scattered(workload.records(), over: 4), over: 14)
            let frozen = try application.start(instance: "a")
            try group.awaitProgress(of: frozen, by: 100, from: feeder)
            frozen.freeze()
            let other = try application.start(instance: "b")
            try group.awaitProgress(of: other, by: 100, from: feeder)
            frozen.thaw()
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            try stop(frozen, other)
        }

        @Test(
            "after a reset, other settings give the rows and opens of a fresh application; what was under way before is void"
        )
        func reset() throws {
            let application = try application("rereset")
            let workload = Workload.small(users: 120, seed: 67)
            let records = scattered(workload.records(), over: 4)
            try StreamFeeder(topic: application.input).feed(records)
            let first = try ExpectedReport(workload)
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a")
            try first.wait(for: report)
            try stop(process)
            let refused = try application.startRefused(["attribution.window.fixed=2h"])
            #expect(refused.status == 1 && refused.log.contains("tidemark reset"), "\(refused.log)")

            let done = try application.command(["reset", "--yes"])
            #expect(done.status == 0, "\(done.log)")
            var settings = PlainSettings()
            settings.fixed = 7_200
            let second = try ExpectedReport(workload, settings: settings)
            #expect(second.rows != first.rows)
            let again = try application.start(
                instance: "a", ["attribution.window.fixed=2h", "server.listen=127.0.0.1:0"])
            try second.wait(for: report)
            // Events of the epoch before are not even duplicates.
            let scrape = try Scrape.read(try again.metricsAddress())
            #expect(
                scrape["tidemark_input_events_total{verdict=\"duplicate\"}"] == Double(second.truth.duplicates))
            #expect(scrape["tidemark_input_records_total"] == Double(records.count))
            try stop(again)
        }

        @Test("a record that somebody else writes among the events by user is kept as a dead letter")
        func foreignRecord() throws {
            let application = try application("foreign")
            let stray = InputRecord(key: Array("u".utf8), value: Array("{}".utf8), type: nil, partition: 1)
            try StreamFeeder(topic: application.topics.byUser).feed([stray])
            let process = try application.start(instance: "a")
            let report = try PublishedReport(application)
            try eventually(within: 30, process.log) {
                try report.update()
                return !report.deadLetters.records.isEmpty
            }
            #expect(report.deadLetters.records.map { $0.header("tidemark.error.topic") } == [application.topics.byUser])
            #expect(report.deadLetters.records.map { $0.header("tidemark.error.code") } == ["malformed"])
            try stop(process)
        }

        @Test("the setting, or the sources, are others than before: refused")
        func changes() throws {
            let application = try application("rechange")
            let workload = Workload.small(users: 40, days: 2, seed: 68)
            try StreamFeeder(topic: application.input).feed(scattered(workload.records(), over: 4))
            let process = try application.start(instance: "a")
            try ExpectedReport(workload).wait(for: PublishedReport(application))
            try stop(process)
            func expect(_ settings: [String], says part: String) throws {
                let ending = try application.startRefused(settings)
                #expect(ending.status == 1 && !ending.wasKilled && ending.log.contains(part), "\(ending.log)")
            }
            try expect(["input.repartition=false"], says: "was made with `input.repartition: true`")
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            try #require(try admin.growTopics([application.input: 6]).allSatisfy { $0.error == nil })
            try expect([], says: "partitions so far")
        }
    }
}
