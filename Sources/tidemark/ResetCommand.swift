import TidemarkConfiguration
import TidemarkProcessor

/// `tidemark reset`: begins an application anew.
struct ResetCommand: Command {
    static let spec = CommandSpec(
        "reset", summary: "Withdraw an application's report and forget its state, to begin anew.",
        details: """
            Publishes a tombstone for every row and open that stands, forgets state, names and positions, and begins a \
            new epoch. The next `run` reads the input from its beginning, under the settings that it then has: this is \
            how settings that change results are changed. Dead letters and the input stay as they are.

            All processes of the application must have ended. Without --yes it only says what it would do.
            """,
        options: CommonOptions.all + [
            .flag("dry-run", "Say what would be done and do nothing; the same as leaving out --yes."),
            .flag("yes", "Do it."),
        ],
        example: """
            tidemark reset -c tidemark.yaml --dry-run
            tidemark reset -c tidemark.yaml --yes
            """)

    private let arguments: ParsedArguments

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        guard !(arguments.has("dry-run") && arguments.has("yes")) else {
            throw UsageError("`--dry-run` does nothing and `--yes` does it: name one of them")
        }
    }

    func run() throws -> Int32 {
        let console = arguments.console
        let configuration = try loadConfiguration(arguments)
        let control = RunControl { console.note($0) }
        let signals = StopSignals { control.stop() }
        defer { signals.cancel() }
        let reset = try Reset(configuration, control: control)
        let plan = reset.plan
        let does = arguments.has("yes")
        console.output(
            """
            \(does ? "withdrawing" : "would withdraw") \(NumberText.count(plan.rows, "row")) and \
            \(NumberText.count(plan.opens, "open")), \(does ? "forgetting" : "forget") \(NumberText.count(plan.checkpointRecords, "record")) of state and \
            \(NumberText.count(plan.names, "name")); epoch \(plan.nextEpoch) begins

            """)
        guard does else {
            console.note("nothing was changed; --yes does it")
            return ExitCode.done
        }
        try reset.perform()
        console.note("done: the next `tidemark run` of \(configuration.applicationID) begins anew")
        return ExitCode.done
    }
}
