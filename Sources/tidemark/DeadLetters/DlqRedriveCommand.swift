import TidemarkProcessor

/// `tidemark dlq redrive`: feeds dead letters again.
struct DlqRedriveCommand: Command {
    static let spec = CommandSpec(
        "dlq redrive", summary: "Feed dead letters to their input topics again, each once.",
        details: """
            Sends the records as they came (key, value, headers, and the time as far as the topic keeps it) to the topic \
            that they came from, with the header tidemark.redriven, which names the dead letter. What was fed is noted \
            in the same transaction: a redrive that was interrupted goes on where it was, and one that is repeated feeds \
            nothing twice. Two at once: the later one ends the earlier one.

            Each record is judged first, as `run` would judge it now; what would be refused again is not fed, and listed \
            with what to do instead. Late ones are fed only where more lateness is allowed than was then. Of records that \
            were too large for the dead-letter topic, the original is fetched from its topic.

            Exits with 1 if any was refused.
            """,
        options: CommonOptions.all + DeadLetterOptions.all + [
            .flag("dry-run", "Feed nothing; say of each what would become of it."),
            .value("rate", "N", "Feed no more than N records a second."),
            .flag("again", "Feed those, too, that were fed before. Their events pass duplicate detection."),
        ],
        example: """
            tidemark dlq redrive --code unknown_schema --dry-run -c tidemark.yaml
            tidemark dlq redrive --code future_dated --topic currents.events --rate 500
            """)

    private let arguments: ParsedArguments
    private let request: Redrive.Request

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        var request = Redrive.Request()
        request.filter = try DeadLetterOptions.filter(arguments)
        request.isDryRun = arguments.has("dry-run")
        request.isAgain = arguments.has("again")
        if arguments.has("rate") { request.rate = try arguments.integer("rate", in: 1...Int.max, default: 1) }
        self.request = request
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        let console = arguments.console
        let control = RunControl { console.note($0) }
        let signals = StopSignals { control.stop() }
        defer { signals.cancel() }
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        let outcomes = RedriveOutcomes(isDryRun: request.isDryRun, console: console)
        let redrive = try Redrive(configuration, control: control)
        defer { redrive.close() }
        do {
            try redrive.perform(request) { id, outcome in
                if outcomes.isShown(outcome) { progress.clear() }
                outcomes.take(id, outcome)
                if outcomes.count % 100 == 0 { progress.update(outcomes.summary) }
            }
        } catch {
            progress.clear()
            console.note(outcomes.summary)
            throw error
        }
        progress.clear()
        console.note(outcomes.count == 0 ? "no dead letter is like that" : outcomes.summary)
        return outcomes.refused == 0 ? ExitCode.done : ExitCode.failed
    }
}

/// Counts what became of dead letters, and prints what a person should see of each.
final class RedriveOutcomes {
    private(set) var fed = 0
    private(set) var before = 0
    private(set) var refused = 0
    private let isDryRun: Bool
    private let console: Console

    init(isDryRun: Bool, console: Console) {
        self.isDryRun = isDryRun
        self.console = console
    }

    /// All of a dry run, else what was refused.
    func isShown(_ outcome: Redrive.Outcome) -> Bool {
        if case .refused = outcome { true } else { isDryRun }
    }

    func take(_ id: String, _ outcome: Redrive.Outcome) {
        var line: String
        switch outcome {
        case .fed(let target):
            fed += 1
            line = "feed    \(id) to \(target)"
        case .fedBefore(let time):
            before += 1
            line = "skip    \(id): fed before, \(timeText(time))"
        case .refused(let reason):
            refused += 1
            line = "refuse  \(id): \(reason)"
        }
        if isShown(outcome) { console.output(line + "\n") }
    }

    var count: Int { fed + before + refused }

    var summary: String {
        let verb = isDryRun ? "would be fed" : "fed"
        return
            "\(NumberText.count(fed)) \(verb), \(NumberText.count(before)) fed before, \(NumberText.count(refused)) refused"
    }
}
