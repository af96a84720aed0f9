internal import TidemarkEvents
public import TidemarkIngest
internal import TidemarkProcessor

/// The pages of an endpoint for posts: `/metrics`, `/livez` and `/readyz`. They read copies of its figures and nothing else.
public struct IngestPages: Sendable {
    private let build: BuildFigures
    private let status: @Sendable () -> IngestStatus

    /// - Parameters:
    ///   - build: the versions.
    ///   - status: gives a copy of the figures as they are now; called once for each request.
    public init(build: BuildFigures, status: @escaping @Sendable () -> IngestStatus) {
        self.build = build
        self.status = status
    }

    /// The answer for a path; `nil` where there is no such page.
    public func answer(_ path: String) -> HTTPAnswer? {
        switch path {
        case "/metrics":
            let text = IngestMetrics(status()).text(build: build, process: .current())
            return HTTPAnswer(status: 200, contentType: MetricsText.contentType, body: text)
        // A process that answers moves; a Kafka that is away is no reason to start it again.
        case "/livez": return Health(isGood: true, lines: ["live"]).answer
        case "/readyz": return Health.readiness(status()).answer
        case "/": return HTTPAnswer(status: 200, body: "/metrics\n/livez\n/readyz\n")
        default: return nil
        }
    }
}

extension Health {
    /// Whether posts are taken.
    public static func readiness(_ status: IngestStatus) -> Health {
        if status.phase == .stopping { return Health(isGood: false, lines: ["stopping"]) }
        if status.isKafkaAway { return Health(isGood: false, lines: ["Kafka does not take records"]) }
        return Health(isGood: true, lines: ["ready"])
    }
}

/// Renders what an endpoint has done and how it stands as metrics. `docs/ingest.md` lists them.
struct IngestMetrics {
    private let status: IngestStatus

    init(_ status: IngestStatus) { self.status = status }

    func text(build: BuildFigures, process: ProcessFigures?) -> String {
        var text = MetricsText()
        writeRequests(to: &text)
        writeConnections(to: &text)
        writeHealth(to: &text)
        build.write(to: &text)
        process?.write(to: &text)
        return text.text
    }

    private func writeRequests(to text: inout MetricsText) {
        text.family("tidemark_ingest_answers_total", .counter, "Answers to posts by status code")
        for (code, count) in status.answers.sorted(by: { $0.key < $1.key }) {
            text.sample(count, ["status": "\(code)"])
        }
        text.family(
            "tidemark_ingest_events_total", .counter, "Events that Kafka has acknowledged in the input topic")
        text.sample(status.events)
        text.family(
            "tidemark_dead_letter_records_total", .counter,
            "Events that Kafka has acknowledged as dead letters, by code")
        for code in RejectionCode.allCases {
            text.sample(status.deadLetters[code] ?? 0, ["code": code.rawValue])
        }
        text.family("tidemark_ingest_received_bytes_total", .counter, "Bodies as they were sent")
        text.sample(status.receivedBytes)
        let durations = status.durations
        text.family(
            "tidemark_ingest_acknowledge_duration_seconds", .histogram,
            "Time from the end of a body to Kafka's acknowledgement of all its events")
        text.histogram(DurationHistogram.bounds, durations.counts, count: durations.count)
        text.sample(durations.sum, suffix: "_sum")
        text.sample(durations.count, suffix: "_count")
    }

    private func writeConnections(to text: inout MetricsText) {
        text.family("tidemark_ingest_connections", .gauge, "Open connections")
        text.sample(status.connections)
        text.family("tidemark_ingest_requests", .gauge, "Requests that are not answered in full")
        text.sample(status.requests)
        text.family("tidemark_ingest_held_bytes", .gauge, "Bodies that are read or wait for Kafka")
        text.sample(status.heldBytes)
        text.family(
            "tidemark_ingest_slow_connections_total", .counter,
            "Connections that were closed because a head, a body or the reading of an answer took too long")
        text.sample(status.slowConnections)
        text.family(
            "tidemark_ingest_broken_off_total", .counter, "Requests that broke off before their body was complete")
        text.sample(status.brokenOff)
    }

    private func writeHealth(to text: inout MetricsText) {
        text.family("tidemark_ingest_kafka_away", .gauge, "1 while Kafka does not take records")
        text.sample(status.isKafkaAway ? 1 : 0)
        text.family("tidemark_process_ready", .gauge, "1 while /readyz answers 200")
        text.sample(Health.readiness(status).isGood ? 1 : 0)
    }
}
