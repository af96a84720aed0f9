import Testing
import TidemarkProcessor
import TidemarkTestKit
import TidemarkWorkload

/// One user with very many events takes other paths; the outcome must not show it.
@Suite("Hot users")
struct HotUserTests {
    @Test("thousands of events of one user, some of them twice: rows, opens and duplicates are those of the truth")
    func manyEvents() throws {
        var settings = PlainSettings()
        settings.fixed = 600
        let stream = EdgeStream(seed: 5, events: 3_000, horizon: 12 * 3_600, maxDelay: 3_600, settings: settings)
        var events = stream.events
        for index in events.indices {
            events[index].userID = "hot"
            events[index].id += "-\(stream.events[index].userID)"
        }
        let driver = EngineDriver(settings, lateness: 86_400)
        driver.take(events, batch: 700)
        var truth = try PlainEvaluation(settings: settings, keepsOpens: true)
        truth.add(events)
        #expect(driver.rows() == String(decoding: truth.truth(), as: UTF8.self))
        #expect(driver.opens.count == truth.opens().count)
        // All at once, duplicates are found another way.
        let replay = EngineDriver(settings, isIncremental: false)
        replay.take(events, batch: events.count + 1)
        #expect(driver.counts == replay.counts)
        #expect(driver.counts.duplicates > 0)
    }

    @Test("in any order and in few commits: the rows and opens of the truth", arguments: HotUserShape.allCases)
    func inAnyOrder(_ shape: HotUserShape) throws {
        var random = SplitMix64(seed: 11)
        let events = shape.events(2_000, seed: 3)
        let truth = try truth(of: events, shape)
        let driver = EngineDriver(shape.settings)
        driver.take(events.shuffled(using: &random), batch: 900)
        expect(driver, truth)
        let replay = EngineDriver(shape.settings, isIncremental: false)
        replay.take(events, batch: events.count + 1)
        expect(replay, truth)
    }

    @Test("folding as early as may be: the rows and opens of the truth", arguments: HotUserShape.allCases)
    func folding(_ shape: HotUserShape) throws {
        let events = shape.events(2_000, seed: 4)
        let driver = EngineDriver(shape.settings, lateness: 0)
        driver.take(events, batch: 50)
        #expect(driver.counts.accepted == events.count)
        expect(driver, try truth(of: events, shape))
    }

    private func truth(of events: [SampleEvent], _ shape: HotUserShape) throws -> PlainEvaluation {
        var truth = try PlainEvaluation(settings: shape.settings, keepsOpens: true)
        truth.add(events)
        // A shape in which nothing happens would show nothing.
        #expect(truth.influencedOpens > 10)
        return truth
    }

    private func expect(_ driver: EngineDriver, _ truth: PlainEvaluation) {
        #expect(driver.rows() == String(decoding: truth.truth(), as: UTF8.self))
        #expect(
            Set(driver.opens.values.map(OpenRecord.init(json:))) == Set(truth.opens().map(OpenRecord.init(plain:))))
    }
}
