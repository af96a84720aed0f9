import Foundation
import Testing
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// What a running process tells over HTTP and in its log.
    @Suite struct MetricsTests {
        @Test("counters equal the known stream, lags end at 0, and a restarted process restores its gauges")
        func counters() throws {
            let application = try TestApplication("metrics")
            try application.createTopics()
            let workload = Workload.small(users: 200, seed: 21)
            let records = workload.records()
            let truth = try workload.truth(settings: PlainSettings())
            let broken = InputRecord(key: Array("broken".utf8), value: Array("{".utf8), type: nil)
            let process = try application.start(instance: "a", ["server.listen=127.0.0.1:0"])
            let address = try process.metricsAddress()
            try StreamFeeder(topic: application.input).feed(records + [broken, broken])

            let scrape = try settled(address, records: records.count + 2, process)
            let verdicts = { (name: String) in scrape["tidemark_input_events_total{verdict=\"\(name)\"}"] }
            let letters = scrape.series("tidemark_dead_letter_records_total")
            #expect(letters.values.reduce(0, +) == 2)
            #expect(letters["tidemark_dead_letter_records_total{code=\"malformed\"}"] == 2)
            #expect(scrape.sum("tidemark_input_events_total") == Double(records.count))
            #expect(verdicts("counted") == Double(truth.uniqueEvents))
            #expect(verdicts("duplicate") == Double(truth.duplicates))
            #expect(verdicts("skipped") == Double(truth.unknownTypes))

            #expect(scrape["tidemark_input_lateness_seconds_count"] == Double(truth.uniqueEvents))

            let users = scrape.sum("tidemark_state_users")
            #expect(users > 0 && users <= 200)
            #expect(scrape.sum("tidemark_state_bytes") > users * 64)
            #expect(scrape["tidemark_task_assigned"] == 4)
            #expect(scrape["tidemark_commit_aborts_total"] == 0)
            #expect(scrape["tidemark_session_restarts_total"] == 0)
            #expect((scrape["tidemark_commit_duration_seconds_count"] ?? 0) > 0)
            #expect((scrape["tidemark_aggregator_rows_total"] ?? 0) > 0)
            #expect(scrape.series("tidemark_watermark_timestamp_seconds").count == 4)
            #expect(try Scrape.page("/livez", address).status == 200)
            #expect(try process.stop().status == 0, "\(process.log)")

            let second = try application.start(instance: "a", ["server.listen=127.0.0.1:0"])
            let restored = try settled(try second.metricsAddress(), records: 0, second)
            for name in ["tidemark_state_users", "tidemark_watermark_timestamp_seconds"] {
                #expect(restored.series(name) == scrape.series(name), "\(second.log)")
            }
            #expect(restored.sum("tidemark_state_bytes") > users * 64)
            #expect(try second.stop().status == 0)
        }

        @Test("an address that was set and is taken ends the process; a default that is taken does not")
        func takenAddress() throws {
            let application = try TestApplication("taken")
            try application.createTopics()
            let first = try application.start(instance: "a", ["server.listen=127.0.0.1:0"])
            let address = try first.metricsAddress()
            let refused = try application.startRefused(["server.listen=\(address)"])
            #expect(refused.status == 1)
            #expect(refused.log.contains("server.listen: cannot listen at \(address): Address already in use"))

            // At most one of these can have the default address.
            let others = try ["b", "c"].map { try application.start(instance: $0) }
            for other in others {
                try eventually(within: 30, other.log) { other.log.contains("2 workers") }
            }
            #expect(others.contains { $0.log.contains("level=warn") && $0.log.contains("no metrics and no health") })
            for process in others + [first] { #expect(try process.stop().status == 0, "\(process.log)") }
        }

        @Test("without brokers the process is live and not ready")
        func noBroker() throws {
            let application = try TestApplication("unreached")
            let process = try application.start(
                instance: "a", ["kafka.bootstrap.servers=127.0.0.1:1", "server.listen=127.0.0.1:0"])
            let address = try process.metricsAddress()
            #expect(try Scrape.page("/livez", address) == (200, "starting\n"))
            #expect(try Scrape.page("/readyz", address) == (503, "starting\n"))
            #expect(try process.stop().status == 0)
        }

        /// Waits until a process is ready, has committed so many records, and lags behind nowhere.
        private func settled(_ address: String, records: Int, _ process: TidemarkProcess) throws -> Scrape {
            var scrape = try Scrape.read(address)
            try eventually(within: 60, "\(scrape.values)\n\(process.log)") {
                scrape = try Scrape.read(address)
                let lags = ["tidemark_input_lag_records", "tidemark_input_end_lag_records"].map(scrape.series)
                let reports = scrape.series("tidemark_aggregator_lag_records")
                let ready = try Scrape.page("/readyz", address)
                return scrape["tidemark_input_records_total"] == Double(records)
                    && lags.allSatisfy { $0.count == 4 && $0.values.allSatisfy { $0 == 0 } }
                    && reports.count == 2 && reports.values.allSatisfy { $0 == 0 }
                    && ready == (200, "ready\n")
            }
            return scrape
        }
    }
}
