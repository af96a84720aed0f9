internal import Foundation
internal import Synchronization
public import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkRegistry
internal import TidemarkReports

/// The live processor: workers and an aggregator on threads of their own, until told to stop.
public enum Processor {
    /// Where the brokers are, as far as checks go.
    public enum Brokers: Sendable {
        /// A cluster; its topics are checked before anything starts.
        case cluster
        /// librdkafka's mock cluster in this process, which knows no administration.
        case embedded
    }

    private static let callTimeout: Int32 = 15_000
    private static let attempts = 50

    /// Processes until `control` is stopped: then commits, leaves the groups and returns.
    ///
    /// - Throws: `RunFailure` and others whose text says what is wrong, where, and what to do.
    public static func run(_ configuration: Configuration, control: RunControl, brokers: Brokers = .cluster) throws {
        let slot = try InstanceSlot(configuration)
        control.setInstance(slot.instance)
        let instance = slot.instance
        let prepared = try unlessStopped(control) {
            if brokers == .cluster {
                for warning in try TopicInspector.requireFit(configuration: configuration) {
                    control.log("\(warning)", level: .warning)
                }
            }
            let encodings = try OutputSchemas.encodings(configuration, control: control)
            return try patiently(control) {
                var context = try makeContext(configuration, instance: instance, control: control, brokers: brokers)
                context.encodings = encodings
                if brokers == .cluster { try OwnOpens.check(context) }
                return context
            }
        }
        guard var context = prepared else { return }
        let fetcher = fetcher(configuration, control)
        defer { fetcher?.close() }
        context.registry = fetcher
        let workers = min(
            configuration.workers ?? ProcessInfo.processInfo.activeProcessorCount, context.inputPartitions)
        control.log(
            "application \(configuration.applicationID), instance \(slot.instance): \(workers) workers on "
                + "\(configuration.input.topics.joined(separator: ", ")) (\(context.inputPartitions) partitions), librdkafka \(KafkaLibrary.version)"
        )
        let group = ThreadGroup(control: control, topics: context.topics)
        let standby = configuration.standby ? Standby() : nil
        let names =
            (0..<workers).map { "worker-\($0)" } + ["aggregator"] + (standby == nil ? [] : ["standby"])
            + (context.sources == nil ? [] : ["repartitioner"])
        let loops = zip(names, control.begin(loops: names)).map { name, pulse in
            var own = context.forLoop(name, pulse)
            own.standby = standby
            return own
        }
        for number in 0..<workers {
            group.start(names[number]) { try Worker(context: loops[number], number: number).run() }
        }
        group.start("aggregator") { try Aggregator(context: loops[workers]).run() }
        if let standby { group.start("standby") { try standby.run(loops[workers + 1]) } }
        if let sources = context.sources {
            group.start("repartitioner") {
                try Repartitioner(context: loops[loops.count - 1], topology: sources).run()
            }
        }
        if let limit = configuration.limits.memory { MemoryWatch.start(context, limit: limit) }
        if configuration.server.listen != nil, brokers == .cluster { LagWatch.start(context) }
        group.wait()
        withExtendedLifetime(slot) {}
        if let failure = control.failure { throw failure }
    }

    /// The thread that fetches schemas; `nil` without a registry.
    private static func fetcher(_ configuration: Configuration, _ control: RunControl) -> SchemaFetcher? {
        guard configuration.schemaRegistry.isEnabled else { return nil }
        return SchemaFetcher(configuration.schemaRegistry) { note in
            switch note {
            case .outage(let problem):
                control.update { $0.registryOutage = problem }
                control.log("the schema registry does not answer, asking on: \(problem)", level: .warning)
            case .recovered:
                control.update { $0.registryOutage = nil }
                control.log("the schema registry answers again")
            }
        }
    }

    /// Does what may wait long for brokers on a thread of its own, which is left behind when the process is to stop.
    ///
    /// - Returns: what `body` returns; `nil` when stopped before that.
    private static func unlessStopped<Value: Sendable>(
        _ control: RunControl, _ body: @escaping @Sendable () throws -> Value
    ) throws -> Value? {
        let outcome = Outcome<Value>()
        Thread { outcome.set(Result(catching: body)) }.start()
        while !control.isStopping {
            if let result = outcome.wait(milliseconds: 50) { return try result.get() }
        }
        return nil
    }

    /// Repeats what brokers refuse for a moment, such as questions about a topic that is new or just moves between them.
    private static func patiently<Value>(_ control: RunControl, _ body: () throws -> Value) throws -> Value {
        for attempt in 1... {
            do {
                return try body()
            } catch {
                guard let refusal = error as? KafkaError, !refusal.isLasting, attempt < attempts else { throw error }
            }
            control.sleep(.milliseconds(200))
        }
        preconditionFailure("the loop ends by itself")
    }

    private static func makeContext(
        _ configuration: Configuration, instance: String, control: RunControl, brokers: Brokers
    ) throws -> RunContext {
        let topics = ApplicationTopics(configuration)
        guard let days = DayTable.named(configuration.report.timeZone) else {
            throw RunFailure("report.time_zone: `\(configuration.report.timeZone)` is not a known time zone")
        }
        let properties = ClientProperties(configuration).reader(name: topics.taskGroup + "-reader")
        let consumer = try KafkaConsumer(properties: properties)
        defer { consumer.close() }
        func partitions(_ topic: String) throws -> Int {
            guard let count = try consumer.partitionCount(of: topic, timeoutMilliseconds: callTimeout) else {
                throw RunFailure("topic \(topic) does not exist: `tidemark topics create` makes it")
            }
            return Int(count)
        }
        let inputPartitions = try partitions(topics.taskInputs[0])
        for topic in topics.taskInputs.dropFirst() {
            let count = try partitions(topic)
            guard count == inputPartitions else {
                throw RunFailure(unequal(topics.inputs[0], inputPartitions, topic, count))
            }
        }
        let sources = try topics.isRepartitioned ? Sources(topics.inputs.map { ($0, try partitions($0)) }) : nil
        let schemas: InputSchemas
        do { schemas = try InputSchemas(configuration.input) } catch { throw RunFailure("\(error)") }
        let reader = try PartitionReader(configuration, control: control)
        defer { reader.close() }
        return RunContext(
            configuration: configuration, topics: topics, days: days,
            fingerprint: Fingerprint.of(configuration.attribution, configuration.report, days),
            epoch: try Epoch.read(names: topics.names, reader), instance: instance,
            inputPartitions: inputPartitions, reportPartitions: try partitions(topics.deltas),
            openPartitions: try partitions(topics.opens),
            deadLetterLimit: min(
                try deadLetterLimit(configuration, topics, brokers), ClientProperties(configuration).producerLimit),
            keyCheck: KeyCheck(
                topics.isRepartitioned ? .off : configuration.input.keyCheck, partitions: inputPartitions,
                log: { control.log($0, level: .warning) }),
            control: control, sources: sources, schemas: schemas)
    }

    /// What is wrong when input topics differ in their partitions.
    static func unequal(_ topic: String, _ count: Int, _ other: String, _ otherCount: Int) -> String {
        "\(topic) has \(count) partitions, \(other) \(otherCount): all events of a user must be in the same partition of every input topic. "
            + "Copy one of them to a new topic with as many partitions as the others, keyed by user_id, or set `input.repartition: true`"
    }

    private static func deadLetterLimit(
        _ configuration: Configuration, _ topics: ApplicationTopics, _ brokers: Brokers
    ) throws -> Int {
        guard brokers == .cluster else { return 1_000_000 }
        let admin = try KafkaAdmin(properties: configuration.kafka)
        defer { admin.close() }
        let configs = try admin.topicConfigs([topics.deadLetters])
        return configs[topics.deadLetters]?["max.message.bytes"].flatMap(Int.init) ?? 1_048_588
    }
}

/// What a thread came to.
private final class Outcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func set(_ value: Result<Value, any Error>) {
        result.withLock { $0 = value }
        done.signal()
    }

    /// The result once it is there; `nil` when that takes longer.
    func wait(milliseconds: Int) -> Result<Value, any Error>? {
        guard done.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return nil }
        return result.withLock { $0 }
    }
}

/// Threads that run until the control is stopped; the failure of one stops all.
private final class ThreadGroup {
    private let control: RunControl
    private let topics: ApplicationTopics
    private let group = DispatchGroup()

    init(control: RunControl, topics: ApplicationTopics) {
        self.control = control
        self.topics = topics
    }

    func start(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
        group.enter()
        let thread = Thread { [group, control, topics] in
            do {
                try body()
            } catch let failure as RunFailure {
                control.fail(failure)
            } catch let error as KafkaError {
                control.fail(AccessAdvice.failure(error, at: name, topics))
            } catch {
                control.fail(RunFailure("\(name): \(error)"))
            }
            group.leave()
        }
        thread.name = name
        thread.stackSize = 8 << 20
        thread.start()
    }

    func wait() { group.wait() }
}
