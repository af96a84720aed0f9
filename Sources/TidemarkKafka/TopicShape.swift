internal import CRdKafka

/// How a topic is laid out over the cluster.
public struct TopicShape: Sendable, Equatable {
    /// Number of partitions.
    public let partitions: Int
    /// Copies that the partition with the fewest has; nil while no partition is known yet.
    public let replicationFactor: Int?

    /// Describes a layout.
    public init(partitions: Int, replicationFactor: Int?) {
        self.partitions = partitions
        self.replicationFactor = replicationFactor
    }
}

extension KafkaAdmin {
    /// Partitions and replicas by topic; a topic that does not exist is absent.
    /// - Throws: the error of the request, or of the first topic that may not be asked about.
    public func topicShapes(
        _ names: [String], timeoutMilliseconds: Int32 = 30_000
    ) throws(KafkaError) -> [String: TopicShape] {
        let handle = try open()
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        var result: [String: TopicShape] = [:]
        for name in names {
            result[name] = try handle.shape(of: name, timeoutMilliseconds: deadline.remaining)
        }
        return result
    }
}

extension ClientHandle {
    func partitionCount(of topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> Int32? {
        try shape(of: topic, timeoutMilliseconds: timeoutMilliseconds).map { Int32($0.partitions) }
    }

    fileprivate func shape(of topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> TopicShape? {
        // Not kept: asking must not make the client follow a topic for its whole life.
        guard let object = rd_kafka_topic_new(pointer, topic, nil) else {
            throw KafkaError(code: rd_kafka_last_error()).prefixed("topic \"\(topic)\"")
        }
        defer { rd_kafka_topic_destroy(object) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        try throwing(rd_kafka_metadata(pointer, 0, object, &metadata, timeoutMilliseconds), "metadata of \"\(topic)\"")
        defer { rd_kafka_metadata_destroy(metadata) }
        guard let found = metadata, found.pointee.topic_cnt > 0, let entry = found.pointee.topics else { return nil }
        switch entry.pointee.err {
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC: return nil
        case let code: try throwing(code, "topic \"\(topic)\"")
        }
        let partitions = UnsafeBufferPointer(start: entry.pointee.partitions, count: Int(entry.pointee.partition_cnt))
        return TopicShape(
            partitions: partitions.count, replicationFactor: partitions.map { Int($0.replica_cnt) }.min())
    }
}
