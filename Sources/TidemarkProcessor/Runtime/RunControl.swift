internal import Synchronization
internal import TidemarkKafka

/// Tells the threads of a process to stop, hears of their failures, and gathers what they have done.
public final class RunControl: Sendable {
    private struct State {
        var isStopping = false
        var failure: RunFailure?
        var status = RunStatus()
        var pulses: [LoopPulse] = []
        var stableEnds: [TopicPartition: Int64] = [:]
        var instance: String?
        var isHeldBack = false
        var hasMember = false
    }

    private let state = Mutex(State())
    private let writeLog: @Sendable (LogLine) -> Void

    private let application: String
    private let clock: any RunClock

    /// A control that logs the texts of lines through `log`, from any thread.
    public init(log: @escaping @Sendable (String) -> Void) {
        application = ""
        clock = SystemClock()
        writeLog = { log($0.message) }
    }

    /// A control that logs whole lines through `log`, from any thread.
    ///
    /// - Parameter application: `application_id`, which every line names.
    public convenience init(application: String, log: @escaping @Sendable (LogLine) -> Void) {
        self.init(application: application, clock: SystemClock(), log: log)
    }

    /// As above, with a clock of one's own.
    init(application: String, clock: any RunClock, log: @escaping @Sendable (LogLine) -> Void) {
        self.application = application
        self.clock = clock
        writeLog = log
    }

    /// What the clock shows. It decides when something is done, never what.
    var now: ContinuousClock.Instant { clock.now }

    /// Whether the threads should come to an end.
    public var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Asks the threads to commit and come to an end.
    public func stop() { state.withLock { $0.isStopping = true } }

    /// The first failure, if any.
    public var failure: RunFailure? { state.withLock { $0.failure } }

    /// What was done so far, and how the threads stand.
    public var status: RunStatus {
        state.withLock { state in
            var status = state.status
            if state.isStopping { status.phase = .stopping }
            for (place, pulse) in state.pulses.enumerated() {
                status.loops[place].overdueSeconds = pulse.overdueSeconds
                for task in status.loops[place].tasks.indices {
                    status.loops[place].tasks[task].addStableEnds(state.stableEnds)
                }
                for source in status.loops[place].sources.indices {
                    status.loops[place].sources[source].addStableEnd(state.stableEnds)
                }
            }
            return status
        }
    }

    /// Ends the process for a reason.
    public func fail(_ failure: RunFailure) {
        state.withLock {
            $0.failure = $0.failure ?? failure
            $0.isStopping = true
        }
    }

    /// Adds to what was done.
    func update(_ change: (inout RunStatus) -> Void) {
        state.withLock { change(&$0.status) }
    }

    /// Whether no input should be read for now, because memory is short.
    var isHeldBack: Bool { state.withLock { $0.isHeldBack } }

    /// Says whether input should be read.
    func holdBack(_ isHeldBack: Bool) {
        state.withLock {
            $0.isHeldBack = isHeldBack
            $0.status.isHeldBack = isHeldBack
        }
    }

    /// Whether a worker has joined the group and got its partitions.
    var hasMember: Bool { state.withLock { $0.hasMember } }

    /// Notes that a worker has joined the group.
    func noteMember() { state.withLock { $0.hasMember = true } }

    /// Notes the name of this process.
    func setInstance(_ name: String) { state.withLock { $0.instance = name } }

    /// Announces the threads that work from now on.
    ///
    /// - Returns: what each is to give its signs with.
    func begin(loops names: [String]) -> [LoopPulse] {
        state.withLock { state in
            state.status.phase = .running
            state.status.loops = names.map(LoopStatus.init(name:))
            state.pulses = names.map { _ in LoopPulse() }
            return state.pulses
        }
    }

    /// Replaces what a thread has said about itself.
    func publish(_ status: LoopStatus) {
        state.withLock { state in
            guard let place = state.status.loops.firstIndex(where: { $0.name == status.name }) else { return }
            state.status.loops[place] = status
        }
    }

    /// Notes the last stable offsets of input partitions, as they were a moment ago.
    func publish(stableEnds: [TopicPartition: Int64]) { state.withLock { $0.stableEnds = stableEnds } }

    /// Writes a line to the log.
    public func log(_ message: String, level: LogLine.Level = .info, loop: String? = nil, partition: Int32? = nil) {
        let instance = state.withLock { $0.instance }
        writeLog(
            LogLine(
                message, level: level, application: application, instance: instance, loop: loop, partition: partition))
    }

    /// Waits, but not longer than until the process stops.
    func sleep(_ duration: Duration) {
        let end = now + duration
        while !isStopping, now < end { clock.sleep(min(now.duration(to: end), .milliseconds(20))) }
    }
}

extension TaskStatus {
    fileprivate mutating func addStableEnds(_ ends: [TopicPartition: Int64]) {
        for place in inputs.indices {
            inputs[place].stableEnd = ends[TopicPartition(topic: inputs[place].topic, partition: partition)]
        }
    }
}

extension SourceStatus {
    fileprivate mutating func addStableEnd(_ ends: [TopicPartition: Int64]) {
        input.stableEnd = ends[TopicPartition(topic: input.topic, partition: partition)]
    }
}
