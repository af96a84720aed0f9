internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// The input topics as targets of what is fed again: which partition a record belongs to, and which time it may carry.
struct RedriveTargets {
    /// An input topic.
    struct Target {
        var partitions: Int
        /// Whether brokers replace the time of a record.
        var hasBrokerTime: Bool
        /// How old a record's time may be, milliseconds; `nil` is no bound.
        var oldest: Int64?
    }

    private let targets: [String: Target]
    private let isRepartitioned: Bool

    init(_ targets: [String: Target], isRepartitioned: Bool = false) {
        self.targets = targets
        self.isRepartitioned = isRepartitioned
    }

    /// Asks the brokers.
    init(_ configuration: Configuration) throws {
        let names = configuration.input.topics
        isRepartitioned = configuration.input.repartition
        let admin = try KafkaAdmin(properties: configuration.kafka)
        defer { admin.close() }
        let counts = try admin.describeTopics(names)
        let configs = try admin.topicConfigs(names.filter { counts[$0] != nil })
        targets = counts.reduce(into: [:]) { targets, entry in
            let settings = ObservedTopic(partitions: entry.value, configs: configs[entry.key] ?? [:])
            let bounds = ["message.timestamp.before.max.ms", "message.timestamp.difference.max.ms"]
            targets[entry.key] = Target(
                partitions: entry.value, hasBrokerTime: settings.configs["message.timestamp.type"] == "LogAppendTime",
                oldest: bounds.compactMap { settings.bound($0) }.min().map(Int64.init))
        }
    }

    /// The topic of that name, if it is an input that exists.
    subscript(topic: String) -> Target? { targets[topic] }

    /// The time that a record is sent with, milliseconds since the epoch; 0 leaves it to the brokers or the client.
    func sentTime(of record: RedriveRecord, now: Int64) -> Int64 {
        guard let target = targets[record.origin.topic], !target.hasBrokerTime, record.keepsTime,
            record.origin.timestamp > 0
        else { return 0 }
        // A broker would refuse it; now is what it has for records without a time.
        if let oldest = target.oldest, record.origin.timestamp < now - oldest { return 0 }
        return record.origin.timestamp
    }

    /// The partition of a record that is as it came: where it was, or, if it never was in its topic, where its key belongs. -1, any, without
    /// a key or where the topic has fewer partitions by now.
    func partition(ofUnchanged record: RedriveRecord) -> Int32 {
        guard let target = targets[record.origin.topic], record.origin.partition < target.partitions else { return -1 }
        if record.origin.partition < 0, let (murmur2, _) = candidates(record) { return murmur2 }
        return record.origin.partition
    }

    /// The partitions of records whose keys may have been repaired: where the producers of their topic put their keys.
    ///
    /// Which partitioner those have shows in the keys that were not touched; where none does, it is murmur2. Where events are brought
    /// together by user, any partition will do, and a record goes where it came from.
    func placement(of records: [RedriveRecord]) -> (RedriveRecord) -> Int32 {
        var votes: [String: Int] = [:]
        for record in records {
            guard let (murmur2, crc32) = candidates(record), murmur2 != crc32 else { continue }
            if murmur2 == record.origin.partition { votes[record.origin.topic, default: 0] += 1 }
            if crc32 == record.origin.partition { votes[record.origin.topic, default: 0] -= 1 }
        }
        return { record in
            guard let (murmur2, crc32) = candidates(record) else { return partition(ofUnchanged: record) }
            if isRepartitioned { return partition(ofUnchanged: record) }
            return votes[record.origin.topic] ?? 0 < 0 ? crc32 : murmur2
        }
    }

    /// Where each partitioner puts a record; `nil` without a key.
    private func candidates(_ record: RedriveRecord) -> (murmur2: Int32, crc32: Int32)? {
        guard let target = targets[record.origin.topic], let key = record.key else { return nil }
        return key.withUnsafeBytes { key in
            (
                Murmur2.partition(of: key, count: target.partitions),
                ConsistentCRC32.partition(of: key, count: target.partitions)
            )
        }
    }
}
