import Foundation
import Synchronization
import TidemarkConfiguration
import TidemarkIngest
import TidemarkProcessor

/// `tidemark ingest files`: files into Kafka, each once.
struct IngestFilesCommand: Command {
    static let spec = CommandSpec(
        "ingest files", summary: "Bring the events of files to Kafka, each file once.", usage: "DIR... [options]",
        details: """
            Reads all files below the folders (or files by themselves): JSON records, one a line or printed over many lines, in every \
            shape that `run` reads; gzip and Zstandard are decompressed, known by how a file begins. Records that do not name their \
            type take it from a part event_type=TYPE of the path. Names that begin with . or _ or end with .tmp, .part and the like \
            are passed over.

            Which files were brought in stands in the topic <application_id>-ingested, in the same transactions as their events: a \
            process that is killed and started again brings in what is missing and nothing twice. Files are known by their path below \
            the folder and by what they hold: one that has grown is read on, one that has changed is brought in again, and the log \
            says so. Damaged files are reported, what comes before the damage is brought in, and others go on.

            With --follow it goes on until stopped. A file is read once it has not changed for ingest.files.settle.
            """,
        options: CommonOptions.all + [
            .flag("follow", "Look for new files until stopped."),
            .flag("dry-run", "Read files and the ledger, send nothing, and say what would be sent."),
            .value("log-format", "FORMAT", "text (default on a terminal), logfmt (default elsewhere) or json."),
        ],
        positionals: 1...Int.max,
        example: """
            tidemark ingest files /data/currents --dry-run
            tidemark ingest files /landing --follow -c tidemark.yaml
            """)

    private let arguments: ParsedArguments
    private let format: LogFormat

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        format = try arguments.choice("log-format", default: .usual(.standardError))
        guard !(arguments.has("follow") && arguments.has("dry-run")) else {
            throw UsageError("`--dry-run` looks once; leave out `--follow`")
        }
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        let log = IngestLog { [format, application = configuration.applicationID] message, level in
            progress.note(
                format.render(LogLine(message, level: level, application: application, loop: "ingest"), time: Date()))
        }
        let flag = StopFlag()
        let signals = StopSignals { flag.raise() }
        defer { signals.cancel() }
        var options = FilesIngest.Options(paths: arguments.positionals)
        options.follows = arguments.has("follow")
        options.isDryRun = arguments.has("dry-run")
        let start = ContinuousClock.now
        let ingest = try FilesIngest(configuration, options, log: log, isStopping: { flag.isRaised }) { summary in
            progress.update(IngestFilesCommand.progressText(summary, start))
        }
        defer { progress.clear() }
        let summary = try ingest.run()
        progress.clear()
        let verb = options.isDryRun ? "would be brought in" : "brought in"
        for line in IngestFilesCommand.lines(summary, verb, start.duration(to: .now)) { arguments.console.note(line) }
        // Who follows was asked to stop; what was damaged stands in the log.
        return summary.damaged > 0 && !options.follows ? ExitCode.failed : ExitCode.done
    }

    private static func progressText(_ summary: FilesIngest.Summary, _ start: ContinuousClock.Instant) -> String {
        let elapsed = start.duration(to: .now)
        let share = Double(summary.bytes) / Double(max(summary.bytesInAll, 1))
        return String(format: "%3.0f%%  ", min(share, 1) * 100) + NumberText.count(summary.files, "file") + ", "
            + "\(NumberText.count(summary.events, "event")), \(NumberText.rate(summary.events, in: elapsed))/s"
    }

    /// What was done, for people.
    static func lines(_ summary: FilesIngest.Summary, _ verb: String, _ duration: Duration) -> [String] {
        var lines = [
            "\(NumberText.count(summary.files, "file")) \(verb) (\(NumberText.bytes(summary.bytes))) in "
                + "\(NumberText.seconds(duration)): \(NumberText.count(summary.events, "event")), "
                + NumberText.count(summary.deadLetters, "dead letter")
        ]
        if summary.known > 0 { lines.append("\(NumberText.count(summary.known, "file")) known already") }
        if summary.unsettled > 0 { lines.append("\(NumberText.count(summary.unsettled, "file")) still growing") }
        if summary.damaged > 0 {
            lines.append(
                "\(NumberText.count(summary.damaged, "file")) damaged: what comes before the damage is \(verb); put a good file "
                    + "under the same name to bring in the rest")
        }
        return lines
    }
}

/// Raised once, from any thread.
final class StopFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    var isRaised: Bool { raised.load(ordering: .relaxed) }

    func raise() { raised.store(true, ordering: .relaxed) }
}
