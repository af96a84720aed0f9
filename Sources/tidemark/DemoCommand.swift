import Foundation
import TidemarkConfiguration
import TidemarkKafka
import TidemarkProcessor
import TidemarkReports
import TidemarkWorkload

/// `tidemark demo`: everything at once, with nothing to set up.
struct DemoCommand: Command {
    static let spec = CommandSpec(
        "demo", summary: "Process a sample stream through an embedded broker and print its report.",
        details: """
            Starts a broker inside the process, produces a stream of known truth to it, processes it live through \
            the same code as `run`, prints the campaign report, and compares it with the truth. Exits with 0 when \
            every row is equal. The embedded broker is for trying things: it keeps little, and its transactions \
            hide nothing.
            """,
        options: [
            .value("users", "N", "Users in the stream (default 3000)."),
            .value("days", "N", "Days of the stream (default 4)."),
            .value("campaigns", "N", "Push campaigns in the stream (default 8)."),
            .value("seed", "N", "Another seed makes another stream (default 1)."),
            .flag("keep", "Stay up after the report, until Ctrl-C; the broker's address is printed."),
            CommonOptions.quiet,
        ],
        example: """
            tidemark demo
            tidemark demo --users 10000 --days 7 --keep
            """)

    private let arguments: ParsedArguments
    private let options: WorkloadOptions

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        options = WorkloadOptions(
            users: try arguments.integer("users", in: 1...1_000_000, default: 3_000),
            days: try arguments.integer("days", in: 1...365, default: 4),
            campaigns: try arguments.integer("campaigns", in: 1...5_000, default: 8),
            seed: UInt64(try arguments.integer("seed", in: 0...Int.max, default: 1)))
    }

    func run() throws -> Int32 {
        let demo = try Demo(options, console: arguments.console, isQuiet: arguments.has("quiet"))
        let signals = StopSignals { [control = demo.control] in control.stop() }
        defer { signals.cancel() }
        let isRight = try demo.run(stayingUp: arguments.has("keep"))
        return isRight ? ExitCode.done : ExitCode.failed
    }
}

/// One run of the demo: broker, feeder, processor and a reader of the report.
private final class Demo {
    /// The mock broker keeps some 5 MiB a partition and then drops the oldest: many partitions, and few records on the way.
    private static let partitions = 8
    private static let recordsOnTheWay = 16_000

    let control: RunControl
    private let options: WorkloadOptions
    private let console: Console
    private let progress: ProgressLine
    private let cluster: EmbeddedCluster
    private let configuration: Configuration

    init(_ options: WorkloadOptions, console: Console, isQuiet: Bool) throws {
        self.options = options
        self.console = console
        progress = ProgressLine(isQuiet: isQuiet)
        control = RunControl { _ in }
        cluster = try EmbeddedCluster()
        configuration = try Configuration.load(
            text: """
                application_id: demo
                kafka:
                  bootstrap.servers: \(cluster.bootstrapServers)
                commit_interval: 250ms
                """, name: "demo", environment: [:])
        let topics = ApplicationTopics(configuration)
        for topic in topics.inputs + [
            topics.checkpoint, topics.positions, topics.deltas, topics.reports, topics.opens, topics.deadLetters,
        ] {
            try cluster.createTopic(topic, partitions: Demo.partitions)
        }
        try cluster.createTopic(topics.names, partitions: 1)
    }

    func run(stayingUp: Bool) throws -> Bool {
        let workload = Workload(options)
        let truth = try workload.truth(settings: PlainSettings())
        let processor = startProcessor()
        defer {
            control.stop()
            processor.wait()
        }
        let reader = try ReportReader(configuration)
        defer { reader.close() }
        try feed(workload, records: truth.records, reader)
        try settle(records: truth.records, reader)
        progress.clear()
        console.output(
            String(decoding: reader.report.rendered(.table, by: .campaign, width: Terminal.usualWidth), as: UTF8.self))
        let isRight = compare(truth, reader.report)
        if stayingUp {
            console.note(
                "broker at \(cluster.bootstrapServers), topics \(ApplicationTopics(configuration).inputs[0]) and "
                    + "\(configuration.output.reports); Ctrl-C ends it")
            while !control.isStopping { try reader.poll(timeoutMilliseconds: 200) }
        }
        return isRight
    }

    private func startProcessor() -> DispatchGroup {
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread { [configuration, control] in
            do {
                try Processor.run(configuration, control: control, brokers: .embedded)
            } catch {
                // The first failure of a thread is kept already; one of the start is not.
                control.fail(RunFailure("\(error)"))
            }
            group.leave()
        }
        return group
    }

    private func feed(_ workload: Workload, records: Int, _ reader: ReportReader) throws {
        let producer = try Producer(properties: [
            "bootstrap.servers": cluster.bootstrapServers, "linger.ms": "20", "partitioner": "murmur2_random",
        ])
        defer { producer.close() }
        let topic = try producer.topic(configuration.input.topics[0])
        var stream = workload.stream()
        var record = WorkloadRecord()
        var sent = 0
        while stream.next(into: &record) {
            while sent - control.status.records > Demo.recordsOnTheWay {
                try check()
                producer.poll(timeoutMilliseconds: 10)
                try reader.poll(timeoutMilliseconds: 0)
                tell(records)
            }
            let type = KafkaHeader(name: configuration.input.typeHeader, text: record.eventType)
            try record.userID.withUnsafeBytes { key in
                try record.json.withUnsafeBytes { value in
                    try producer.produce(
                        topic: topic, key: key, value: value, headers: [type],
                        timestampMilliseconds: Int64(record.arrival) * 1_000)
                }
            }
            sent += 1
        }
        try producer.flush(timeoutMilliseconds: 30_000)
    }

    /// Waits until all is counted and the report has it.
    private func settle(records: Int, _ reader: ReportReader) throws {
        while true {
            try check()
            let status = control.status
            if status.records >= records, status.deltasPublished >= status.deltasCommitted { break }
            try reader.poll(timeoutMilliseconds: 50)
            tell(records)
        }
        try reader.readToEnd()
    }

    private func check() throws {
        if let failure = control.failure { throw failure }
        if control.isStopping { throw CommandFailure("stopped before the stream was processed") }
    }

    private func tell(_ records: Int) {
        let status = control.status
        progress.update(
            "\(NumberText.count(status.records)) of \(NumberText.count(records, "record")), "
                + "\(NumberText.count(status.users, "user")), \(NumberText.count(status.commits, "commit"))")
    }

    /// Says how the report compares with what the stream was made to hold.
    private func compare(_ truth: Workload.Truth, _ report: Report) -> Bool {
        let counts = control.status.counts
        console.note(
            "\(NumberText.count(control.status.records, "record")): \(NumberText.count(counts.accepted)) counted, "
                + "\(NumberText.count(counts.duplicates, "duplicate")), "
                + "\(NumberText.count(counts.skipped)) of other types skipped, "
                + NumberText.count(counts.deadLetterTotal, "dead letter"))
        let direct = total("direct_opens", report)
        let influenced = total("influenced_opens", report)
        var lines = JSONWriter()
        report.writeLines(to: &lines)
        let isRight = lines.bytes == truth.evaluation.truth()
        console.note(
            "direct opens \(NumberText.count(direct)), truth \(NumberText.count(truth.directOpens)); influenced opens "
                + "\(NumberText.count(influenced)), truth \(NumberText.count(truth.influencedOpens)); "
                + (isRight ? "every row of the report equals the truth" : "the report DIFFERS from the truth"))
        return isRight
    }

    /// A push metric over all campaigns.
    private func total(_ name: String, _ report: Report) -> Int {
        guard let metric = Metric.all(of: .push).first(where: { $0.name == name }) else { return 0 }
        let rows = report.store.keys.indices.filter {
            report.store.keys[$0].kind == .campaignTotal && report.store.keys[$0].channel == .push
        }
        return Int(rows.reduce(0) { $0 + report.store.value($1, metric.source) })
    }
}
