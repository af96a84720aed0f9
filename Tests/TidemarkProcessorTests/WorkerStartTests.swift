import Synchronization
import Testing
import TidemarkKafka

@testable import TidemarkProcessor

@Suite("Start of workers")
struct WorkerStartTests {
    /// A clock that moves only when somebody waits.
    private final class SteppedClock: RunClock {
        private let start = ContinuousClock.now
        private let elapsed = Mutex(Duration.zero)
        private let onSleep: @Sendable (Duration) -> Void

        init(onSleep: @escaping @Sendable (Duration) -> Void) { self.onSleep = onSleep }

        var now: ContinuousClock.Instant { start + elapsed.withLock { $0 } }

        func sleep(_ duration: Duration) {
            let elapsed = elapsed.withLock { elapsed in
                elapsed += duration
                return elapsed
            }
            onSleep(elapsed)
        }
    }

    /// Runs a worker whose cluster lets it go no further than its producer.
    ///
    /// - Parameter memberAfter: when the first worker of the process has its partitions.
    /// - Returns: when the worker asked for its producer.
    private func startTime(ofWorker number: Int, memberAfter: Duration?) throws -> Duration? {
        let cluster = StubCluster(topics: [], logs: [:])
        let asked = Mutex<Duration?>(nil)
        let control = Mutex<RunControl?>(nil)
        let clock = SteppedClock { elapsed in
            let control = control.withLock { $0 }
            if let memberAfter, elapsed >= memberAfter { control?.noteMember() }
            guard cluster.producersAskedFor.withLock({ $0 > 0 }) else { return }
            asked.withLock { $0 = $0 ?? elapsed }
            control?.stop()
        }
        let own = RunControl(application: "app", clock: clock) { _ in }
        control.withLock { $0 = own }
        try Worker(context: cluster.context(own), number: number).run()
        return asked.withLock { $0 }
    }

    @Test func theFirstWorkerJoinsAtOnce() throws {
        #expect(try startTime(ofWorker: 0, memberAfter: nil) == .milliseconds(20))
    }

    @Test func othersWaitUntilTheFirstHasItsPartitions() throws {
        // The member is there after 300 ms; what follows is the first pause after the failure.
        #expect(try startTime(ofWorker: 1, memberAfter: .milliseconds(300)) == .milliseconds(320))
    }

    @Test func othersWaitNoLongerThanASecond() throws {
        #expect(try startTime(ofWorker: 1, memberAfter: nil) == .milliseconds(1_020))
    }
}
