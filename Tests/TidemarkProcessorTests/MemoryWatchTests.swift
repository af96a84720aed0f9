import Synchronization
import Testing

@testable import TidemarkProcessor

/// What is done at which use of memory, on a clock of the test's own.
@Suite("Memory")
struct MemoryWatchTests {
    private final class TestClock: RunClock {
        private let elapsed = Mutex(Duration.zero)
        private let origin = ContinuousClock.now
        var now: ContinuousClock.Instant { origin + elapsed.withLock { $0 } }
        func sleep(_ duration: Duration) { elapsed.withLock { $0 += duration } }
    }

    private let clock = TestClock()
    private let control: RunControl

    init() {
        control = RunControl(application: "app", clock: clock) { _ in }
    }

    @Test("input is held back above nine tenths of the limit, until a fifth is free")
    func holdBack() {
        var watch = MemoryWatch(limit: 1_000)
        var seen: [Bool] = []
        for bytes in [0, 900, 901, 850, 801, 800, 850, 900, 950] {
            watch.look(at: bytes, control)
            seen.append(control.isHeldBack)
        }
        #expect(seen == [false, false, true, true, true, false, false, false, true])
        #expect(control.failure == nil)
    }

    @Test("where holding back does not help within 30 s, the process ends and says why")
    func end() throws {
        var watch = MemoryWatch(limit: 200 << 20)
        watch.look(at: 190 << 20, control)
        clock.sleep(.seconds(29))
        watch.look(at: 190 << 20, control)
        #expect(control.failure == nil)
        // A moment of room begins the time anew.
        watch.look(at: 100 << 20, control)
        watch.look(at: 190 << 20, control)
        clock.sleep(.seconds(29))
        watch.look(at: 185 << 20, control)
        #expect(control.failure == nil && !control.isStopping)
        clock.sleep(.seconds(1))
        watch.look(at: 190 << 20, control)
        let failure = try #require(control.failure)
        #expect(
            failure.description.hasPrefix(
                "190 MB of memory are in use after 30.0 seconds without input, and limits.memory is 200 MB"))
        #expect(control.isStopping)
    }

    @Test func theSystemTells() {
        #expect((ResidentMemory.bytes() ?? 0) > 1 << 20)
    }
}
