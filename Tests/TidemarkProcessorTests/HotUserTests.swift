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
}
