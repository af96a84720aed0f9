import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkProcessor
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

/// A replay of several partitions, each with a watermark of its own as live.
@Suite("Replay of partitions")
struct ReplayStreamTests {
    private func replay(
        _ settings: PlainSettings, lateness: Int64?, isRepartitioned: Bool = false
    ) -> ReplayTask {
        var rules = AttributionRules(settings)
        rules.allowedLateness = lateness
        return ReplayTask(
            rules: rules, settings: ReportSettings(), days: .utc, limits: DecoderLimits(),
            isRepartitioned: isRepartitioned)
    }

    private func take(_ event: SampleEvent, _ task: ReplayTask, stream: Int32) {
        event.json(.flatWithType).withUnsafeBytes {
            task.take(ByteView($0), hint: .none, recordTime: .max / 4, padded: false, stream: stream) { "here" }
        }
    }

    @Test("users spread over partitions, as with input.repartition: each partition judges, and users are whole")
    func spreadUsers() throws {
        let settings = PlainSettings()
        for seed in UInt64(1)...60 {
            let stream = EdgeStream(seed: seed, events: 120, horizon: 20 * 86_400, settings: settings)
            var accepted: [SampleEvent] = []
            var marks = [0, 0, 0]
            let task = replay(settings, lateness: 86_400, isRepartitioned: true)
            // One partition whole, then the others.
            let order = stream.events.indices.sorted { ($0 % 3 == 0 ? 0 : 1, $0) < ($1 % 3 == 0 ? 0 : 1, $1) }
            for index in order {
                let event = stream.events[index]
                take(event, task, stream: Int32(index % 3))
                // What is skipped moves no watermark.
                guard TopicType.named(event.eventType) != .unknown, event.time >= marks[index % 3] - 86_400 else {
                    continue
                }
                accepted.append(event)
                marks[index % 3] = max(marks[index % 3], event.time)
            }
            var json = JSONWriter()
            try task.finish().writeLines(to: &json)
            var truth = try PlainEvaluation(settings: settings)
            truth.add(accepted)
            #expect(json.bytes == truth.truth(), "seed \(seed)")
        }
    }

    @Test("whatever the order in which partitions are read: the same verdicts, and the rows of what was accepted")
    func manyStreams() throws {
        var settings = PlainSettings()
        settings.uniqueRetention = 90 * 86_400
        for seed in UInt64(1)...60 {
            let stream = EdgeStream(seed: seed, events: 120, horizon: 20 * 86_400, settings: settings)
            let partition = { (event: SampleEvent) in Int32(event.userID.utf8.reduce(0) { $0 + Int($1) } % 3) }
            let mixed = replay(settings, lateness: 86_400)
            for event in stream.events { take(event, mixed, stream: partition(event)) }
            let apart = replay(settings, lateness: 86_400)
            for number in Int32(0)..<3 {
                for event in stream.events where partition(event) == number { take(event, apart, stream: number) }
            }
            #expect(mixed.figures.counts == apart.figures.counts, "seed \(seed)")
            let rows = try [mixed, apart].map { task in
                var json = JSONWriter()
                try task.finish().writeLines(to: &json)
                return json.bytes
            }
            #expect(rows[0] == rows[1], "seed \(seed)")

            var truth = try PlainEvaluation(settings: settings)
            for number in Int32(0)..<3 {
                let driver = EngineDriver(settings, lateness: 86_400)
                truth.add(stream.events.filter { partition($0) == number && driver.take($0) == .accepted })
            }
            #expect(rows[0] == truth.truth(), "seed \(seed)")
        }
    }
}
