import TidemarkAttribution
import TidemarkConfiguration
import TidemarkKafka
import TidemarkReports

@testable import TidemarkProcessor
@testable import TidemarkWorkload

/// A process of the application: its workers and its aggregator on threads of the simulation.
///
/// Unchecked: used by threads of the simulation, one at a time.
final class SimulatedProcess: @unchecked Sendable {
    let instance: String
    /// Whether it was killed: its clients answer nothing any more, and nobody hears from them.
    private(set) var isCrashed = false
    /// Until when nothing of it moves.
    var frozenUntil = Duration.zero
    /// Why threads ended that should not have.
    private(set) var failures: [String] = []
    private var runningThreads = 0
    private var control: RunControl!
    private let cluster: SimulatedCluster
    private var scheduler: Scheduler { cluster.scheduler }

    init(_ instance: String, cluster: SimulatedCluster) {
        self.instance = instance
        self.cluster = cluster
    }

    var isRunning: Bool { runningThreads > 0 }
    var isStopping: Bool { control.isStopping }
    var isFrozen: Bool { frozenUntil > scheduler.now }

    func start(_ scenario: Scenario) {
        let scheduler = scheduler
        let instance = instance
        control = RunControl(application: "sim", clock: VirtualClock(scheduler: scheduler, faults: cluster.faults)) {
            [unowned self] line in
            if !isCrashed { scheduler.trace.tell("\(instance) \(line.level): \(line.message)", scheduler.now) }
        }
        let context = context(scenario)
        for number in 0..<scenario.workerCount {
            run("\(instance) worker-\(number)") { try Worker(context: context, number: number).run() }
        }
        if let standby = context.standby { run("\(instance) standby") { try standby.run(context) } }
        run("\(instance) aggregator") { try Aggregator(context: context).run() }
    }

    private func run(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
        runningThreads += 1
        scheduler.spawn(name, of: self) { [self] in
            do {
                try body()
                if !control.isStopping { failures.append("\(name) ended by itself") }
            } catch {
                if !isCrashed { failures.append("\(name): \(error)") }
                control.stop()
            }
            runningThreads -= 1
        }
    }

    /// Ends it as a kill does.
    func crash() {
        isCrashed = true
        cluster.removeClients(of: self)
        // So that what is left of its threads comes to an end.
        control.stop()
    }

    func stop() { control.stop() }

    private func context(_ scenario: Scenario) -> RunContext {
        let configuration = scenario.configuration
        guard let days = DayTable.named(configuration.report.timeZone) else {
            fatalError("unknown zone \(configuration.report.timeZone)")
        }
        return RunContext(
            configuration: configuration, topics: ApplicationTopics(configuration), days: days,
            fingerprint: Fingerprint.of(configuration.attribution, configuration.report, days), epoch: Epoch.first,
            instance: instance, inputPartitions: scenario.inputPartitions,
            reportPartitions: scenario.reportPartitions, openPartitions: scenario.openPartitions,
            deadLetterLimit: 1_000_000,
            keyCheck: KeyCheck(.strict, partitions: scenario.inputPartitions, log: { _ in }), control: control,
            clients: SimulatedClients(process: self, cluster: cluster), unpackedBytes: scenario.unpackedBytes,
            standby: scenario.hasStandby ? Standby() : nil)
    }
}
