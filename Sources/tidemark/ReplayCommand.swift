import Foundation
import TidemarkAttribution
import TidemarkConfiguration
import TidemarkEvents
import TidemarkProcessor
import TidemarkRegistry
import TidemarkReports

/// `tidemark replay`: the report of files or of topics, without a running application.
struct ReplayCommand: Command {
    static let spec = CommandSpec(
        "replay", summary: "Work out the report of files or topics, from their events alone.",
        usage: "FILE... [options]   or   --topic TOPIC [options]",
        details: """
            Files hold one JSON record a line: flat records, HTTP events or batches, in any order; or they are Avro object \
            container files, as storage exports write them. - is standard input. \
            gzip and Zstandard are decompressed; what a file is shows by how it begins and not by its name. \
            Damaged parts of container files are listed and passed over. \
            Records that do not name their type take it from a part event_type=TYPE of the file's path. Topics are read \
            from all partitions, committed records only, up to where they end now; no consumer group is touched.

            Counts every event, however late it comes, unless the configuration sets attribution.allowed_lateness. \
            It works on all cores, or as many threads as `workers` says; with a limited lateness, which depends on the \
            order of events, on one.

            Events of more users than fit into `limits.memory`, three quarters of what can be had unless it is set, are \
            written to temporary files and read back user by user at the end: the report is the same. A limited lateness \
            needs all users that can still change in memory.

            The report goes to standard output or --output, everything else to standard error. Records that cannot be \
            counted are listed and do not end the replay.
            """,
        options: CommonOptions.all + [
            .value("topic", "TOPIC", repeats: true, "Read this topic instead of files. Repeatable."),
            .value("from", "TIME", "Begin with records of this Kafka timestamp; with --topic."),
            .value("to", "TIME", "End before records of this Kafka timestamp; with --topic."),
            .value(
                "spill-directory", "DIR",
                "Folder for what does not fit into memory; TMPDIR, else /var/tmp, unless given."),
            ReportOptions.format, ReportOptions.by, ReportOptions.output,
        ],
        positionals: 0...Int.max,
        example: """
            tidemark replay 'export/event_type=*/*.ndjson' --format csv -o report.csv
            tidemark replay 'export/event_type=*/date=*/*/*/*.avro' --by day
            tidemark replay events-*.ndjson.zst --by day
            tidemark replay year/*.ndjson.gz --set limits.memory=4GB --spill-directory /data/tmp
            tidemark replay --topic currents.events --from 2026-01-05 -c tidemark.yaml
            """)

    private let arguments: ParsedArguments
    private let options: ReportOptions
    private let topics: [String]
    private let span: ReplayTopics.Span

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        options = try ReportOptions(arguments)
        topics = arguments.values("topic")
        guard topics.isEmpty != arguments.positionals.isEmpty else {
            throw UsageError(
                topics.isEmpty
                    ? "name files, `-` for standard input, or a --topic" : "name files or a --topic, not both")
        }
        guard !topics.isEmpty || !(arguments.has("from") || arguments.has("to")) else {
            throw UsageError("`--from` and `--to` choose records of a --topic by their Kafka timestamps")
        }
        guard arguments.positionals.count(where: { $0 == "-" }) < 2 else {
            throw UsageError("standard input (`-`) can be read once")
        }
        span = ReplayTopics.Span(
            from: try arguments.value("from").map { try TimeArgument.milliseconds($0, option: "from") },
            to: try arguments.value("to").map { try TimeArgument.milliseconds($0, option: "to") })
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        try options.checkOutput()
        let schemas: InputSchemas
        do { schemas = try InputSchemas(configuration.input) } catch { throw CommandFailure("\(error)") }
        let spillDirectory = try spillDirectory()
        let sink = try makeSink(configuration, schemas, spillDirectory)
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        let start = ContinuousClock.now
        let source: String
        let report: Report
        do {
            source =
                topics.isEmpty ? try readFiles(sink, progress) : try readTopics(sink, configuration, schemas, progress)
            progress.update(finishText(sink.figures))
            report = try sink.finish { progress.update(finishText(sink.figures)) }
        } catch {
            progress.clear()
            throw error
        }
        progress.clear()
        try options.write(report)
        let summary = ReplaySummary(
            figures: sink.figures, source: source, duration: start.duration(to: .now), spillDirectory: spillDirectory)
        for line in summary.lines { arguments.console.note(line) }
        return ExitCode.done
    }

    /// Where temporary files go. A folder that was named is looked at before long work.
    private func spillDirectory() throws(CommandFailure) -> String {
        guard let directory = arguments.value("spill-directory") else { return ReplayMemory.usualDirectory() }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory), isDirectory.boolValue,
            FileManager.default.isWritableFile(atPath: directory)
        else { throw CommandFailure("--spill-directory: \(directory) is not a folder that can be written to") }
        return directory
    }

    private func makeSink(
        _ configuration: Configuration, _ schemas: InputSchemas, _ spillDirectory: String
    ) throws(CommandFailure) -> any ReplaySink {
        var rules = configuration.attribution
        // Files come one type after the other, so that lateness by order of arrival would mean nothing.
        if !configuration.isSet("attribution.allowed_lateness") { rules.allowedLateness = nil }
        guard let days = DayTable.named(configuration.report.timeZone) else {
            throw CommandFailure("report.time_zone: `\(configuration.report.timeZone)` is not a known time zone")
        }
        let limits = DecoderLimits(maxRecordBytes: configuration.limits.recordBytes)
        let registry = registry(configuration)
        let limit = configuration.limits.memory ?? ReplayMemory.usualLimit()
        func memory(_ threads: Int) -> ReplayMemory? {
            limit.map {
                ReplayMemory(within: $0, threads: threads, isOfTopics: !topics.isEmpty, directory: spillDirectory)
            }
        }
        guard rules.allowedLateness != nil else {
            let wanted = configuration.workers ?? ProcessInfo.processInfo.activeProcessorCount
            let threads = limit.map { ReplayMemory.threads(wanted: wanted, within: $0) } ?? wanted
            return ParallelReplay(
                rules: rules, settings: configuration.report, days: days, limits: limits, threadCount: threads,
                schemas: schemas.all, registry: registry, memory: memory(threads))
        }
        // What is late depends on the order of events, so that one thread judges them all.
        return ReplayTask(
            rules: rules, settings: configuration.report, days: days, limits: limits,
            isRepartitioned: configuration.input.repartition, schemas: schemas.all, registry: registry,
            memory: memory(1))
    }

    /// Fetches writer schemas of records in topics; a registry that does not answer is waited for.
    private func registry(_ configuration: Configuration) -> SchemaFetcher? {
        guard !topics.isEmpty, configuration.schemaRegistry.isEnabled else { return nil }
        return SchemaFetcher(configuration.schemaRegistry) { [console = arguments.console] note in
            switch note {
            case .outage(let problem): console.note("waiting for the schema registry: \(problem)")
            case .recovered: console.note("the schema registry answers again")
            }
        }
    }

    /// Reads the files; returns what was read, for the summary.
    private func readFiles(_ sink: any ReplaySink, _ progress: ProgressLine) throws -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let files = try ReplayFiles(arguments.positionals, recordTime: now)
        var last = ReplayFiles.Progress()
        let start = ContinuousClock.now
        try files.read(into: sink) { state in
            last = state
            progress.update(
                progressText(
                    sink.figures, start, part: Double(state.bytesRead) / Double(max(state.bytesInAll, 1)),
                    bytes: state.bytesRead))
        }
        return "\(NumberText.count(files.paths.count, "file")) (\(NumberText.bytes(last.bytesRead)))"
    }

    private func readTopics(
        _ sink: any ReplaySink, _ configuration: Configuration, _ schemas: InputSchemas, _ progress: ProgressLine
    ) throws -> String {
        let source = try ReplayTopics(topics, span: span, configuration: configuration, schemas: schemas)
        var last = ReplayTopics.Progress()
        let start = ContinuousClock.now
        try source.read(into: sink) { state in
            last = state
            progress.update(
                progressText(
                    sink.figures, start, part: Double(state.offsetsRead) / Double(max(state.offsetsInAll, 1)),
                    bytes: state.bytesRead))
        }
        let names = topics.joined(separator: ", ")
        return "\(names), \(NumberText.count(last.partitions, "partition")) (\(NumberText.bytes(last.bytesRead)))"
    }

    private func progressText(
        _ figures: ReplayFigures, _ start: ContinuousClock.Instant, part: Double, bytes: Int64
    ) -> String {
        let elapsed = start.duration(to: .now)
        // A pipe has no size to be a part of.
        let share = part > 0 && part <= 1 ? String(format: "%3.0f%%  ", part * 100) : ""
        let rate = NumberText.rate(figures.eventCount, in: elapsed)
        let speed = NumberText.bytes(Int64(Double(bytes) / max(elapsed / .seconds(1), 0.001)))
        // The first moments tell nothing.
        let left = part > 0.01 && part < 1 ? ", \(NumberText.seconds(elapsed * ((1 - part) / part))) left" : ""
        let kept =
            figures.spilledBytes > 0
            ? "\(NumberText.bytes(figures.spilledBytes)) on disk" : NumberText.count(figures.userCount, "user")
        return "\(share)\(NumberText.count(figures.eventCount, "event")), \(rate)/s, \(kept), \(speed)/s\(left)"
    }

    private func finishText(_ figures: ReplayFigures) -> String {
        let text =
            "\(NumberText.count(figures.eventCount, "event")) read; working out the report of their users"
        guard figures.spilledBytes > 0 else { return text }
        return
            "\(text): \(NumberText.bytes(figures.readBackBytes)) of \(NumberText.bytes(figures.spilledBytes)) read back"
    }
}

/// What a replay tells at its end, on standard error.
struct ReplaySummary {
    /// How many refused records are listed.
    private static let shownRefusals = 5

    let figures: ReplayFigures
    let source: String
    let duration: Duration
    let spillDirectory: String

    var lines: [String] {
        let counts = figures.counts
        let events = NumberText.count(figures.eventCount, "event")
        let rate = NumberText.rate(figures.eventCount, in: duration)
        var lines = ["\(events) of \(source) in \(NumberText.seconds(duration)), \(rate) events/s"]
        lines.append(
            "\(NumberText.count(counts.accepted)) counted, \(NumberText.count(counts.duplicates)) duplicates, "
                + "\(NumberText.count(counts.skipped)) skipped, \(NumberText.count(counts.deadLetterTotal)) refused, "
                + NumberText.count(figures.userCount, "user"))
        if figures.spilledBytes > 0 {
            lines.append(
                "\(NumberText.bytes(figures.spilledBytes)) of events did not fit into limits.memory and went through \(spillDirectory)"
            )
        }
        guard counts.deadLetterTotal > 0 else { return lines }
        let codes = counts.deadLetters.sorted { $0.key.rawValue < $1.key.rawValue }
        lines.append(
            "refused: " + codes.map { "\($0.key.rawValue) \(NumberText.count($0.value))" }.joined(separator: ", "))
        for refusal in figures.refusals.prefix(Self.shownRefusals) {
            lines.append("  \(refusal.place): \(refusal.rejection)")
        }
        let hidden = counts.deadLetterTotal - min(figures.refusals.count, Self.shownRefusals)
        if hidden > 0 { lines.append("  and \(NumberText.count(hidden)) more") }
        return lines
    }
}
