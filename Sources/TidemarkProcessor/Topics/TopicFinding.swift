/// Something about a topic that is not as the application needs it.
public struct TopicFinding: Sendable, Equatable, CustomStringConvertible {
    /// What a finding means for `run`.
    public enum Severity: String, Sendable {
        /// Results would be wrong or work would stop: `run` does not start.
        case refuse
        /// `run` starts, and something will be missed later.
        case warn
    }

    /// What it means for `run`.
    public let severity: Severity
    /// Name of the topic.
    public let topic: String
    /// What is wrong, and what comes of it.
    public let problem: String
    /// What it should be.
    public let wanted: String
    /// What to do: a command, or words where no command helps.
    public let advice: String

    /// Describes a finding.
    public init(_ severity: Severity, topic: String, problem: String, wanted: String, advice: String) {
        self.severity = severity
        self.topic = topic
        self.problem = problem
        self.wanted = wanted
        self.advice = advice
    }

    /// The finding as lines of text.
    public var lines: [String] {
        ["\(severity.rawValue): \(topic): \(problem)", "    wanted: \(wanted)", "    advice: \(advice)"]
    }

    /// The lines as one text.
    public var description: String { lines.joined(separator: "\n") }
}

/// The topics do not fit the application: `run` must not start.
public struct TopicsUnfit: Error, CustomStringConvertible {
    /// Why; every one of them is a refusal.
    public let findings: [TopicFinding]

    /// All refusals with advice, as lines.
    public var description: String {
        (["the topics do not fit:"] + findings.flatMap(\.lines)).joined(separator: "\n")
    }
}
