import Foundation
import Testing
import TidemarkKafka
import TidemarkProcessor

extension ProgramTests {
    /// Events in Avro behind the ids of a real registry, which is reached through a port that a test opens and closes.
    @Suite("Avro input with a registry", .needsRegistry)
    struct RegistryInputTests {
        private static let stream = ["--users", "150", "--days", "3", "--seed", "5", "--start", "2026-01-05"]

        private let relay: Relay
        private let application: TestApplication
        private let truth = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ndjson")

        init() throws {
            relay = try Relay(to: Environment.registry ?? "")
            application = try TestApplication(
                "avro-in", settings: "schema_registry.url: \(relay.url)\nschema_registry.unknown_after: 1s")
            try application.createTopics()
        }

        /// Fills a topic with the sample stream.
        private func load(_ application: TestApplication, _ arguments: [String] = []) throws {
            let url = "schema_registry.url=\(Environment.registry ?? "")"
            let ending = try application.command(
                ["load", "--to", "topic", "--set", url] + RegistryInputTests.stream + arguments)
            #expect(ending.status == 0, "\(ending.log)")
        }

        /// Waits until the application publishes these rows.
        private func wait(for rows: [UInt8], _ application: TestApplication, _ process: TidemarkProcess) throws {
            try eventually(within: 60, "the report does not become the truth: \(process.log)") {
                let shown = try application.command(["report", "show", "--format", "ndjson"])
                return shown.status == 0 && shown.output == rows
            }
        }

        @Test("a stream in Avro gives the report of the same stream in JSON; a registry that is down is waited for")
        func sameAsJSON() throws {
            defer { try? FileManager.default.removeItem(at: truth) }
            try load(application, ["--format", "avro", "--truth", truth.path])
            let json = try TestApplication("avro-as-json")
            try json.createTopics()
            try load(json)
            let rows = [UInt8](try Data(contentsOf: truth))
            let plain = try json.start(instance: "a")
            try wait(for: rows, json, plain)
            #expect(try plain.stop().status == 0)

            let process = try application.start(instance: "a")
            try eventually(within: 30, process.log) {
                process.log.contains("waiting for schema ") && process.log.contains(" from \(relay.url) since ")
            }
            #expect(process.log.contains("the schema registry does not answer, asking on: "))
            try relay.open()
            try wait(for: rows, application, process)
            #expect(process.log.contains("the schema registry answers again"))

            // History needs the schemas again, and waits for them as well; what comes then, all of it known or late, does so in any case.
            try process.killHard()
            relay.close()
            try load(application, ["--format", "avro"])
            let next = try application.start(instance: "a")
            try eventually(within: 30, next.log) { next.log.contains("waiting for schema ") }
            try relay.open()
            try eventually(within: 30, next.log) { next.log.contains("is live: ") }
            try wait(for: rows, application, next)
            #expect(try next.stop().status == 0)
        }

        @Test("records of an id that the registry does not know are dead letters, and the stream goes on")
        func unknownID() throws {
            defer { try? FileManager.default.removeItem(at: truth) }
            try relay.open()
            let unknown: [UInt8] = [0, 0x7F, 0xFF, 0xFF, 0xF0, 2, 4]
            let records = (0..<4).map { InputRecord(key: Array("u".utf8), value: unknown, partition: Int32($0)) }
            try StreamFeeder(topic: application.input).feed(records)
            try load(application, ["--format", "avro", "--truth", truth.path])
            try StreamFeeder(topic: application.input).feed(records)
            let process = try application.start(instance: "a")
            try wait(for: [UInt8](try Data(contentsOf: truth)), application, process)
            let letters = try TopicReader(application.topics.deadLetters)
            try eventually(within: 30, process.log) {
                try letters.update()
                return letters.records.count >= 8
            }
            #expect(letters.records.count == 8)
            for letter in letters.records {
                #expect(letter.value == unknown)
                #expect(letter.header("tidemark.error.code") == "unknown_schema")
                #expect(
                    letter.header("tidemark.error.message")?.contains("cannot get schema 2147483632 at \(relay.url)")
                        == true)
            }
            #expect(try process.stop().status == 0)
        }

        @Test("a replay of the topic waits for the registry, too")
        func replay() throws {
            defer { try? FileManager.default.removeItem(at: truth) }
            try load(application, ["--format", "avro", "--truth", truth.path])
            let replay = try TidemarkProcess(
                [
                    "replay", "--topic", application.input, "--format", "ndjson", "-c",
                    application.configurationFile.path,
                ])
            try eventually(within: 30, replay.log) { replay.log.contains("waiting for the schema registry: ") }
            try relay.open()
            let ending = try replay.waitForEnd(within: 60)
            #expect(ending.status == 0, "\(ending.log)")
            #expect(ending.output == [UInt8](try Data(contentsOf: truth)))
        }

        @Test("events that are brought together by user first wait for their schemas where they come in")
        func repartitioned() throws {
            defer { try? FileManager.default.removeItem(at: truth) }
            let other = try TestApplication(
                "avro-rep",
                settings: "schema_registry.url: \(relay.url)\ninput.repartition: true", reading: application)
            try other.createTopics()
            try load(application, ["--format", "avro", "--truth", truth.path])
            let process = try other.start(instance: "a")
            try eventually(within: 30, process.log) { process.log.contains("waiting for schema ") }
            try relay.open()
            try wait(for: [UInt8](try Data(contentsOf: truth)), other, process)
            #expect(try process.stop().status == 0)
        }
    }
}
