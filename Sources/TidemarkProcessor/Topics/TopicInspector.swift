public import TidemarkConfiguration
internal import TidemarkKafka

/// The brokers cannot be asked about topics, or do not let us.
public struct TopicAccessError: Error, CustomStringConvertible, Equatable {
    /// What happened and what to do, as lines.
    public let description: String
}

/// Looks up the topics of an application. It blocks, for as long as `timeout` at most, and a moment to close.
public struct TopicInspector {
    /// How long brokers may take to answer when nothing else is said.
    public static let usualTimeout = Duration.seconds(10)

    private let configuration: Configuration
    private let connection: TopicConnection

    /// Starts a client for the brokers of a configuration.
    /// - Parameters:
    ///   - configuration: names brokers, credentials and topics.
    ///   - timeout: limit for each call.
    /// - Throws: ``TopicAccessError`` for a property that librdkafka does not take.
    public init(_ configuration: Configuration, timeout: Duration = usualTimeout) throws {
        self.init(configuration, connection: try TopicConnection(configuration, timeout: timeout))
    }

    init(_ configuration: Configuration, connection: TopicConnection) {
        self.configuration = configuration
        self.connection = connection
    }

    /// What the brokers have of the application's topics.
    /// - Throws: ``TopicAccessError``.
    public func observe() throws -> ObservedTopics {
        let names = Array(Set(TopicPlan(configuration).topics.map(\.name))).sorted()
        return try connection.request("look up topics") { admin, clock throws(KafkaError) in
            let shapes = try admin.topicShapes(names, timeoutMilliseconds: clock.remaining)
            let existing = shapes.keys.sorted()
            let configs =
                existing.isEmpty ? [:] : try admin.topicConfigs(existing, timeoutMilliseconds: clock.remaining)
            let topics = shapes.map { name, shape in
                let topic = ObservedTopic(
                    partitions: shape.partitions, replicationFactor: shape.replicationFactor,
                    configs: configs[name] ?? [:])
                return (name, topic)
            }
            return ObservedTopics(
                topics: Dictionary(uniqueKeysWithValues: topics),
                brokers: try admin.brokerCount(timeoutMilliseconds: clock.remaining))
        }
    }

    /// Refuses to go on when the topics do not fit; `run` calls it at the start.
    /// - Parameters:
    ///   - configuration: names brokers, credentials, topics and rules.
    ///   - timeout: limit for the brokers' answers.
    /// - Returns: what is to be told, though it does not keep from running.
    /// - Throws: ``TopicsUnfit`` with all refusals, ``TopicAccessError``.
    /// - Important: an ``EmbeddedCluster`` knows no settings of topics and answers with an error.
    public static func requireFit(
        configuration: Configuration, timeout: Duration = usualTimeout
    ) throws -> [TopicFinding] {
        let observed = try TopicInspector(configuration, timeout: timeout).observe()
        let findings = TopicCheck(configuration, observed: observed).findings()
        let refusals = findings.filter { $0.severity == .refuse }
        guard refusals.isEmpty else { throw TopicsUnfit(findings: refusals) }
        return findings
    }
}
