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
    private func replay(_ settings: PlainSettings, lateness: Int64?) -> ReplayTask {
        var rules = AttributionRules(settings)
        rules.allowedLateness = lateness
        return ReplayTask(rules: rules, settings: ReportSettings(), days: .utc, limits: DecoderLimits())
    }

    private func take(_ event: SampleEvent, _ task: ReplayTask, stream: Int32) {
        event.json(.flatWithType).withUnsafeBytes {
            task.take(ByteView($0), hint: .none, recordTime: .max / 4, padded: false, stream: stream) { "here" }
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
            #expect(mixed.counts == apart.counts, "seed \(seed)")
            let rows = [mixed, apart].map { task in
                var json = JSONWriter()
                task.finish().writeLines(to: &json)
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
