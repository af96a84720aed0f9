import Testing
import TidemarkProcessor
import TidemarkTestKit
import TidemarkWorkload

/// A task whose state goes through checkpoint bytes in the middle of a stream must end as one that never stopped.
@Suite("State chunks")
struct StateChunkTests {
    @Test("any stream, cut anywhere: the same rows and opens")
    func roundTrip() throws {
        for seed in UInt64(1)...400 {
            var random = SplitMix64(seed: seed ^ 0xC4)
            let lateness = [0, 600, 86_400, 3 * 86_400].randomElement(using: &random)!
            let stream = EdgeStream(
                seed: seed, events: Int.random(in: 10...150, using: &random), horizon: 120 * 86_400,
                maxDelay: lateness * 2 + 60)
            let whole = EngineDriver(stream.settings, lateness: lateness)
            whole.take(stream.events, batch: 3)
            let cut = Int.random(in: 0...stream.events.count, using: &random)
            let first = EngineDriver(stream.settings, lateness: lateness)
            first.take(Array(stream.events[..<cut]), batch: 3)
            let second = try EngineDriver(continuing: first)
            second.take(Array(stream.events[cut...]), batch: 3)
            #expect(second.rows() == whole.rows(), "seed \(seed), cut at \(cut)")
            #expect(second.opens == whole.opens, "seed \(seed), cut at \(cut)")
        }
    }
}
