internal import TidemarkAttribution
public import TidemarkConfiguration

/// Compares the topics that exist with those that the application needs.
///
/// Pure: everything it knows of the brokers is in ``ObservedTopics``.
public struct TopicCheck: Sendable {
    private let configuration: Configuration
    private let observed: ObservedTopics
    private let plan: TopicPlan
    private let commands: KafkaCommands

    /// Prepares a comparison.
    /// - Parameters:
    ///   - configuration: names the topics and the rules.
    ///   - observed: what the brokers have.
    public init(_ configuration: Configuration, observed: ObservedTopics) {
        self.configuration = configuration
        self.observed = observed
        plan = TopicPlan(configuration, observed: observed)
        commands = KafkaCommands(servers: configuration.bootstrapServers)
    }

    /// Everything that does not fit, refusals first, each group in the order of the plan; empty when all is well.
    public func findings() -> [TopicFinding] {
        var found: [TopicFinding] = []
        let uses = Dictionary(grouping: plan.topics, by: \.name)
        for topic in plan.topics {
            if let shared = uses[topic.name], shared.count > 1 {
                // What suits one use is wrong for the other, so nothing else can be said of it.
                if topic == shared[0] { found.append(sharing(shared)) }
            } else if let existing = observed[topic.name] {
                found += partitions(topic, existing) + cleanup(topic, existing) + settings(topic, existing)
                found += replicas(topic, existing)
            } else {
                found.append(missing(topic))
            }
        }
        return found.filter { $0.severity == .refuse } + found.filter { $0.severity == .warn }
    }

    private func missing(_ topic: PlannedTopic) -> TopicFinding {
        TopicFinding(
            // `run` has no use for it; applications of earlier versions do not have it.
            topic.role == .redriven ? .warn : .refuse, topic: topic.name, problem: "does not exist",
            wanted: "a topic for \(topic.role.rawValue) with \(counted(topic.partitions, "partition"))",
            advice: "`tidemark topics create`")
    }

    private func sharing(_ uses: [PlannedTopic]) -> TopicFinding {
        TopicFinding(
            .refuse, topic: uses[0].name,
            problem: "is named for \(uses.map(\.role.rawValue).joined(separator: " and "))",
            wanted: "a topic for each use",
            advice: "change application_id, input.topics or the names under output; internal topics are called "
                + "APPLICATION_ID-deltas, -names, -checkpoint, -positions, -redriven and -by-user")
    }

    private func settings(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        switch topic.role {
        case .input: inputRetention(topic, existing) + inputTime(topic, existing)
        case .byUser: byUserRetention(topic, existing) + byUserSize(topic, existing)
        case .deltas: deltaRetention(topic, existing)
        case .deadLetters: deadLetterSize(topic, existing)
        case .reports, .opens, .names, .checkpoint, .positions: segmentSize(topic, existing)
        case .redriven: []
        }
    }
}

// MARK: Partitions and replicas

extension TopicCheck {
    private func partitions(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        guard existing.partitions != topic.partitions else { return [] }
        let has = "has \(counted(existing.partitions, "partition"))"
        let problem: String
        switch topic.role {
        case .input: return [inputPartitions(topic, existing)]
        // Neither has to match anything: the processor never reads them.
        case .opens, .deadLetters: return []
        case .byUser: return []
        case .checkpoint: return [checkpointPartitions(topic, has)]
        case .deltas, .reports, .positions:
            problem =
                "\(has), `\(ApplicationTopics(configuration).reports)` \(topic.partitions): one aggregator owns the "
                + "same partition of both"
        case .names: problem = "\(has): every aggregator reads the one that holds all names"
        case .redriven: problem = "\(has): `tidemark dlq` reads the one that holds all marks"
        }
        return [
            TopicFinding(
                .refuse, topic: topic.name, problem: problem, wanted: counted(topic.partitions, "partition"),
                advice: "before the first run: \(commands.delete(topic.name)), then `tidemark topics create`; later: "
                    + "start over with a new application_id and new output topics")
        ]
    }

    private func checkpointPartitions(_ topic: PlannedTopic, _ has: String) -> TopicFinding {
        let isRepartitioned = configuration.input.repartition
        let measure = isRepartitioned ? "`\(ApplicationTopics(configuration).byUser)`" : "the input"
        let growth = PartitionAdvice.forMorePartitions(ApplicationTopics(configuration))
        return TopicFinding(
            .refuse, topic: topic.name,
            problem: "\(has), \(measure) \(topic.partitions): each of those partitions keeps its position there",
            wanted: counted(topic.partitions, "partition"),
            advice:
                "before the first run: \(commands.delete(topic.name)), then `tidemark topics create`; later: \(growth)")
    }

    private func inputPartitions(_ topic: PlannedTopic, _ existing: ObservedTopic) -> TopicFinding {
        TopicFinding(
            .refuse, topic: topic.name,
            problem: "has \(counted(existing.partitions, "partition")), another input topic \(topic.partitions): all "
                + "events of a user must be in the same partition of every input topic",
            wanted: counted(topic.partitions, "partition"),
            advice: "while it is empty: \(commands.grow(topic.name, to: topic.partitions)); later its users would move "
                + "between partitions: copy it to a new topic instead, keyed by user_id, or set `input.repartition: true`"
        )
    }

    private func replicas(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        guard let replicas = existing.replicationFactor else { return [] }
        if let needed = existing.number("min.insync.replicas"), replicas < needed {
            return [
                TopicFinding(
                    .warn, topic: topic.name,
                    problem: "has replication factor \(replicas), less than min.insync.replicas=\(needed): brokers may "
                        + "refuse every write that all in-sync replicas have to confirm",
                    wanted: "replication factor \(needed) or more",
                    advice: "add replicas with kafka-reassign-partitions, or "
                        + commands.set(topic.name, ["min.insync.replicas=\(replicas)"]))
            ]
        }
        guard replicas == 1, observed.brokers > 1 else { return [] }
        return [
            TopicFinding(
                .warn, topic: topic.name,
                problem: "has replication factor 1 in a cluster of \(observed.brokers) brokers: a broker that is lost "
                    + "takes its partitions along",
                wanted: "replication factor \(min(3, observed.brokers))",
                advice: "add replicas with kafka-reassign-partitions; set topics.replication_factor for new topics")
        ]
    }
}

// MARK: Cleanup

extension TopicCheck {
    private func cleanup(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        let policy = existing.cleanupPolicy
        let problem: String
        switch topic.role {
        case .reports, .opens, .names, .checkpoint, .positions, .redriven:
            if policy == ["compact"] { return [] }
            problem =
                policy.contains("delete")
                ? "records vanish once they are old or many, though nothing has replaced them"
                : "records that were replaced long ago are never removed"
        case .input:
            guard policy.contains("compact") else { return [] }
            problem = "all events but the latest of each key would vanish"
        case .byUser:
            guard policy.contains("compact") else { return [] }
            problem = "all events of a user but the latest would vanish before they are counted"
        case .deltas:
            guard policy.contains("compact") else { return [] }
            problem = "all row changes but the latest of each key would vanish before they are added up"
        case .deadLetters:
            guard policy.contains("compact") else { return [] }
            problem = "all dead letters but the latest of each key would vanish"
        }
        let wanted = topic.role.isCompacted ? "cleanup.policy=compact" : "cleanup.policy=delete"
        return [
            TopicFinding(
                .refuse, topic: topic.name,
                problem: "has cleanup.policy=\(policy.sorted().joined(separator: ",")): \(problem)", wanted: wanted,
                advice: commands.set(topic.name, [wanted]))
        ]
    }

    private func inputRetention(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        let limits = retentionLimits(existing).filter {
            $0.setting != "retention.ms" || $0.value < TopicPlan.inputRetention
        }
        guard !limits.isEmpty else { return [] }
        return [
            TopicFinding(
                .warn, topic: topic.name,
                problem: "has \(limits.map(\.text).joined(separator: " and ")): "
                    + (configuration.input.repartition
                        ? "events that are not read by then are lost to the reports"
                        : "a restart reads again what came since the oldest piece of its checkpoint, and cannot go on once "
                            + "such an event is deleted"),
                wanted: "retention of \(timeText(TopicPlan.inputRetention)) or more, without a limit of size",
                advice: commands.set(topic.name, limits.map { "\($0.setting)=-1" }))
        ]
    }

    private func byUserRetention(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        let limits = retentionLimits(existing).filter {
            $0.setting != "retention.ms" || $0.value < TopicPlan.inputRetention
        }
        guard !limits.isEmpty else { return [] }
        return [
            TopicFinding(
                .warn, topic: topic.name,
                problem:
                    "has \(limits.map(\.text).joined(separator: " and ")): a restart reads again what came since the oldest "
                    + "piece of its checkpoint, and cannot go on once such an event is deleted",
                wanted: "retention of \(timeText(TopicPlan.inputRetention)) or more, without a limit of size",
                advice: commands.set(topic.name, limits.map { "\($0.setting)=\(topic.configs[$0.setting] ?? "-1")" }))
        ]
    }

    private func deltaRetention(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        let limits = retentionLimits(existing).filter {
            $0.setting != "retention.ms" || $0.value < TopicPlan.deltaRetention
        }
        guard !limits.isEmpty else { return [] }
        return [
            TopicFinding(
                .warn, topic: topic.name,
                problem:
                    "has \(limits.map(\.text).joined(separator: " and ")): row changes that the aggregators have not "
                    + "read by then are lost to the reports",
                wanted: "retention of \(timeText(TopicPlan.deltaRetention)) or more, without a limit of size",
                advice: commands.set(topic.name, limits.map { "\($0.setting)=\(topic.configs[$0.setting] ?? "-1")" }))
        ]
    }

    /// The limits past which old records are deleted.
    private func retentionLimits(_ existing: ObservedTopic) -> [(setting: String, value: Int, text: String)] {
        guard existing.cleanupPolicy.contains("delete") else { return [] }
        return ["retention.ms", "retention.bytes"].compactMap { setting in
            existing.bound(setting).map { value in
                let more = setting == "retention.ms" ? " (\(timeText(value)))" : ""
                return (setting, value, "\(setting)=\(value)\(more)")
            }
        }
    }
}

// MARK: Times and sizes

extension TopicCheck {
    /// Event times are held against the time of the record, so a record that brings any time it likes defeats the guard
    /// against future-dated events, and one of them moves the watermark for all.
    private func inputTime(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        guard let tolerance = configuration.attribution.futureTolerance else { return [] }
        guard let bound = existing.aheadOfClock else {
            return [
                TopicFinding(
                    .refuse, topic: topic.name,
                    problem:
                        "takes records dated any time ahead of the broker's clock: one of them, dated years ahead, "
                        + "would make every later event late",
                    wanted: "message.timestamp.type=LogAppendTime, or a bound on how far ahead a record may be dated",
                    advice: timeAdvice(topic, existing))
            ]
        }
        guard bound > 0, let lateness = configuration.attribution.allowedLateness else { return [] }
        let (ahead, overflows) = bound.addingReportingOverflow(Int(tolerance) * 1000)
        guard overflows || ahead > Int(lateness) * 1000 else { return [] }
        return [
            TopicFinding(
                .warn, topic: topic.name,
                problem: "takes records dated up to \(timeText(bound)) ahead of the broker's clock; with "
                    + "attribution.future_tolerance that is more than attribution.allowed_lateness, so that one of them "
                    + "makes punctual events late",
                wanted: "message.timestamp.type=LogAppendTime, or a bound of an hour or so",
                advice: timeAdvice(topic, existing))
        ]
    }

    private func timeAdvice(_ topic: PlannedTopic, _ existing: ObservedTopic) -> String {
        let isSeparate = existing.configs["message.timestamp.after.max.ms"] != nil
        let setting = isSeparate ? "message.timestamp.after.max.ms" : "message.timestamp.difference.max.ms"
        return commands.set(topic.name, ["message.timestamp.type=LogAppendTime"])
            + ", or to keep the producers' times " + commands.set(topic.name, ["\(setting)=3600000"])
    }

    private func deadLetterSize(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        let inputs = ApplicationTopics(configuration).inputs.compactMap { observed[$0]?.maxMessageBytes }
        guard let largest = inputs.max() else { return [] }
        let needed = TopicPlan.deadLetterBytes(forInputBytes: largest)
        guard existing.maxMessageBytes < needed else { return [] }
        return [
            TopicFinding(
                .refuse, topic: topic.name,
                problem:
                    "has max.message.bytes=\(existing.maxMessageBytes), the input \(largest): a large record could "
                    + "not become a dead letter",
                wanted: "max.message.bytes=\(needed) or more: the input's and 64 KiB",
                advice: commands.set(topic.name, ["max.message.bytes=\(needed)"]))
        ]
    }

    private func byUserSize(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        let needed = TopicPlan.byUserBytes(configuration)
        guard existing.maxMessageBytes < needed else { return [] }
        return [
            TopicFinding(
                .refuse, topic: topic.name,
                problem:
                    "has max.message.bytes=\(existing.maxMessageBytes): an event as large as limits.record_bytes lets in could "
                    + "not be written to it, and nothing behind it would be read",
                wanted: "max.message.bytes=\(needed) or more",
                advice: commands.set(topic.name, ["max.message.bytes=\(needed)"]))
        ]
    }

    private func segmentSize(_ topic: PlannedTopic, _ existing: ObservedTopic) -> [TopicFinding] {
        guard topic.role.isReadAtStart, let size = existing.number("segment.bytes"),
            size > TopicPlan.maximumSegmentBytes, let wanted = topic.configs["segment.bytes"]
        else { return [] }
        return [
            TopicFinding(
                .warn, topic: topic.name,
                problem: "has segment.bytes=\(size): each start reads the newest segment, which is never compacted",
                wanted: "segment.bytes from \(wanted) to \(TopicPlan.maximumSegmentBytes)",
                advice: commands.set(topic.name, ["segment.bytes=\(wanted)"]))
        ]
    }
}

/// Commands of Kafka's own tools, to be copied.
private struct KafkaCommands {
    let servers: String

    func set(_ topic: String, _ settings: [String]) -> String {
        "`kafka-configs --bootstrap-server \(servers) --alter --entity-type topics --entity-name \(topic) "
            + "--add-config \(settings.joined(separator: ","))`"
    }

    func grow(_ topic: String, to partitions: Int) -> String {
        "`kafka-topics --bootstrap-server \(servers) --alter --topic \(topic) --partitions \(partitions)`"
    }

    func delete(_ topic: String) -> String {
        "`kafka-topics --bootstrap-server \(servers) --delete --topic \(topic)`"
    }
}

private func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

/// A time in the largest unit that holds it without a rest.
private func timeText(_ milliseconds: Int) -> String {
    for (size, unit) in [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")]
    where milliseconds % size == 0 && milliseconds > 0 {
        return counted(milliseconds / size, unit)
    }
    return "\(milliseconds) ms"
}
