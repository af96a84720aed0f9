import Testing
import TidemarkEvents
import TidemarkIngest
import TidemarkProcessor

@testable import TidemarkServer

@Suite("Pages of the endpoint for posts")
struct IngestPagesTests {
    private var status: IngestStatus {
        var status = IngestStatus()
        status.answers = [503: 2, 200: 40]
        status.events = 4_000
        status.deadLetters = [.missingField: 3]
        status.receivedBytes = 1_234
        status.durations.add(.milliseconds(7))
        status.durations.add(.seconds(60))
        status.connections = 12
        status.requests = 2
        status.heldBytes = 70_000
        status.slowConnections = 5
        status.brokenOff = 1
        return status
    }

    private func pages(_ status: IngestStatus) -> IngestPages {
        IngestPages(build: BuildFigures(version: "1.2.3", librdkafka: "2.0.2")) { status }
    }

    @Test func everyFigureIsAMetric() throws {
        let answer = try #require(pages(status).answer("/metrics"))
        #expect(answer.status == 200)
        let samples = answer.body.split(separator: "\n").filter {
            !$0.hasPrefix("#") && !$0.hasPrefix("tidemark_process_") && !$0.contains("_bucket")
                && !$0.hasPrefix("tidemark_dead_letter")
        }
        #expect(
            samples == [
                "tidemark_ingest_answers_total{status=\"200\"} 40", "tidemark_ingest_answers_total{status=\"503\"} 2",
                "tidemark_ingest_events_total 4000", "tidemark_ingest_received_bytes_total 1234",
                "tidemark_ingest_acknowledge_duration_seconds_sum 60.007",
                "tidemark_ingest_acknowledge_duration_seconds_count 2", "tidemark_ingest_connections 12",
                "tidemark_ingest_requests 2", "tidemark_ingest_held_bytes 70000",
                "tidemark_ingest_slow_connections_total 5", "tidemark_ingest_broken_off_total 1",
                "tidemark_ingest_kafka_away 0", "tidemark_build_info{version=\"1.2.3\",librdkafka=\"2.0.2\"} 1",
            ])
        #expect(answer.body.contains("\ntidemark_dead_letter_records_total{code=\"missing_field\"} 3\n"))
        #expect(answer.body.contains("\ntidemark_ingest_acknowledge_duration_seconds_bucket{le=\"0.01\"} 1\n"))
        #expect(answer.body.contains("\ntidemark_ingest_acknowledge_duration_seconds_bucket{le=\"30\"} 1\n"))
        #expect(answer.body.contains("\ntidemark_ingest_acknowledge_duration_seconds_bucket{le=\"+Inf\"} 2\n"))
    }

    @Test func readinessFollowsKafkaAndLivenessDoesNot() {
        var status = status
        #expect(pages(status).answer("/readyz") == HTTPAnswer(status: 200, body: "ready\n"))
        status.isKafkaAway = true
        #expect(pages(status).answer("/readyz") == HTTPAnswer(status: 503, body: "Kafka does not take records\n"))
        #expect(pages(status).answer("/livez") == HTTPAnswer(status: 200, body: "live\n"))
        status.phase = .stopping
        #expect(pages(status).answer("/readyz") == HTTPAnswer(status: 503, body: "stopping\n"))
        #expect(pages(status).answer("/nowhere") == nil)
    }
}
