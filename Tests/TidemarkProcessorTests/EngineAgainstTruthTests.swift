import Foundation
import Testing
import TidemarkProcessor
import TidemarkTestKit
import TidemarkWorkload

/// Random streams in which everything rare is common, evaluated incrementally by the engine and plainly by the truth.
@Suite("The engine against the plain evaluation")
struct EngineAgainstTruthTests {
    /// `TIDEMARK_SEEDS` asks for more streams, `TIDEMARK_FIRST_SEED` for others.
    static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["TIDEMARK_FIRST_SEED"].flatMap(UInt64.init) ?? 1
        return first..<first + (environment["TIDEMARK_SEEDS"].flatMap(UInt64.init) ?? 2_000)
    }()

    /// How much may stay unpacked: all, some, or nothing that has no new events.
    private static func unpackedLimit(_ seed: UInt64) -> Int? { [nil, 0, 1_500, 4_000][Int(seed % 4)] }

    @Test("any order, any batching: the same rows and opens")
    func anyOrder() throws {
        for seed in EngineAgainstTruthTests.seeds {
            var random = SplitMix64(seed: seed)
            let count = Int.random(in: 1...60, using: &random)
            let horizon = [7_200, 86_400, 10 * 86_400, 60 * 86_400].randomElement(using: &random)!
            let stream = EdgeStream(seed: seed, events: count, horizon: horizon)
            var truth = try PlainEvaluation(settings: stream.settings, keepsOpens: true)
            truth.add(stream.events)
            let batch = Int.random(in: 1...8, using: &random)
            let driver = EngineDriver(
                stream.settings, unpackedLimit: EngineAgainstTruthTests.unpackedLimit(seed))
            driver.take(stream.events, batch: batch)
            guard matches(driver, truth, "seed \(seed), \(count) events, a commit every \(batch)") else { return }
            let replay = EngineDriver(stream.settings, isIncremental: false)
            replay.take(stream.events, batch: stream.events.count + 1)
            guard matches(replay, truth, "seed \(seed), \(count) events, as a replay") else { return }
        }
    }

    @Test("folding changes nothing: limited lateness, long streams, late ones refused")
    func folding() throws {
        for seed in EngineAgainstTruthTests.seeds {
            var random = SplitMix64(seed: seed ^ 0xF01D)
            let count = Int.random(in: 20...250, using: &random)
            let lateness = [0, 600, 86_400, 3 * 86_400].randomElement(using: &random)!
            let horizon = [20, 60, 200].randomElement(using: &random)! * 86_400
            let stream = EdgeStream(seed: seed, events: count, horizon: horizon, maxDelay: lateness * 2 + 60)
            let driver = EngineDriver(
                stream.settings, lateness: lateness, unpackedLimit: EngineAgainstTruthTests.unpackedLimit(seed))
            var accepted: [SampleEvent] = []
            let batch = Int.random(in: 1...8, using: &random)
            for (index, event) in stream.events.enumerated() {
                if driver.take(event) == .accepted { accepted.append(event) }
                if index % batch == 0 { driver.commit() }
            }
            driver.commit()
            var truth = try PlainEvaluation(settings: stream.settings, keepsOpens: true)
            truth.add(accepted)
            guard matches(driver, truth, "seed \(seed), \(count) events, lateness \(lateness)") else { return }
        }
    }

    @Test("judged at several sources, one read long before another: the same rows and opens, however early users fold")
    func sources() throws {
        for seed in EngineAgainstTruthTests.seeds {
            var random = SplitMix64(seed: seed ^ 0x50CE)
            let count = Int.random(in: 20...250, using: &random)
            let lateness = [0, 600, 86_400, 3 * 86_400].randomElement(using: &random)!
            let horizon = [20, 60, 200].randomElement(using: &random)! * 86_400
            let stream = EdgeStream(seed: seed, events: count, horizon: horizon, maxDelay: lateness * 2 + 60)
            var sources = SourcesInDisorder(stream.events, lateness: lateness, random: &random)
            let driver = EngineDriver(
                stream.settings, lateness: lateness, sources: sources.count,
                unpackedLimit: EngineAgainstTruthTests.unpackedLimit(seed))
            var accepted: [SampleEvent] = []
            let batch = Int.random(in: 1...8, using: &random)
            var number = 0
            while let (event, source, mark) = sources.next(&random) {
                if let event {
                    if driver.take(event, source: source, mark: mark) == .accepted { accepted.append(event) }
                } else {
                    driver.raise(source: source, to: mark)
                }
                number += 1
                if number % batch == 0 { driver.commit() }
            }
            driver.commit()
            var truth = try PlainEvaluation(settings: stream.settings, keepsOpens: true)
            truth.add(accepted)
            guard matches(driver, truth, "seed \(seed), \(count) events, lateness \(lateness)") else { return }
        }
    }

    /// Compares rows as bytes and opens field by field; records what differs and says whether to go on.
    private func matches(_ driver: EngineDriver, _ truth: PlainEvaluation, _ label: String) -> Bool {
        let expected = String(decoding: truth.truth(), as: UTF8.self)
        let rows = driver.rows()
        if rows != expected {
            let difference = Set(rows.split(separator: "\n")).symmetricDifference(expected.split(separator: "\n"))
            Issue.record("\(label): rows differ:\n\(difference.sorted().joined(separator: "\n"))")
            return false
        }
        let opens = Set(driver.opens.values.map(OpenRecord.init(json:)))
        let expectedOpens = Set(truth.opens().map(OpenRecord.init(plain:)))
        if opens != expectedOpens {
            Issue.record("\(label): opens differ: \(opens.symmetricDifference(expectedOpens))")
            return false
        }
        return true
    }
}

/// Events of a stream spread over sources without regard to users, judged there, and read in some order between the sources: mostly a long
/// way of one, then of another.
private struct SourcesInDisorder {
    let count: Int
    /// What is left of each source; no event where only the watermark is told.
    private var queues: [[(event: SampleEvent?, mark: Int)]]
    private var current = 0

    init(_ events: [SampleEvent], lateness: Int, random: inout SplitMix64) {
        count = Int.random(in: 1...4, using: &random)
        queues = Array(repeating: [], count: count)
        var marks = Array(repeating: 0, count: count)
        for event in events {
            let source = Int.random(in: 0..<count, using: &random)
            guard event.time >= marks[source] - lateness else { continue }
            marks[source] = max(marks[source], event.time)
            queues[source].append((event, marks[source]))
            if Int.random(in: 0..<4, using: &random) == 0 { queues[source].append((nil, marks[source])) }
        }
        for source in queues.indices { queues[source].reverse() }
    }

    mutating func next(_ random: inout SplitMix64) -> (event: SampleEvent?, source: Int, mark: Int)? {
        let left = queues.indices.filter { !queues[$0].isEmpty }
        guard let any = left.randomElement(using: &random) else { return nil }
        if queues[current].isEmpty || Int.random(in: 0..<30, using: &random) == 0 { current = any }
        guard let (event, mark) = queues[current].popLast() else { return nil }
        return (event, current, mark)
    }
}

/// All fields of an open record that the truth knows, as text.
struct OpenRecord: Hashable {
    var fields: [String]

    init(json: String) {
        let object = (try? JSONSerialization.jsonObject(with: Data(json.utf8))) as? [String: Any] ?? [:]
        let names = [
            "kind", "event_type", "user_id", "external_user_id", "campaign_id", "message_variation_id", "canvas_id",
            "canvas_variation_id", "canvas_step_id", "app_id", "platform", "time", "send_time", "send_event_id",
            "session_id", "model",
        ]
        fields = names.map { name in
            guard let value = object[name], !(value is NSNull) else { return name == "platform" ? "unknown" : "null" }
            return "\(value)"
        }
        fields.append(object["kind"] as? String == "direct" ? "\(object["id"] ?? "")" : "")
        // Foundation's JSON reader is off by some units in the last place; the text itself is exact.
        let window = json.split(separator: "\"window_seconds\":").last?.prefix { $0 != "," } ?? ""
        fields.append(Double(window).map { "\($0)" } ?? "null")
    }

    init(plain open: PlainOpen) {
        func text(_ value: (some Any)?) -> String { value.map { "\($0)" } ?? "null" }
        fields = [
            open.kind.rawValue, open.eventType, open.userID, text(open.externalUserID), text(open.campaignID),
            text(open.messageVariationID), text(open.canvasID), text(open.canvasVariationID), text(open.canvasStepID),
            text(open.appID), open.platform, text(open.time), text(open.sendTime), text(open.sendEventID),
            text(open.sessionID), text(open.model), open.kind == .direct ? text(open.id) : "",
            text(open.windowSeconds),
        ]
    }
}
