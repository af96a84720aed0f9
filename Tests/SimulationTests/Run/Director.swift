@testable import TidemarkWorkload

/// Starts processes, and lets them and the cluster fail.
final class Director {
    private let scenario: Scenario
    private let cluster: SimulatedCluster
    /// All processes that were ever started.
    private(set) var processes: [SimulatedProcess] = []
    /// When a process of an instance is to be started; `nil` while one runs.
    private var starts: [(instance: String, due: Duration)]
    private var isRaging = true
    /// Faults of processes and brokers that may still come.
    private var budget: Int
    private var random: SplitMix64 {
        get { cluster.scheduler.random }
        set { cluster.scheduler.random = newValue }
    }

    init(_ scenario: Scenario, cluster: SimulatedCluster) {
        self.scenario = scenario
        self.cluster = cluster
        starts = []
        budget = cluster.scheduler.random.number(0...25)
        starts = scenario.instances.map { ($0, cluster.faults.pause(upTo: .seconds(3))) }
    }

    private var now: Duration { cluster.now }
    var running: [SimulatedProcess] { processes.filter { $0.isRunning && !$0.isCrashed } }
    var isEmpty: Bool { !processes.contains(where: \.isRunning) }
    var failures: [String] { processes.flatMap(\.failures) }
    var nextEvent: Duration? { starts.map(\.due).min() }

    func serve() {
        while let place = starts.firstIndex(where: { $0.due <= now }) { start(starts.remove(at: place).instance) }
        guard isRaging, budget > 0 else { return clean() }
        let faults = cluster.faults
        if faults.happens(\.crash) { crash() }
        if faults.happens(\.stop) { stop() }
        if faults.happens(\.freezeThread) { freezeThread() }
        if faults.happens(\.freezeProcess) {
            freezeProcess(pickRunning(), for: [.seconds(3), .seconds(10), .seconds(30)])
        }
        let current = cluster.scheduler.current
        if cluster.scheduler.isInStep, current.hasInHand, faults.happens(\.freezeInHand) {
            freezeProcess(current.process, for: [.seconds(15), .seconds(30)])
        }
        if faults.happens(\.outage) { breakDown() }
        if faults.happens(\.rebalance) { rebalance() }
        clean()
    }

    private func tell(_ what: String, _ figure: String) {
        budget -= 1
        cluster.scheduler.trace.tell(what, counted: figure, now)
    }

    private func clean() {
        if cluster.faults.happens(\.clean) { cluster.clean() }
        if cluster.faults.happens(\.expire) { cluster.expire("sim-deltas", readBy: "sim-reports") }
    }

    // MARK: Processes

    private func start(_ instance: String) {
        let process = SimulatedProcess(instance, cluster: cluster)
        processes.append(process)
        cluster.scheduler.trace.tell("\(instance) starts", counted: "starts", now)
        process.start(scenario)
    }

    private func pickRunning() -> SimulatedProcess? {
        let running = running.filter { !$0.isFrozen }
        return running.isEmpty ? nil : random.pick(running)
    }

    /// Has a process follow one that has ended, or is about to.
    private func startLater(_ instance: String) {
        let pause = cluster.faults.pause(upTo: random.pick([.zero, .seconds(2), .seconds(15)]))
        // Instances go by names that others had, or by new ones.
        let name = random.chance(0.8) ? instance : instance + "+"
        starts.append((name, now + pause))
    }

    private func crash() {
        guard let process = pickRunning() else { return }
        tell("\(process.instance) is killed while in \(place(of: process))", "kills")
        process.crash()
        startLater(process.instance)
    }

    private func place(of process: SimulatedProcess) -> String {
        let current = cluster.scheduler.current
        return current.process === process ? current.name : "any place"
    }

    private func stop() {
        guard let process = pickRunning(), !process.isStopping else { return }
        tell("\(process.instance) is asked to stop", "stops")
        process.stop()
        startLater(process.instance)
    }

    private func freezeThread() {
        guard let process = pickRunning() else { return }
        let threads = cluster.scheduler.threads(of: process)
        guard !threads.isEmpty else { return }
        let thread = random.chance(0.5) ? threads.first { $0 === cluster.scheduler.current } : random.pick(threads)
        guard let thread else { return }
        let duration = cluster.faults.pause(upTo: random.pick([.seconds(1), .seconds(8), .seconds(30)]))
        tell("\(thread.name) does not move for \(duration)", "frozen threads")
        thread.frozenUntil = now + duration
    }

    private func freezeProcess(_ process: SimulatedProcess?, for limits: [Duration]) {
        guard let process, process.isRunning, !process.isCrashed, !process.isFrozen else { return }
        let duration = cluster.faults.pause(upTo: random.pick(limits))
        tell("\(process.instance) does not move for \(duration) in \(place(of: process))", "frozen processes")
        process.frozenUntil = now + duration
        guard random.chance(0.3) else { return }
        // Somebody takes it for dead and starts another one in its place; both live for a while.
        starts.append((process.instance, now + duration * random.unit()))
        cluster.later(duration + cluster.faults.pause(upTo: .seconds(5))) { [self] in
            guard process.isRunning, !process.isCrashed else { return }
            tell("\(process.instance), which has a follower, is killed", "kills")
            process.crash()
        }
    }

    // MARK: The cluster

    private func breakDown() {
        let duration = cluster.faults.pause(upTo: random.pick([.seconds(2), .seconds(12)]))
        tell("no broker answers for \(duration)", "outages")
        cluster.breakDown(for: duration)
    }

    private func rebalance() {
        let groups = cluster.allGroups.filter { $0.memberCount > 0 }
        guard !groups.isEmpty else { return }
        let group = random.pick(groups)
        tell("\(group.name) rebalances for no reason", "needless rebalances")
        group.beginRebalance()
    }

    // MARK: The end

    /// Lets nothing fail any more, and sees to it that somebody works.
    func settle() {
        isRaging = false
        cluster.faults.cease()
        cluster.scheduler.trace.tell("from now on nothing fails", now)
        let running = running.filter { !$0.isStopping }
        for process in running {
            process.frozenUntil = now
            for thread in cluster.scheduler.threads(of: process) { thread.frozenUntil = now }
        }
        for place in starts.indices { starts[place].due = now }
        if running.isEmpty, starts.isEmpty { starts.append((scenario.instances[0], now)) }
    }

    func stopAll() {
        starts = []
        for process in running { process.stop() }
    }

    /// Brings all to an end that would not come to it.
    func killAll() {
        for process in running { process.crash() }
    }
}
