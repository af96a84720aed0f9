import Synchronization
import Testing
import TidemarkKafka

@testable import TidemarkProcessor

@Suite("What a process tells of itself")
struct RunControlTests {
    @Test func phasesFollowTheThreads() {
        let control = RunControl { _ in }
        #expect(control.status.phase == .starting && control.status.loops.isEmpty)
        _ = control.begin(loops: ["worker-0", "aggregator"])
        #expect(control.status.phase == .running)
        #expect(control.status.loops.map(\.name) == ["worker-0", "aggregator"])
        #expect(control.status.loops.allSatisfy { !$0.isJoined && $0.overdueSeconds < 0 })
        control.stop()
        #expect(control.status.phase == .stopping)
    }

    @Test func aThreadThatWaitsForBrokersHasMoreTime() throws {
        let control = RunControl { _ in }
        let pulses = control.begin(loops: ["a", "b"])
        pulses[0].beat(waiting: .seconds(100))
        pulses[1].beat(waiting: .seconds(-1_000))
        let overdue = control.status.loops.map(\.overdueSeconds)
        #expect(overdue[0] < -100 && overdue[0] > -200)
        #expect(overdue[1] > 900)
        pulses[1].beat()
        #expect(control.status.loops[1].overdueSeconds < 0)
    }

    @Test func whatAThreadPublishesStandsUntilTheNextTime() {
        let control = RunControl { _ in }
        let pulses = control.begin(loops: ["a", "b"])
        var loop = LoopStatus(name: "b")
        loop.isJoined = true
        var task = TaskStatus(partition: 3)
        task.inputs = [InputStatus(topic: "x", next: 5), InputStatus(topic: "y", next: 6)]
        loop.tasks = [task]
        control.publish(loop)
        control.publish(LoopStatus(name: "nobody"))
        control.publish(stableEnds: [.init(topic: "y", partition: 3): 60, .init(topic: "x", partition: 4): 50])
        let status = control.status
        #expect(status.loops.count == 2 && !status.loops[0].isJoined && status.loops[1].isJoined)
        #expect(status.loops[1].tasks[0].inputs.map(\.stableEnd) == [nil, 60])
        control.publish(LoopStatus(name: "b"))
        #expect(control.status.loops[1].tasks.isEmpty)
        withExtendedLifetime(pulses) {}
    }

    @Test func linesNameTheirOrigin() {
        let lines = Mutex<[LogLine]>([])
        let control = RunControl(application: "app") { line in lines.withLock { $0.append(line) } }
        control.log("first")
        control.setInstance("host-0")
        control.log("second", level: .warning, loop: "worker-0", partition: 4)
        let written = lines.withLock { $0 }
        #expect(written.map(\.message) == ["first", "second"])
        #expect(written.map(\.application) == ["app", "app"])
        #expect(written.map(\.instance) == [nil, "host-0"])
        #expect(written.map(\.level) == [.info, .warning])
        #expect(written[1].loop == "worker-0" && written[1].partition == 4)
    }

    @Test func durationsFallBelowTheFirstBoundThatHoldsThem() {
        var durations = DurationHistogram()
        for milliseconds in [5, 6, 30_000, 30_001] { durations.add(.milliseconds(milliseconds)) }
        #expect(durations.count == 4)
        #expect(durations.counts.reduce(0, +) == 3)
        #expect(durations.counts[0] == 1 && durations.counts[1] == 1 && durations.counts.last == 1)
        #expect(abs(durations.sum - 60.012) < 1e-9)
    }
}
