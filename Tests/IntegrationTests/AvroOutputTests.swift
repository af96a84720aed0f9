import Foundation
import Testing
import TidemarkKafka
import TidemarkProcessor
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

extension Environment {
    /// URL of a schema registry, from `TIDEMARK_SCHEMA_REGISTRY`.
    static let registry = ProcessInfo.processInfo.environment["TIDEMARK_SCHEMA_REGISTRY"]
}

extension Trait where Self == ConditionTrait {
    /// Skips, saying why, where there is no schema registry.
    static var needsRegistry: Self {
        .enabled(
            if: Environment.registry != nil,
            "set TIDEMARK_SCHEMA_REGISTRY to the URL of a Confluent-compatible schema registry")
    }
}

extension ProgramTests {
    @Suite("Avro outputs", .needsRegistry)
    struct AvroOutputTests {
        private func application(_ name: String, _ settings: String = "") throws -> TestApplication {
            let url = Environment.registry ?? ""
            return try TestApplication(name, settings: "output.format: avro\nschema_registry.url: \(url)\n\(settings)")
        }

        @Test("rows and opens equal the truth, through a kill, for `report show` and for a plain decoder")
        func equalTheTruth() throws {
            let application = try application("avro-out")
            try application.createTopics()
            let workload = Workload.small(users: 250, seed: 12)
            let expected = try ExpectedReport(workload)
            let records = workload.records()
            let feeder = StreamFeeder(topic: application.input)
            let report = try PublishedReport(application)
            let first = try application.start(instance: "a")
            try feeder.feed(records.prefix(records.count / 2))
            try eventually(within: 40, "no rows: \(first.log)") {
                try report.update()
                return !report.rows.latest.isEmpty && !report.opens.latest.isEmpty
            }
            // What was published has to be read back by the next process.
            try first.killHard()
            try feeder.feed(records.dropFirst(records.count / 2))
            let second = try application.start(instance: "a")
            try eventually(within: 60, "the report does not become the truth: \(second.log)") {
                let shown = try application.command(["report", "show", "--format", "ndjson"])
                return shown.status == 0 && String(decoding: shown.output, as: UTF8.self) == expected.rows
            }
            #expect(try second.stop().status == 0)
            try report.update()
            try check(report, expected)
        }

        /// Compares what a decoder that knows only the schemas makes of the topics.
        private func check(_ report: PublishedReport, _ expected: ExpectedReport) throws {
            let rowSchema = try PlainAvro(schema: OutputSchema.reportRow)
            let rows = try report.rows.latest.values.map { value in
                var row = try #require(try plain(value, rowSchema) as? [String: Any])
                #expect(row.removeValue(forKey: "revision") is Int)
                #expect(row.removeValue(forKey: "as_of") is Int)
                return row as NSDictionary
            }
            let due = try expected.rows.split(separator: "\n").map { try PlainAvro.object(String($0)).withoutNulls }
            #expect(Set(rows) == Set(due))
            let openSchema = try PlainAvro(schema: OutputSchema.open)
            let opens = try report.opens.latest.values.map { value in
                OpenFields([UInt8](try JSONSerialization.data(withJSONObject: try plain(value, openSchema))))
            }
            #expect(opens.count == expected.opens.count)
            #expect(Set(opens) == expected.opens)
        }

        private func plain(_ value: [UInt8], _ schema: PlainAvro) throws -> NSDictionary {
            #expect(value.first == 0)
            return try schema.json(value.dropFirst(5))
        }

        @Test("where registering is not wanted, a missing schema stops the program, which says what to do")
        func lookUpOnly() throws {
            let application = try application("avro-lookup", "schema_registry.register: false")
            try application.createTopics()
            let refused = try application.startRefused()
            #expect(refused.status == 1)
            let subject = "\(application.topics.reports)-value"
            #expect(refused.log.contains("cannot find the schema of \(subject) at "))
            #expect(refused.log.contains("Register the schema of schemas/avro under \(subject)"))
        }

        @Test("a registry that is not there yet is waited for")
        func registryComesLate() throws {
            let relay = try Relay(to: Environment.registry ?? "")
            let application = try TestApplication(
                "avro-late", settings: "output.format: avro\nschema_registry.url: \(relay.url)")
            try application.createTopics()
            let process = try application.start(instance: "a")
            try eventually(within: 30, process.log) { process.log.contains("waiting for the schema registry: ") }
            try relay.open()
            let workload = Workload.small(users: 50, seed: 3)
            try StreamFeeder(topic: application.input).feed(workload.records())
            let rows = try TopicReader(application.topics.reports)
            try eventually(within: 60, process.log) {
                try rows.update()
                return !rows.latest.isEmpty
            }
            #expect(try process.stop().status == 0)
        }
    }
}
