public import TidemarkConfiguration
internal import TidemarkKafka

/// Creates the topics of an application that do not exist; never changes one that does.
public struct TopicCreator {
    /// What became of one topic.
    public struct Outcome: Sendable, Equatable {
        /// The topic as it should be.
        public let topic: PlannedTopic
        /// What was done.
        public let result: Result
    }

    /// What was done about a topic.
    public enum Result: Sendable, Equatable {
        /// It is new.
        case created
        /// It was there, with that many partitions, and is untouched.
        case exists(partitions: Int)
        /// It is missing, and the brokers would take it; nothing was done.
        case wouldCreate
        /// The brokers refuse it.
        case failed(String)
    }

    /// All that was done and found.
    public struct Report: Sendable, Equatable {
        /// One for each topic of the plan, in its order.
        public let outcomes: [Outcome]
        /// What does not fit afterwards; of a dry run, what would not.
        public let findings: [TopicFinding]

        /// Whether all topics are there, and `run` would start.
        public var isFit: Bool {
            !findings.contains { $0.severity == .refuse }
                && !outcomes.contains { if case .failed = $0.result { true } else { false } }
        }
    }

    /// Creates what is missing.
    /// - Parameters:
    ///   - configuration: names brokers, credentials and topics, and shapes new ones.
    ///   - isDryRun: only asks the brokers whether they would.
    ///   - timeout: limit for each of the few requests.
    /// - Throws: ``TopicAccessError``. A topic that is refused is an outcome.
    public static func create(
        _ configuration: Configuration, isDryRun: Bool, timeout: Duration = .seconds(30)
    ) throws -> Report {
        let connection = try TopicConnection(configuration, timeout: timeout)
        let inspector = TopicInspector(configuration, connection: connection)
        let before = try inspector.observe()
        let plan = TopicPlan(configuration, observed: before)
        let errors = try connection.create(plan.topics.filter { before[$0.name] == nil }, validateOnly: isDryRun)
        let outcomes = plan.topics.map { topic in
            Outcome(topic: topic, result: result(topic, before, errors, isDryRun: isDryRun, brokers: before.brokers))
        }
        let created = Set(outcomes.filter { $0.result == .created }.map(\.topic.name))
        var after = try inspector.observe(until: { created.isSubset(of: $0.topics.keys) }, connection)
        if isDryRun { after = after.completed(by: plan, except: Set(errors.keys)) }
        // The outcome tells why a topic is missing, and the usual advice would be to do this again.
        let findings = TopicCheck(configuration, observed: after).findings().filter { finding in
            errors[finding.topic] == nil || after[finding.topic] != nil
        }
        return Report(outcomes: outcomes, findings: findings)
    }

    private static func result(
        _ topic: PlannedTopic, _ before: ObservedTopics, _ errors: [String: KafkaError], isDryRun: Bool, brokers: Int
    ) -> Result {
        if let existing = before[topic.name] { return .exists(partitions: existing.partitions) }
        switch errors[topic.name] {
        case nil: return isDryRun ? .wouldCreate : .created
        // Somebody else was faster.
        case let error? where error.code == .topicAlreadyExists: return .exists(partitions: topic.partitions)
        case let error? where error.code == .invalidReplicationFactor:
            return .failed(
                "the cluster has \(brokers) broker\(brokers == 1 ? "" : "s"), too few for "
                    + "topics.replication_factor: \(topic.replicationFactor)")
        case let error? where [.topicAuthorizationFailed, .clusterAuthorizationFailed].contains(error.code):
            return .failed("no permission to create it: grant Create on the topic (`kafka-acls --add`)")
        case let error?: return .failed(error.description)
        }
    }
}

extension TopicConnection {
    /// - Returns: the topics that were refused, with the reason.
    fileprivate func create(
        _ topics: [PlannedTopic], validateOnly: Bool
    ) throws(TopicAccessError) -> [String: KafkaError] {
        var seen: Set<String> = []
        // A name with two uses is a finding; to ask for it twice would fail the request for it alone.
        let requests = topics.filter { seen.insert($0.name).inserted }.map {
            KafkaAdmin.NewTopic(
                name: $0.name, partitions: $0.partitions, replicationFactor: $0.replicationFactor, config: $0.configs)
        }
        if requests.isEmpty { return [:] }
        let results = try request("create topics") { admin, clock throws(KafkaError) in
            try admin.createTopics(requests, validateOnly: validateOnly, timeoutMilliseconds: clock.remaining)
        }
        return results.reduce(into: [:]) { $0[$1.name] = $1.error }
    }
}

extension TopicInspector {
    /// Looks until the brokers show what is expected, or time is up: the controller knows of a new topic first, and every
    /// broker soon after.
    fileprivate func observe(
        until isComplete: (ObservedTopics) -> Bool, _ connection: TopicConnection
    ) throws -> ObservedTopics {
        let clock = RequestClock(connection.timeout)
        while true {
            let observed = try observe()
            if isComplete(observed) || clock.remaining <= 100 { return observed }
            clock.pause(milliseconds: 100)
        }
    }
}
