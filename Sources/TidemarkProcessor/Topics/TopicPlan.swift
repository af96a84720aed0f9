public import TidemarkConfiguration

/// What a topic is for.
public enum TopicRole: String, CaseIterable, Sendable {
    /// Events come from it.
    case input
    /// Events on their way to the tasks, brought together by user.
    case byUser = "by user"
    /// Full rows.
    case reports
    /// Opens that stand now.
    case opens
    /// Records that could not be counted.
    case deadLetters = "dead letters"
    /// Changes of rows, from tasks to aggregators.
    case deltas
    /// Names of ids, from tasks to aggregators.
    case names
    /// Positions, states and verdicts of tasks.
    case checkpoint
    /// Positions of all others.
    case positions
    /// Which dead letters were fed again.
    case redriven

    /// Whether only the latest record of a key counts, so that older ones are compacted away.
    public var isCompacted: Bool {
        switch self {
        case .reports, .opens, .names, .checkpoint, .positions, .redriven: true
        case .input, .byUser, .deadLetters, .deltas: false
        }
    }

    /// Whether a start reads the whole topic, so that what compaction has left undone costs time.
    var isReadAtStart: Bool { isCompacted && self != .opens && self != .redriven }
}

/// A topic as it should be.
public struct PlannedTopic: Sendable, Equatable {
    /// Name of the topic.
    public let name: String
    /// What it is for.
    public let role: TopicRole
    /// Number of partitions.
    public let partitions: Int
    /// Copies of each partition.
    public let replicationFactor: Int
    /// Settings to create it with, `cleanup.policy` among them.
    public let configs: [String: String]
}

/// The topics of an application as they should be.
///
/// What exists already gives the measure for what has to match it: the checkpoint follows the partitions of the input
/// topics and not `topics.partitions`, the deltas follow the reports, the dead-letter topic takes whatever the input
/// takes.
public struct TopicPlan: Sendable, Equatable {
    /// The topics, in the order in which records flow through them.
    public let topics: [PlannedTopic]

    /// Plans the topics of an application.
    /// - Parameters:
    ///   - configuration: names, partitions and replicas.
    ///   - observed: what exists already.
    public init(_ configuration: Configuration, observed: ObservedTopics = ObservedTopics()) {
        let names = ApplicationTopics(configuration)
        let inputs = names.inputs.compactMap { observed[$0] }
        // Partitions can be added and never taken away: of several counts the largest is the one to reach.
        let inputPartitions = inputs.map(\.partitions).max() ?? configuration.topics.partitions
        let taskPartitions =
            names.isRepartitioned
            ? Self.byUserPartitions(configuration, observed, inputPartitions: inputPartitions) : inputPartitions
        let reportPartitions =
            (observed[names.reports] ?? observed[names.deltas])?.partitions ?? configuration.topics.reportPartitions
        let inputBytes = max(configuration.limits.recordBytes, Self.defaultMaxMessageBytes)
        // A missing input will be created with `inputBytes`, whatever the existing ones take.
        let isInputMissing = inputs.count < names.inputs.count
        let largest = (inputs.map(\.maxMessageBytes) + (isInputMissing ? [inputBytes] : [])).max() ?? inputBytes

        func topic(_ name: String, _ role: TopicRole, _ partitions: Int, _ configs: [String: String]) -> PlannedTopic {
            PlannedTopic(
                name: name, role: role, partitions: partitions,
                replicationFactor: configuration.topics.replicationFactor,
                configs: configs.merging(Self.brokerTime) { own, _ in own })
        }
        var topics = names.inputs.map { name in
            // Topics whose events are brought together by user need not be alike.
            let own = names.isRepartitioned ? observed[name]?.partitions ?? configuration.topics.partitions : nil
            return topic(name, .input, own ?? inputPartitions, Self.input(maxMessageBytes: inputBytes))
        }
        if names.isRepartitioned {
            let limit = Self.byUserBytes(configuration)
            topics.append(topic(names.byUser, .byUser, taskPartitions, Self.byUser(maxMessageBytes: limit)))
        }
        self.topics =
            topics + [
                topic(names.checkpoint, .checkpoint, taskPartitions, Self.compacted(.checkpoint)),
                topic(names.deltas, .deltas, reportPartitions, Self.deltas),
                topic(names.names, .names, 1, Self.compacted(.names)),
                topic(names.positions, .positions, reportPartitions, Self.compacted(.positions)),
                topic(names.reports, .reports, reportPartitions, Self.compacted(.reports)),
                topic(names.opens, .opens, taskPartitions, Self.compacted(.opens)),
                topic(names.deadLetters, .deadLetters, taskPartitions, Self.deadLetters(forInputBytes: largest)),
                topic(names.redriven, .redriven, 1, Self.compacted(.redriven)),
            ]
    }

    /// The planned topics of one role.
    public func topics(_ role: TopicRole) -> [PlannedTopic] { topics.filter { $0.role == role } }
}

// What the settings are, and why.
extension TopicPlan {
    /// `max.message.bytes` of a topic for which nobody has set it.
    package static let defaultMaxMessageBytes = 1_048_588
    /// How much larger than an input record its dead letter may be: the record goes in whole, with headers that tell the
    /// reason and the place it came from.
    static let deadLetterExtraBytes = 64 << 10
    /// Larger segments leave more superseded records for a start to read: the newest segment is never compacted.
    static let maximumSegmentBytes = 128 << 20
    /// How long row changes are kept: all aggregators must have read them by then. That takes a second while they run; a
    /// week leaves time to notice and mend an outage.
    static let deltaRetention = milliseconds(days: 7)
    /// How long events should be kept at least: a restart reads those of the last hours again, after an outage of days.
    static let inputRetention = milliseconds(days: 3)
    /// How long events by user are kept: tasks must have counted them by then, and a restart reads those of the last hours again.
    static let byUserRetention = milliseconds(days: 7)
    /// How long dead letters can be looked at and redriven.
    static let deadLetterRetention = milliseconds(days: 30)

    /// Brokers stamp the records, so that a wrong clock elsewhere moves neither retention, nor compaction, nor the
    /// judgement of what is future-dated.
    private static let brokerTime = ["message.timestamp.type": "LogAppendTime"]

    /// Events are kept for good where it is up to us: a restart needs those of the last hours, a replay as many as there are.
    private static func input(maxMessageBytes: Int) -> [String: String] {
        [
            "cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1",
            "max.message.bytes": "\(maxMessageBytes)",
        ]
    }

    /// Events by user can be made again from the input only by beginning anew, and are of no use once they are in a checkpoint.
    private static func byUser(maxMessageBytes: Int) -> [String: String] {
        [
            "cleanup.policy": "delete", "retention.ms": "\(byUserRetention)", "retention.bytes": "-1",
            "max.message.bytes": "\(maxMessageBytes)",
        ]
    }

    /// What the topic of the events by user must take: an event of a batch is smaller than its record, but what arrived well compressed may
    /// not be when it goes on.
    static func byUserBytes(_ configuration: Configuration) -> Int {
        deadLetterBytes(forInputBytes: max(configuration.limits.recordBytes, defaultMaxMessageBytes))
    }

    private static func byUserPartitions(
        _ configuration: Configuration, _ observed: ObservedTopics, inputPartitions: Int
    ) -> Int {
        let names = ApplicationTopics(configuration)
        // The checkpoint of an application that had keyed input so far is there before.
        if let existing = (observed[names.byUser] ?? observed[names.checkpoint])?.partitions { return existing }
        return configuration.isSet("topics.partitions") ? configuration.topics.partitions : inputPartitions
    }

    /// Row changes are sums to be added once each, so compaction would lose all but the last change of a key.
    private static let deltas = [
        "cleanup.policy": "delete", "retention.ms": "\(deltaRetention)", "retention.bytes": "-1",
        "segment.bytes": "\(64 << 20)",
    ]

    private static func deadLetters(forInputBytes inputBytes: Int) -> [String: String] {
        [
            "cleanup.policy": "delete", "retention.ms": "\(deadLetterRetention)", "retention.bytes": "-1",
            "max.message.bytes": "\(deadLetterBytes(forInputBytes: inputBytes))",
        ]
    }

    /// What the dead-letter topic must take when the input takes that much; Kafka knows no more than 32 bits.
    static func deadLetterBytes(forInputBytes inputBytes: Int) -> Int {
        min(inputBytes + deadLetterExtraBytes, Int(Int32.max))
    }

    /// Settings of a compacted topic.
    ///
    /// Compaction rewrites a partition whole. What a start reads is compacted early, at 20 % of superseded records and
    /// after hours, so that it finds little more than the state. The opens are read by others only, grow with history and
    /// are mostly written once, as are marks of redriven dead letters: they are compacted at leisure. A reader that is less than a minute behind sees every
    /// record, and one that takes less than a day for the topic sees every tombstone.
    private static func compacted(_ role: TopicRole) -> [String: String] {
        let hours =
            switch role {
            case .checkpoint, .positions: 1
            case .opens, .redriven: 7 * 24
            default: 6
            }
        return [
            "cleanup.policy": "compact",
            // Positions are a few keys, each written with every commit: all but the newest segment of them vanishes.
            "segment.bytes": "\((role == .positions ? 4 : 64) << 20)",
            "min.cleanable.dirty.ratio": role.isReadAtStart ? "0.2" : "0.5",
            "min.compaction.lag.ms": "60000",
            "max.compaction.lag.ms": "\(hours * 3_600_000)",
            "delete.retention.ms": "\(milliseconds(days: 1))",
        ]
    }

    private static func milliseconds(days: Int) -> Int { days * 86_400_000 }
}
