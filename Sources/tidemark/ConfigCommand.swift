import TidemarkConfiguration

/// `tidemark config check`: says whether a configuration can be used, and if not, everything that is wrong.
struct ConfigCheckCommand: Command {
    static let spec = CommandSpec(
        "config check", summary: "Check the configuration and name everything that is wrong.",
        details: """
            Reads the file, the TIDEMARK_ variables and --set as `run` would, without connecting to anything. Prints \
            one line per problem on standard error and exits with 1, or OK and the name of the file.
            """,
        options: [CommonOptions.config, CommonOptions.set], example: "tidemark config check -c tidemark.yaml")

    private let arguments: ParsedArguments

    init(arguments: ParsedArguments) { self.arguments = arguments }

    func run() throws -> Int32 {
        _ = try loadConfiguration(arguments)
        arguments.console.output("OK \(configurationFile(arguments) ?? "(no file: defaults, environment, --set)")\n")
        return ExitCode.done
    }
}

/// `tidemark config show`: prints the configuration that all layers make together.
struct ConfigShowCommand: Command {
    static let spec = CommandSpec(
        "config show", summary: "Print the effective configuration and where each setting comes from.",
        details: """
            The output is a configuration file itself. Secrets print as stars. With --reference it holds every key \
            with its meaning and default instead.
            """,
        options: [
            CommonOptions.config, CommonOptions.set,
            .flag("reference", "Print the commented reference configuration."),
        ],
        example: """
            tidemark config show -c tidemark.yaml --set attribution.window.fixed=45m
            tidemark config show --reference > tidemark.yaml
            """)

    private let arguments: ParsedArguments

    init(arguments: ParsedArguments) { self.arguments = arguments }

    func run() throws -> Int32 {
        let isReference = arguments.has("reference")
        arguments.console.output(
            isReference ? Configuration.reference() : try loadConfiguration(arguments).render())
        return ExitCode.done
    }
}
