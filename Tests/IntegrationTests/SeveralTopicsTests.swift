import Foundation
import Testing
import TidemarkKafka
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// Input topics by type of event, merged by the times of their records.
    @Suite struct SeveralTopicsTests {
        /// The last one stays empty.
        private static let inputs = ["sends", "pushes", "sessions", "other", "idle"]

        private func application(
            _ name: String, partitions: Int = 4, settings: String = ""
        ) throws -> TestApplication {
            let application = try TestApplication(
                name, partitions: partitions, settings: settings, inputs: SeveralTopicsTests.inputs)
            // The producers' times are the records' times.
            let config = ["message.timestamp.type": "CreateTime", "message.timestamp.after.max.ms": "3600000"]
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            let made = try admin.createTopics(
                application.topics.inputs.map {
                    KafkaAdmin.NewTopic(name: $0, partitions: partitions, replicationFactor: 1, config: config)
                })
            try #require(made.allSatisfy { $0.error == nil })
            try application.createTopics()
            return application
        }

        private func topic(of eventType: String, _ application: TestApplication) -> String {
            let name =
                if eventType == "users.messages.pushnotification.Send" {
                    "sends"
                } else if eventType.hasPrefix("users.messages.pushnotification.") {
                    "pushes"
                } else if eventType.hasPrefix("users.behaviors.app.") {
                    "sessions"
                } else {
                    "other"
                }
            return "\(application.id).\(name)"
        }

        /// All records in order of arrival, each with its topic and time.
        private func records(_ workload: Workload, _ application: TestApplication) -> [InputRecord] {
            var stream = workload.stream()
            var record = WorkloadRecord()
            var records: [InputRecord] = []
            while stream.next(into: &record) {
                records.append(
                    InputRecord(
                        key: record.userID, value: record.json, timestamp: Int64(record.arrival) * 1_000,
                        topic: topic(of: record.eventType, application)))
            }
            return records
        }

        /// Fills one topic after the other.
        private func feedByTopic(_ records: [InputRecord], _ application: TestApplication) throws {
            let feeder = StreamFeeder(topic: application.input)
            for topic in application.topics.inputs.reversed() { try feeder.feed(records.filter { $0.topic == topic }) }
        }

        private func stop(_ process: TidemarkProcess) throws {
            let ending = try process.stop()
            #expect(ending.status == 0 && ending.seconds < 5, "\(ending.seconds) s: \(ending.log)")
            #expect(!ending.log.contains("user_id"), "\(ending.log)")
        }

        @Test("days of each topic are there before the start: nothing is late, all offsets are committed")
        func catchUp() throws {
            let application = try application("merge")
            let workload = Workload.small(users: 400, seed: 41)
            try feedByTopic(records(workload, application), application)
            let report = try PublishedReport(application)
            let group = try GroupReader(application)
            let process = try application.start(instance: "a")
            try ExpectedReport(workload).wait(for: report)
            try eventually(within: 20, "offsets: \(process.log)") { try group.committed() == group.end() }
            #expect(report.deadLetters.records.isEmpty)
            try stop(process)
        }

        @Test("more than may wait: partitions stop and go")
        func backPressure() throws {
            let application = try application("pressure", partitions: 2, settings: "limits: {memory: 128MiB}")
            let workload = Workload.small(users: 2_500, seed: 42)
            try feedByTopic(records(workload, application), application)
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a")
            try ExpectedReport(workload).wait(for: report, within: 90)
            #expect(report.deadLetters.records.isEmpty)
            try stop(process)
        }

        @Test("records come as they happen, in all topics but one that is idle")
        func live() throws {
            let application = try application("live")
            let workload = Workload.small(users: 200, seed: 43)
            let report = try PublishedReport(application)
            let process = try application.start(instance: "a")
            try eventually(within: 20, process.log) { process.log.contains("2 workers") }
            let feeder = StreamFeeder(topic: application.input)
            feeder.begin(records(workload, application), over: 8)
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            try stop(process)
        }

        @Test("killed again and again while it catches up: nothing lost, nothing twice, nothing late")
        func kills() throws {
            let seed: UInt64 = 44
            var random = SplitMix64(seed: seed)
            let application = try application("mergekill")
            let workload = Workload.small(users: 600, seed: seed)
            let records = records(workload, application)
            let group = try GroupReader(application)
            let report = try PublishedReport(application)
            try feedByTopic(Array(records.prefix(records.count / 2)), application)
            let feeder = StreamFeeder(topic: application.input)
            feeder.begin(Array(records.suffix(from: records.count / 2)), over: 20)
            for _ in 0..<3 {
                let process = try application.start(instance: "a")
                try group.awaitProgress(of: process, from: feeder)
                Thread.sleep(forTimeInterval: Double.random(in: 0...0.8, using: &random))
                try process.killHard()
            }
            let last = try application.start(instance: "a")
            let other = try application.start(instance: "b")
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty, "seed \(seed)")
            try stop(last)
            try stop(other)
        }

        @Test("keys of something else than users: strict stops, warn says so once")
        func keys() throws {
            let application = try application("keys")
            let workload = Workload.small(users: 20, days: 1, seed: 45)
            let records = records(workload, application).map { record in
                var record = record
                record.key = Array("tenant-1".utf8)
                return record
            }
            try feedByTopic(records, application)
            let ending = try application.startRefused(["input.key_check=strict"])
            #expect(ending.status == 1, "\(ending.log)")
            // Quotes are escaped in log lines, not in the last message.
            let log = ending.log.replacingOccurrences(of: "\\\"", with: "\"")
            for part in [
                "\(application.id).", "], offset 0: the key is \"tenant-1\", but the event's user_id is \"",
                "have the producer use the user_id as the key", "`input.key_check: warn` goes on regardless",
            ] {
                #expect(log.contains(part), "\(ending.log)")
            }
            let process = try application.start(instance: "a")
            let group = try GroupReader(application)
            try eventually(within: 30, "all of it: \(process.log)") { try group.committed() == group.end() }
            #expect(process.log.components(separatedBy: "have the producer use").count == 2, "\(process.log)")
            #expect(try process.stop().status == 0)
        }
    }
}
