internal import TidemarkConfiguration
internal import TidemarkKafka
internal import TidemarkProcessor

/// The compacted topic that knows which files were brought in.
struct LedgerTopic {
    let name: String
    private let configuration: Configuration

    init(_ configuration: Configuration) {
        self.configuration = configuration
        name = configuration.applicationID + "-ingested"
    }

    /// What a start may wait for brokers, milliseconds.
    private static let timeout: Int32 = 30_000

    /// Creates the topic unless it is there.
    func create() throws {
        let connection = try TopicConnection(configuration, timeout: .milliseconds(Int(LedgerTopic.timeout)))
        let topic = KafkaAdmin.NewTopic(
            name: name, partitions: 1, replicationFactor: configuration.topics.replicationFactor,
            config: [
                "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.2", "segment.bytes": "\(64 << 20)",
                "message.timestamp.type": "LogAppendTime",
            ])
        let results = try connection.request("create the topic \(name)") { admin, clock throws(KafkaError) in
            try admin.createTopics([topic], timeoutMilliseconds: clock.remaining)
        }
        for result in results {
            guard let error = result.error, error.code != .topicAlreadyExists else { continue }
            throw IngestFailure("cannot create the topic \(name), which knows the files that were brought in: \(error)")
        }
    }

    /// All committed entries, by the name of the file; none where there is no topic yet.
    func read() throws -> [String: LedgerEntry] {
        var properties = ClientProperties(configuration).reader(name: name + "-reader")
        properties["allow.auto.create.topics"] = "false"
        let consumer = try KafkaConsumer(properties: properties)
        defer { consumer.close() }
        guard try consumer.partitionCount(of: name, timeoutMilliseconds: LedgerTopic.timeout) != nil else { return [:] }
        let partition = TopicPartition(topic: name, partition: 0)
        let found = try consumer.watermarks(of: [partition], timeoutMilliseconds: LedgerTopic.timeout)
        guard let bounds = found[partition], bounds.high > bounds.low else { return [:] }
        try consumer.assign([PartitionOffset(partition, offset: bounds.low)])
        var entries: [String: LedgerEntry] = [:]
        var next = bounds.low
        var failure: KafkaError?
        while next < bounds.high {
            _ = consumer.poll(max: 10_000, timeoutMilliseconds: 200) { item in
                switch item {
                case .record(let record):
                    next = max(next, record.offset + 1)
                    guard let key = record.key else { return }
                    let name = String(decoding: key, as: UTF8.self)
                    entries[name] = record.value.flatMap { LedgerEntry($0) }
                case .endOfPartition(_, _, let offset): next = max(next, offset)
                case .failure(let error, _, _): failure = error.isFatal || error.isLasting ? error : nil
                }
            }
            if let failure { throw failure }
        }
        return entries
    }
}
