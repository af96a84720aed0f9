import Foundation
import TidemarkConfiguration
import TidemarkProcessor
import TidemarkWorkload

/// `tidemark load`: a sample stream with a known truth, into a topic or a file.
struct LoadCommand: Command {
    static let spec = CommandSpec(
        "load", summary: "Generate a sample stream of events, with the report that is due, into a topic or file.",
        usage: "--to topic|file [options]",
        details: """
            The stream holds all channels, repeated and disordered events, and some types that no report counts. Equal \
            options give equal bytes when --start is given; without it the stream ends some hours before now. docs/load.md \
            has its distributions: users, types, times, delays, repetitions.

            Into a topic, records are keyed by user id and placed as Kafka's own clients place them; the topic must \
            exist. --truth writes the rows that `tidemark replay --format ndjson` gives for the stream under the \
            attribution and report settings of the configuration, worked out without the engine.
            """,
        options: CommonOptions.all + [
            .value("to", "topic|file", "Where the stream goes."),
            .value("topic", "TOPIC", "The topic; the first of input.topics if none is named."),
            .value("output", short: "o", "FILE", "The file; standard output if none is named."),
            .value("users", "N", "Users, default 1000; each has some 28 records a week."),
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
            .value("rate", "N", "Records a second, evenly spread; as many as possible if not given."),
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

        /// `nil` for flat records with all their fields.
        var ofRecords: WireShape? {
            switch self {
            // Containers are not made of records.
            case .flat, .bare, .container: nil
            case .avro: .avro
            case .http: .http
            }
        }
    }

    /// What was sent.
    private struct Sent {
        var count: Int
        /// With a rate, until the last record went; else until all had arrived.
        var duration: Duration
        /// How long after their time records went, at most; `nil` without a rate.
        var greatestLag: Duration?
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
        guard shape != .container || !arguments.has("rate") else {
            throw UsageError("`--rate` needs records: `--shape container` writes files as fast as it can")
        }
        rate = arguments.has("rate") ? try arguments.integer("rate", in: 1...Pacer.maximumRate, default: 1) : nil
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        guard let settings = PlainSettings(configuration) else {
            throw CommandFailure("the sample stream's evaluation does not know the configured policy or model")
        }
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        FreeMemory.keep()
        let workload = Workload(options)
        warnOfFuture()
        do {
            let sent =
                shape == .container
                ? try writeContainers(workload, progress)
                : try send(workload, to: try makeTarget(configuration), progress)
            let truth = try writeTruth(workload, settings, progress)
            progress.clear()
            note(sent, truth)
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
            encoder: format == .avro ? AvroEventEncoder(topic: topic, configuration) : nil, isPaced: rate != nil,
            configuration: configuration)
    }

    /// Generates and sends; returns how many records that were, and what became of the rate.
    private func send(_ workload: Workload, to target: any LoadTarget, _ progress: ProgressLine) throws -> Sent {
        let pieces = WorkloadPieces(
            workload, shape: shape.ofRecords, threadCount: ProcessInfo.processInfo.activeProcessorCount)
        var pace = Pace(rate: rate)
        var count = 0
        while let piece = pieces.next() {
            var place = 0
            while place < piece.count {
                let end = place + (try pace.awaitTurn(of: piece.count - place) { try target.check() })
                try target.take(piece, place..<end)
                place = end
            }
            count += place
            try target.finish(piece) { pieces.giveBack($0) }
            let done = min(100, (piece.lastArrival - options.start) * 100 / (options.days * 86_400))
            progress.update(
                "\(done)%  \(NumberText.count(count, "record")), \(NumberText.rate(count, in: pace.elapsed))/s")
        }
        let sent = Sent(count: count, duration: pace.elapsed, greatestLag: pace.greatestLag)
        try target.finish { waiting in
            progress.update("\(NumberText.count(count, "record")), \(NumberText.count(waiting)) still under way")
        }
        return rate == nil ? Sent(count: count, duration: pace.elapsed, greatestLag: nil) : sent
    }

    /// Generates and writes container files; returns how many events that were.
    private func writeContainers(_ workload: Workload, _ progress: ProgressLine) throws -> Sent {
        let start = ContinuousClock.now
        let files = ContainerFiles(path: arguments.value("output") ?? ".")
        var stream = workload.stream()
        var count = 0
        while let event = stream.nextSample() {
            try files.take(event)
            count += 1
            if count % 1_024 == 0 { progress.update(NumberText.count(count, "record")) }
        }
        try files.finish()
        return Sent(count: count, duration: start.duration(to: .now), greatestLag: nil)
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

    private func note(_ sent: Sent, _ truth: Workload.Truth?) {
        let note = arguments.console.note
        let day = ISO8601DateFormatter.string(
            from: Date(timeIntervalSince1970: Double(options.start)), timeZone: .gmt, formatOptions: .withFullDate)
        note(
            "\(NumberText.count(sent.count, "record")) of \(NumberText.count(options.users, "user")) from \(day) on, "
                + "seed \(options.seed), in \(NumberText.seconds(sent.duration)), "
                + "\(NumberText.rate(sent.count, in: sent.duration)) records/s\(lag(sent))")
        guard let truth, let path = arguments.value("truth") else { return }
        note(
            "due in \(path): \(NumberText.count(truth.directOpens)) direct and "
                + "\(NumberText.count(truth.influencedOpens)) influenced opens of "
                + "\(NumberText.count(truth.uniqueEvents, "event")), \(NumberText.count(truth.duplicates)) duplicates, "
                + "\(NumberText.count(truth.unknownTypes)) skipped")
    }

    private func lag(_ sent: Sent) -> String {
        guard let lag = sent.greatestLag else { return "" }
        return ", at most \(NumberText.count(Int((lag / .milliseconds(1)).rounded()))) ms behind the rate"
    }

    private func warnOfFuture() {
        let end = options.start + (options.days + WorkloadOptions.aftermathDays) * 86_400
        guard Double(end) > Date().timeIntervalSince1970 else { return }
        arguments.console.note(
            "The stream may go on past the present: a live application refuses events that are dated ahead of the clock."
        )
    }
}
