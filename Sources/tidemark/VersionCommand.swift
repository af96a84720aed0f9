import TidemarkKafka

/// `tidemark version`.
struct VersionCommand: Command {
    static let spec = CommandSpec(
        "version", summary: "Print the version, and that of the Kafka client library in use.", usage: "",
        example: "tidemark version")

    /// The version of the program.
    static let version = "0.1.0"

    private let console: Console

    init(arguments: ParsedArguments) { console = arguments.console }

    func run() -> Int32 {
        console.output("tidemark \(Self.version), librdkafka \(KafkaLibrary.version)\n")
        return ExitCode.done
    }
}
