import TidemarkConfiguration
import TidemarkProcessor

/// `tidemark topics create`: makes the topics that are missing.
struct TopicsCreateCommand: Command {
    static let spec = CommandSpec(
        "topics create", summary: "Create the topics that are missing; leave the others as they are.",
        details: """
            Makes input, output and internal topics with the partitions, cleanup and retention that they need. What \
            exists stays untouched, and gives the number of partitions to what has to match it. Prints one line per \
            topic, then everything that does not fit, with advice.

            Exits with 1 if a topic cannot be created or `run` would refuse what there is.
            """,
        options: [
            CommonOptions.config, CommonOptions.set,
            .flag("dry-run", "Create nothing; ask the brokers whether they would."),
        ],
        example: """
            tidemark topics create -c tidemark.yaml
            tidemark topics create --dry-run --set topics.partitions=12
            """)

    private let arguments: ParsedArguments

    init(arguments: ParsedArguments) { self.arguments = arguments }

    func run() throws -> Int32 {
        let report = try TopicCreator.create(loadConfiguration(arguments), isDryRun: arguments.has("dry-run"))
        arguments.console.output(Self.table(report.outcomes))
        let failures = report.outcomes.count { if case .failed = $0.result { true } else { false } }
        print(report.findings, failures: failures, on: arguments.console)
        return report.isFit ? ExitCode.done : ExitCode.failed
    }

    /// One line per topic: what was done, the name, what it is for and its partitions.
    static func table(_ outcomes: [TopicCreator.Outcome]) -> String {
        let width = outcomes.map(\.topic.name.count).max() ?? 0
        return outcomes.map { outcome in
            let name = outcome.topic.name.padded(to: width)
            let role = outcome.topic.role.rawValue.padded(to: 12)
            var partitions = outcome.topic.partitions
            if case .exists(let existing) = outcome.result { partitions = existing }
            let (word, reason) =
                switch outcome.result {
                case .created: ("created", "")
                case .exists: ("exists", "")
                case .wouldCreate: ("would create", "")
                case .failed(let reason): ("failed", ": \(reason)")
                }
            let unit = partitions == 1 ? "partition" : "partitions"
            return "\(word.padded(to: 12))  \(name)  \(role)  \(partitions) \(unit)\(reason)\n"
        }.joined()
    }
}

/// `tidemark topics check`: says whether `run` can work with the topics as they are.
struct TopicsCheckCommand: Command {
    static let spec = CommandSpec(
        "topics check", summary: "Check partitions, cleanup and retention of the topics; change nothing.",
        details: """
            Prints everything that does not fit, with what it should be and what to do. `run` does not start with a \
            finding marked `refuse`; it starts with those marked `warn` and prints them. Kafka's tools are called \
            kafka-configs.sh and kafka-topics.sh in its own distribution.

            Exits with 0 if nothing is found, else with 1.
            """,
        options: [CommonOptions.config, CommonOptions.set], example: "tidemark topics check -c tidemark.yaml")

    private let arguments: ParsedArguments

    init(arguments: ParsedArguments) { self.arguments = arguments }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        let observed = try TopicInspector(configuration).observe()
        let findings = TopicCheck(configuration, observed: observed).findings()
        print(findings, on: arguments.console)
        return findings.isEmpty ? ExitCode.done : ExitCode.failed
    }
}

/// Prints findings, and how many there are.
private func print(_ findings: [TopicFinding], failures: Int = 0, on console: Console) {
    let refusals = findings.count { $0.severity == .refuse }
    let warnings = findings.count - refusals
    for line in findings.flatMap(\.lines) { console.output(line + "\n") }
    let parts = [(failures, "failure"), (refusals, "refusal"), (warnings, "warning")].filter { $0.0 > 0 }.map {
        count, noun in
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
    console.output(parts.isEmpty ? "OK all topics fit\n" : "\(parts.joined(separator: ", "))\n")
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
