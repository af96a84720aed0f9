import Foundation
import TidemarkConfiguration
import TidemarkWorkload

/// `tidemark load`: a sample stream with a known truth, into a topic or a file.
struct LoadCommand: Command {
    static let spec = CommandSpec(
        "load", summary: "Generate a sample stream of events, with the report that is due, into a topic or file.",
        usage: "--to topic|file [options]",
        details: """
            The stream holds all channels, repeated and disordered events, and some types that no report counts. Equal \
            options give equal bytes when --start is given; without it the stream ends some hours before now.

            Into a topic, records are keyed by user id and placed as Kafka's own clients place them; the topic must \
            exist. --truth writes the rows that `tidemark replay --format ndjson` gives for the stream under the \
            attribution and report settings of the configuration, worked out without the engine.
            """,
        options: CommonOptions.all + [
            .value("to", "topic|file", "Where the stream goes."),
            .value("topic", "TOPIC", "The topic; the first of input.topics if none is named."),
            .value("output", short: "o", "FILE", "The file; standard output if none is named."),
            .value("users", "N", "Users, default 1000; each has some 25 events a week."),
            .value("days", "N", "Days, default 7."),
            .value(
                "campaigns", "N",
                "Push campaigns, default 40, at most \(WorkloadOptions.maximumCampaigns); other channels in proportion."
            ),
            .value("turnover", "SHARE", "Share of users replaced by new ones each week, for example 5%, default 0."),
            .value("hot-campaign", "SHARE", "Share of pushes that belong to one campaign, for example 90%, default 0."),
            .value("seed", "N", "Seed, default 1: another one gives another stream."),
            .value("start", "DAY", "First day, for example 2026-01-05."),
            .value("late", "SHARE", "Share of records that come 30 to 60 hours late, default 0."),
            .value(
                "shape", "SHAPE",
                "flat (default), http; for topics bare and avro: their types are in the header; for files container: Avro, a "
                    + "folder per event type in the one that --output names."),
            .value(
                "format", "json|avro",
                "avro: in Avro's binary encoding, with schemas that are registered at schema_registry.url; for topics."),
            .value("rate", "N", "Records a second; as many as possible if not given."),
            .value("truth", "FILE", "Write the rows that are due here."),
        ],
        example: """
            tidemark load --to file --users 100000 --seed 7 -o events.ndjson --truth rows.ndjson
            tidemark load --to topic -c tidemark.yaml --users 5000 --rate 2000
            tidemark load --to file --shape container -o export && tidemark replay 'export/*/*.avro'
            """)

    /// Where a stream goes.
    private enum Destination: String, CaseIterable { case topic, file }

    /// What records look like.
    private enum Shape: String, CaseIterable {
        case flat, bare, avro, http, container

        var namesType: Bool { self == .flat || self == .http }
    }

    /// How records are encoded.
    private enum Format: String, CaseIterable { case json, avro }

    private let arguments: ParsedArguments
    private let destination: Destination
    private let format: Format
    private let shape: Shape
    private let options: WorkloadOptions
    private let rate: Int?

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        guard arguments.has("to") else { throw UsageError("say where the stream goes: `--to topic` or `--to file`") }
        destination = try arguments.choice("to", default: .file)
        shape = try arguments.choice("shape", default: .flat)
        format = try arguments.choice("format", default: .json)
        guard format == .json || destination == .topic && shape == .flat else {
            throw UsageError("`--format avro` needs `--to topic`, and takes no `--shape`")
        }
        if destination == .file {
            guard !arguments.has("topic") else { throw UsageError("`--topic` needs `--to topic`") }
            guard shape.namesType || shape == .container else {
                throw UsageError("`--shape \(shape.rawValue)` needs `--to topic`: lines of a file have no type header")
            }
            guard shape != .container || arguments.has("output") else {
                throw UsageError("`--shape container` needs `--output`: a folder for its files")
            }
        } else if shape == .container {
            throw UsageError("`--shape container` needs `--to file`")
        } else if arguments.has("output") {
            throw UsageError("`--output` needs `--to file`")
        }
        options = try WorkloadOptions(arguments, namesTypeInRecord: shape == .flat && format == .json)
        rate = arguments.has("rate") ? try arguments.integer("rate", in: 1...Int.max, default: 1) : nil
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        guard let settings = PlainSettings(configuration) else {
            throw CommandFailure("the sample stream's evaluation does not know the configured policy or model")
        }
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        let workload = Workload(options)
        warnOfFuture()
        do {
            let start = ContinuousClock.now
            let count =
                shape == .container
                ? try writeContainers(workload, progress)
                : try send(workload, to: try makeTarget(configuration), progress)
            let duration = start.duration(to: .now)
            let truth = try writeTruth(workload, settings, progress)
            progress.clear()
            note(count, duration, truth)
        } catch {
            progress.clear()
            throw error
        }
        return ExitCode.done
    }

    private func makeTarget(_ configuration: Configuration) throws -> any LoadTarget {
        guard destination == .topic else { return try FileTarget(path: arguments.value("output")) }
        let topic = arguments.value("topic") ?? configuration.input.topics[0]
        return try TopicTarget(
            topic: topic, typeHeader: shape.namesType ? nil : configuration.input.typeHeader,
            encoder: format == .avro ? AvroEventEncoder(topic: topic, configuration) : nil, configuration: configuration
        )
    }

    /// Generates and sends; returns how many records that were.
    private func send(_ workload: Workload, to target: any LoadTarget, _ progress: ProgressLine) throws -> Int {
        var stream = workload.stream()
        var record = WorkloadRecord()
        let pace = Pace(rate: rate)
        var count = 0
        while next(&stream, &record) {
            try target.take(record)
            count += 1
            pace.wait(after: count)
            guard count % 1_024 == 0 else { continue }
            let done = min(100, (record.arrival - options.start) * 100 / (options.days * 86_400))
            progress.update("\(done)%  \(NumberText.count(count, "record")), \(pace.text(count))/s")
        }
        try target.finish { waiting in
            progress.update("\(NumberText.count(count, "record")), \(NumberText.count(waiting)) still under way")
        }
        return count
    }

    /// Generates and writes container files; returns how many events that were.
    private func writeContainers(_ workload: Workload, _ progress: ProgressLine) throws -> Int {
        let files = ContainerFiles(path: arguments.value("output") ?? ".")
        var stream = workload.stream()
        var count = 0
        while let event = stream.nextSample() {
            try files.take(event)
            count += 1
            if count % 1_024 == 0 { progress.update(NumberText.count(count, "record")) }
        }
        try files.finish()
        return count
    }

    private func next(_ stream: inout WorkloadStream, _ record: inout WorkloadRecord) -> Bool {
        switch shape {
        case .flat, .bare, .container: stream.next(into: &record)
        case .avro: stream.next(into: &record, shape: .avro)
        case .http: stream.next(into: &record, shape: .http)
        }
    }

    private func writeTruth(
        _ workload: Workload, _ settings: PlainSettings, _ progress: ProgressLine
    ) throws -> Workload.Truth? {
        guard let path = arguments.value("truth") else { return nil }
        progress.update("working out the rows that are due")
        let truth = try workload.truth(settings: settings)
        do {
            try truth.evaluation.writeTruth(to: path)
        } catch {
            throw CommandFailure("cannot write \(path): \(error.localizedDescription)")
        }
        return truth
    }

    private func note(_ count: Int, _ duration: Duration, _ truth: Workload.Truth?) {
        let note = arguments.console.note
        let day = ISO8601DateFormatter.string(
            from: Date(timeIntervalSince1970: Double(options.start)), timeZone: .gmt, formatOptions: .withFullDate)
        note(
            "\(NumberText.count(count, "record")) of \(NumberText.count(options.users, "user")) from \(day) on, "
                + "seed \(options.seed), in \(NumberText.seconds(duration)), "
                + "\(NumberText.rate(count, in: duration)) records/s")
        guard let truth, let path = arguments.value("truth") else { return }
        note(
            "due in \(path): \(NumberText.count(truth.directOpens)) direct and "
                + "\(NumberText.count(truth.influencedOpens)) influenced opens of "
                + "\(NumberText.count(truth.uniqueEvents, "event")), \(NumberText.count(truth.duplicates)) duplicates, "
                + "\(NumberText.count(truth.unknownTypes)) skipped")
    }

    private func warnOfFuture() {
        let end = options.start + (options.days + WorkloadOptions.aftermathDays) * 86_400
        guard Double(end) > Date().timeIntervalSince1970 else { return }
        arguments.console.note(
            "The stream may go on past the present: a live application refuses events that are dated ahead of the clock."
        )
    }
}

/// Holds a loop to a number of rounds a second.
private struct Pace {
    private let rate: Int?
    private let start = ContinuousClock.now

    init(rate: Int?) { self.rate = rate }

    func wait(after count: Int) {
        guard let rate else { return }
        let due = Duration.seconds(1) * (Double(count) / Double(rate))
        // Short waits add up until they are worth a call.
        while case let ahead = due - start.duration(to: .now), ahead > .milliseconds(5) {
            usleep(UInt32(min(ahead / .milliseconds(1), 500) * 1_000))
        }
    }

    func text(_ count: Int) -> String { NumberText.rate(count, in: start.duration(to: .now)) }
}
