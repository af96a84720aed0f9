import Foundation
import TidemarkConfiguration
import TidemarkProcessor

@testable import TidemarkWorkload

/// One seed, from its scenario to its verdict.
final class Simulation: World {
    /// What a seed came to.
    struct Outcome {
        let seed: UInt64
        /// Everything that is not as it should be.
        var deviations: [String] = []
        /// What happened.
        var story = ""
        /// Tells runs apart that went different ways.
        var hash: UInt64 = 0
        var figures: [String: Int] = [:]
        var steps = 0
    }

    private static let settlingLimit = Duration.seconds(900)
    private static let stepLimit = 2_000_000

    private let scenario: Scenario
    private let scheduler: Scheduler
    private let cluster: SimulatedCluster
    private let feeder: Feeder
    private let director: Director

    private init(_ seed: UInt64, trace: Trace) {
        let door = Door()
        var random = SplitMix64(seed: seed)
        scenario = Scenario(&random)
        scheduler = Scheduler(random: random, trace: trace, world: door)
        let faults = Faults()
        faults.begin(scheduler)
        cluster = SimulatedCluster(scheduler: scheduler, faults: faults)
        Simulation.createTopics(scenario, cluster)
        feeder = Feeder(scenario, cluster: cluster)
        director = Director(scenario, cluster: cluster)
        scheduler.world = self
    }

    /// The scheduler needs a world before there is one.
    private final class Door: World {
        func serve() {}
        var nextEvent: Duration? { nil }
    }

    private static func createTopics(_ scenario: Scenario, _ cluster: SimulatedCluster) {
        let topics = ApplicationTopics(scenario.configuration)
        for topic in topics.inputs { cluster.createTopic(topic, partitions: scenario.inputPartitions) }
        cluster.createTopic(topics.deadLetters, partitions: 2)
        cluster.createTopic(topics.deltas, partitions: scenario.reportPartitions)
        cluster.createTopic(topics.reports, partitions: scenario.reportPartitions, isCompacted: true)
        cluster.createTopic(topics.opens, partitions: scenario.openPartitions, isCompacted: true)
        cluster.createTopic(topics.names, partitions: 1, isCompacted: true)
        cluster.createTopic(topics.positions, partitions: scenario.reportPartitions, isCompacted: true)
        cluster.createTopic(topics.checkpoint, partitions: scenario.inputPartitions, isCompacted: true)
    }

    /// Runs a seed.
    ///
    /// - Parameter isComplete: whether the story tells of every step.
    static func run(_ seed: UInt64, isComplete: Bool = false) -> Outcome {
        Thread.current.name = "seed \(seed)"
        let trace = Trace(seed: seed, isComplete: isComplete)
        let simulation = Simulation(seed, trace: trace)
        var outcome = Outcome(seed: seed)
        outcome.deviations = simulation.play()
        outcome.story = trace.text
        outcome.hash = trace.hash
        outcome.figures = trace.figures
        outcome.steps = simulation.scheduler.steps
        return outcome
    }

    // MARK: World

    func serve() {
        cluster.serve()
        director.serve()
    }

    var nextEvent: Duration? { [cluster.nextEvent, director.nextEvent].compactMap { $0 }.min() }

    // MARK: Acts

    private func play() -> [String] {
        let rage = scenario.duration + cluster.faults.pause(upTo: .seconds(20))
        wait("rage", until: rage) { false }
        director.settle()
        var deviations: [String] = []
        if !wait("settle", until: scheduler.now + Simulation.settlingLimit, { [self] in isSettled }) {
            deviations.append("it did not settle: \(unsettled)")
        }
        director.stopAll()
        if !wait("stop", until: scheduler.now + .seconds(200), { [self] in director.isEmpty }) {
            deviations.append("processes did not stop")
            director.killAll()
            wait("kill", until: scheduler.now + .seconds(1)) { [self] in director.isEmpty }
        }
        deviations += director.failures
        deviations += Verdict(scenario, cluster: cluster, placed: feeder.placed).deviations()
        return deviations
    }

    @discardableResult
    private func wait(_ what: StaticString, until deadline: Duration, _ isOver: @escaping () -> Bool) -> Bool {
        scheduler.wait(what, until: deadline) { [self] in isOver() || scheduler.steps > Simulation.stepLimit }
        return isOver()
    }

    /// Whether all input is committed, all changes are added up, and nobody has anything more to write.
    private var isSettled: Bool {
        if !director.failures.isEmpty { return true }
        // While no broker answers, silence means nothing: a transaction may wait for its end.
        let silence = scheduler.now - max(cluster.lastWrite, cluster.unavailableUntil)
        guard feeder.isDone, silence > .seconds(5) else { return false }
        return areGroupsComplete && unsettled.isEmpty
    }

    /// Whether everybody has joined whom nothing keeps from it: an owner that is dead may have left something to do.
    private var areGroupsComplete: Bool {
        let topics = ApplicationTopics(scenario.configuration)
        let processes = director.running.count
        let groups = [(topics.taskGroup, processes * scenario.workerCount), (topics.aggregatorGroup, processes)]
        return groups.allSatisfy { name, count in
            let group = cluster.group(name)
            return !group.isRebalancing && group.memberCount == count && scheduler.now - group.lastChange > .seconds(5)
        }
    }

    private var unsettled: [String] {
        let topics = ApplicationTopics(scenario.configuration)
        let tasks = cluster.group(topics.taskGroup).committed
        let inputs = topics.inputs.flatMap(cluster.partitions).filter { (tasks[$0.place] ?? 0) < $0.end }
        let reports = cluster.group(topics.aggregatorGroup).committed
        let deltas = cluster.partitions(topics.deltas).filter { log in
            (log.committed.last.map { $0.offset + 1 } ?? 0) > reports[log.place] ?? 0
        }
        return inputs.map { "\($0.place) \(tasks[$0.place] ?? 0) of \($0.end)" }
            + deltas.map { "\($0.place) \(reports[$0.place] ?? 0) of \($0.end)" }
    }
}
