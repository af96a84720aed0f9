import Testing
import TidemarkWorkload

@Suite("Edge streams")
struct EdgeStreamTests {
    @Test("The same seed gives the same stream")
    func determinism() {
        for seed in 0..<20 as Range<UInt64> {
            let first = EdgeStream(seed: seed, events: 40)
            let second = EdgeStream(seed: seed, events: 40)
            #expect(first.events == second.events)
            #expect(first.settings == second.settings)
            #expect(first.events != EdgeStream(seed: seed + 1_000, events: 40).events)
        }
    }

    @Test("Events stay within the horizon, and records within the delay")
    func bounds() {
        for seed in 0..<200 as Range<UInt64> {
            let horizon = seed % 2 == 0 ? 86_400 : 40 * 86_400
            let events = EdgeStream(seed: seed, events: 50, horizon: horizon, maxDelay: 7_200).events
            let times = events.map(\.time)
            #expect((times.max() ?? 0) - (times.min() ?? 0) <= horizon, "seed \(seed)")
            var greatest = 0
            for time in times {
                #expect(time >= greatest - 7_200, "seed \(seed)")
                greatest = max(greatest, time)
            }
        }
    }

    @Test("The order of arrival changes nothing, and every kind of outcome is common")
    func orderAndCoverage() throws {
        var direct = 0
        var influenced = 0
        var personal = 0
        var repeated = 0
        for seed in 0..<400 as Range<UInt64> {
            let stream = EdgeStream(seed: seed, events: 60)
            var forwards = try PlainEvaluation(settings: stream.settings, keepsOpens: true)
            forwards.add(stream.events)
            var backwards = try PlainEvaluation(settings: stream.settings, keepsOpens: true)
            backwards.add(stream.events.reversed())
            #expect(forwards.truth() == backwards.truth(), "seed \(seed)")
            #expect(forwards.opens() == backwards.opens(), "seed \(seed)")
            direct += forwards.directOpens
            influenced += forwards.influencedOpens
            repeated += stream.events.count - 60
            personal += forwards.opens().count { open in
                open.windowSeconds.map { $0 != Double(stream.settings.fixed) } ?? false
            }
        }
        #expect(direct > 1_000, "\(direct) direct opens")
        #expect(influenced > 800, "\(influenced) influenced opens")
        #expect(personal > 200, "\(personal) of them in personal windows")
        #expect(repeated > 1_000, "\(repeated) repeated records")
    }
}
