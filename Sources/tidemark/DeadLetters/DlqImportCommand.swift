import Foundation
import TidemarkProcessor

/// `tidemark dlq import`: feeds repaired dead letters.
struct DlqImportCommand: Command {
    static let spec = CommandSpec(
        "dlq import", summary: "Feed dead letters that were exported and repaired, each once.",
        usage: "FILE [options]",
        details: """
            Checks all lines first, as `run` would judge their records now, and names each that would be refused again; \
            then nothing is sent. --force sends those, too; lines that cannot be read are never sent. - is standard input.

            Like `dlq redrive`, it sends each record to the topic that it came from with the header tidemark.redriven and \
            notes it in the same transaction: an import that was interrupted can be run again, and a dead letter that was \
            fed before is left out.
            """,
        options: CommonOptions.all + [
            .flag("dry-run", "Send nothing; say of each line what would become of it."),
            .value("rate", "N", "Send no more than N records a second."),
            .flag("force", "Send also what would be refused again."),
            .flag("again", "Send also what was fed before. Its events pass duplicate detection."),
        ],
        positionals: 1...1,
        example: """
            tidemark dlq import mended.ndjson --dry-run -c tidemark.yaml
            tidemark dlq import mended.ndjson -c tidemark.yaml
            """)

    private let arguments: ParsedArguments
    private let request: Redrive.Request

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        var request = Redrive.Request()
        request.isDryRun = arguments.has("dry-run")
        request.isAgain = arguments.has("again")
        if arguments.has("rate") { request.rate = try arguments.integer("rate", in: 1...Int.max, default: 1) }
        self.request = request
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        let console = arguments.console
        let file = DeadLetterFile(try read(arguments.positionals[0]))
        let control = RunControl { console.note($0) }
        let signals = StopSignals { control.stop() }
        defer { signals.cancel() }
        let redrive = try Redrive(configuration, control: control)
        defer { redrive.close() }
        let refused = try redrive.problems(with: file, isAgain: request.isAgain)
        for problem in (file.problems + refused).sorted(by: { $0.line < $1.line }) { console.output("\(problem)\n") }
        guard file.problems.isEmpty, refused.isEmpty || arguments.has("force") else {
            let count = NumberText.count(file.problems.count + refused.count, "line")
            let advice = file.problems.isEmpty ? "mend them, or send them all the same with --force" : "mend them"
            throw CommandFailure("nothing was sent: \(count) cannot be used; \(advice)")
        }
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        let outcomes = RedriveOutcomes(isDryRun: request.isDryRun, console: console)
        defer {
            progress.clear()
            console.note(outcomes.summary)
        }
        try redrive.perform(file, request) { id, outcome in
            outcomes.take(id, outcome)
            if outcomes.count % 100 == 0 { progress.update(outcomes.summary) }
        }
        return outcomes.refused == 0 ? ExitCode.done : ExitCode.failed
    }

    private func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        do {
            if path == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw CommandFailure("cannot read \(path): \(error.localizedDescription)")
        }
    }
}
