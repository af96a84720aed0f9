/// A topic as the brokers have it.
public struct ObservedTopic: Sendable, Equatable {
    /// Number of partitions.
    public var partitions: Int
    /// Copies of each partition; `nil` when not known.
    public var replicationFactor: Int?
    /// Settings in effect, defaults of the brokers included.
    public var configs: [String: String]

    /// Describes a topic.
    public init(partitions: Int, replicationFactor: Int? = nil, configs: [String: String] = [:]) {
        self.partitions = partitions
        self.replicationFactor = replicationFactor
        self.configs = configs
    }
}

/// What the brokers have of the topics of an application.
public struct ObservedTopics: Sendable, Equatable {
    /// The topics that exist, by name.
    public var topics: [String: ObservedTopic]
    /// Number of brokers.
    public var brokers: Int

    /// Describes a cluster.
    public init(topics: [String: ObservedTopic] = [:], brokers: Int = 1) {
        self.topics = topics
        self.brokers = brokers
    }

    /// The topic of that name, if it exists.
    public subscript(name: String) -> ObservedTopic? { topics[name] }

    /// The cluster as it would be once what is missing had been created as planned.
    /// - Parameters:
    ///   - plan: what to create.
    ///   - refused: topics that could not be created.
    public func completed(by plan: TopicPlan, except refused: Set<String> = []) -> ObservedTopics {
        var result = self
        for topic in plan.topics where topics[topic.name] == nil && !refused.contains(topic.name) {
            result.topics[topic.name] = ObservedTopic(
                partitions: topic.partitions, replicationFactor: topic.replicationFactor, configs: topic.configs)
        }
        return result
    }
}

/// Settings that bear on the application, read from text.
extension ObservedTopic {
    /// `cleanup.policy` as a set of words; Kafka's own default when the brokers do not tell.
    var cleanupPolicy: Set<String> {
        Set((configs["cleanup.policy"] ?? "delete").split { $0 == "," || $0 == " " }.map(String.init))
    }

    /// `max.message.bytes`; Kafka's own default when the brokers do not tell.
    package var maxMessageBytes: Int { number("max.message.bytes") ?? TopicPlan.defaultMaxMessageBytes }

    /// A whole number among the settings.
    func number(_ setting: String) -> Int? { configs[setting].flatMap { Int($0) } }

    /// A bound of time or size; `nil` is none, which brokers write as -1 or as the largest number.
    func bound(_ setting: String) -> Int? {
        guard let value = number(setting), value >= 0, value != .max else { return nil }
        return value
    }

    /// How far ahead of the broker's clock the timestamp of a record may be, milliseconds; `nil` is no bound.
    ///
    /// Kafka has a setting of its own for this since 3.6; before, and as long as the new one is not set, one setting
    /// bounds both directions.
    var aheadOfClock: Int? {
        if configs["message.timestamp.type"] == "LogAppendTime" { return 0 }
        return bound("message.timestamp.after.max.ms") ?? bound("message.timestamp.difference.max.ms")
    }
}
