public import TidemarkConfiguration
internal import TidemarkKafka

/// Begins an application anew: withdraws what it has published and forgets its state and positions, so that the next `run` reads the
/// input from its beginning, under whatever settings it then has.
///
/// The order makes an interrupted reset safe: first the new epoch, after which nothing of the old one counts, then the rest. `run` refuses
/// to start in between, and another reset goes on.
public final class Reset {
    /// What a reset withdraws and forgets.
    public struct Plan: Sendable {
        /// Rows that stand in the report topic.
        public var rows = 0
        /// Opens that stand.
        public var opens = 0
        /// Records of state: positions, chunks and verdicts.
        public var checkpointRecords = 0
        /// Names of ids.
        public var names = 0
        /// The epoch that begins.
        public var nextEpoch = 0
    }

    /// Records of one transaction.
    private static let batchSize = 10_000
    private static let callTimeout: Int32 = 30_000

    /// What there is to do.
    public private(set) var plan = Plan()

    private let configuration: Configuration
    private let topics: ApplicationTopics
    private let control: RunControl
    private var groups: [String] = []
    private var tombstones: [(partition: TopicPartition, key: [UInt8])] = []

    /// Looks at what an application has, and changes nothing.
    ///
    /// - Throws: `RunFailure` where processes of the application still run, or topics are missing.
    public init(_ configuration: Configuration, control: RunControl) throws {
        self.configuration = configuration
        self.control = control
        topics = ApplicationTopics(configuration)
        let admin = try KafkaAdmin(properties: configuration.kafka)
        defer { admin.close() }
        groups = [topics.taskGroup, topics.aggregatorGroup]
        // There is one as soon as input.repartition was once set, whatever it is now.
        if try topics.isRepartitioned || admin.describeTopics([topics.byUser])[topics.byUser] != nil {
            groups.append(topics.repartitionGroup)
        }
        for group in groups {
            let members = try admin.memberCount(ofGroup: group)
            guard members == 0 else {
                throw RunFailure(
                    "application `\(configuration.applicationID)` is running (group \(group) has \(members) members): stop all of its "
                        + "processes first. A killed one leaves its group after kafka.session.timeout.ms")
            }
        }
        try survey(admin)
    }

    private func survey(_ admin: KafkaAdmin) throws {
        let names = [topics.checkpoint, topics.positions, topics.names, topics.reports, topics.opens]
        let counts = try admin.describeTopics(names)
        let reader = try PartitionReader(configuration, control: control)
        defer { reader.close() }
        plan.nextEpoch = try Epoch.read(names: topics.names, reader) + 1
        // State first: without it nothing of the rest is ever taken for current.
        plan.checkpointRecords =
            try gather(topics.checkpoint, counts, reader) + gather(topics.positions, counts, reader)
        plan.names = try gather(topics.names, counts, reader) { $0 != Epoch.key }
        plan.rows = try gather(topics.reports, counts, reader)
        plan.opens = try gather(topics.opens, counts, reader)
    }

    /// Notes the keys that stand in a topic.
    private func gather(
        _ topic: String, _ counts: [String: Int], _ reader: PartitionReader,
        where isWanted: ([UInt8]) -> Bool = { _ in true }
    ) throws -> Int {
        guard let count = counts[topic] else {
            throw RunFailure(
                "topic \(topic) does not exist: there is nothing to reset, or output settings are not those of the application"
            )
        }
        var found = 0
        for number in 0..<Int32(count) {
            let partition = TopicPartition(topic: topic, partition: number)
            var keys: Set<[UInt8]> = []
            try reader.read(partition) { record in
                let key = record.keyBytes
                if record.value == nil { keys.remove(key) } else if isWanted(key) { keys.insert(key) }
            }
            for key in keys { tombstones.append((partition, key)) }
            found += keys.count
        }
        return found
    }

    /// Does it.
    public func perform() throws {
        let properties = ClientProperties(configuration)
        let producer = try TransactionalProducer(
            properties: properties.producer(transactionalID: configuration.applicationID + "-reset"))
        defer { producer.close() }
        try producer.initTransactions(timeoutMilliseconds: Reset.callTimeout)
        try producer.begin()
        try Epoch.key.withUnsafeBytes { key in
            try Epoch.encode(plan.nextEpoch).withUnsafeBytes { value in
                try producer.produce(topic: topics.names, partition: 0, key: key, value: value)
            }
        }
        try producer.commit(timeoutMilliseconds: Reset.callTimeout)
        for start in stride(from: 0, to: tombstones.count, by: Reset.batchSize) {
            try producer.begin()
            for (partition, key) in tombstones[start..<min(start + Reset.batchSize, tombstones.count)] {
                try key.withUnsafeBytes {
                    try producer.produce(topic: partition.topic, partition: partition.partition, key: $0, value: nil)
                }
            }
            try producer.commit(timeoutMilliseconds: Reset.callTimeout)
        }
        let admin = try KafkaAdmin(properties: configuration.kafka)
        defer { admin.close() }
        try admin.deleteGroups(groups)
    }
}
