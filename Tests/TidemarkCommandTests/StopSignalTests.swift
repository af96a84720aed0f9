import Foundation
import Testing

@testable import tidemark

@Suite("Signals that stop the program")
struct StopSignalTests {
    @Test("a signal that comes as soon as the program listens is heard, and once")
    func earliestSignal() {
        let heard = DispatchSemaphore(value: 0)
        let signals = StopSignals { heard.signal() }
        kill(getpid(), SIGTERM)
        #expect(heard.wait(timeout: .now() + 30) == .success)
        #expect(heard.wait(timeout: .now()) == .timedOut)
        signals.cancel()
    }
}
