internal import CRdKafka

/// A Kafka cluster inside this process, for demos and tests: librdkafka's mock cluster on loopback sockets.
///
/// Good for the protocol and its faults, not for guarantees. Seen in 2.0.2: topics come from
/// ``createTopic(_:partitions:)`` (no admin requests; merely asking about an absent topic creates it too), about 5 MiB are kept per partition, a fetch may take half a second to
/// answer, transactions succeed but hide nothing and apply no offsets, and there are no offsets by time.
///
/// Unchecked: the C calls lock for themselves, and nothing here changes after start.
public final class EmbeddedCluster: @unchecked Sendable {
    private let handle: ClientHandle
    private let cluster: OpaquePointer
    /// Value for `bootstrap.servers`.
    public let bootstrapServers: String

    /// Starts brokers on free ports of the loopback interface.
    public init(brokers: Int = 1) throws(KafkaError) {
        handle = try ClientHandle(type: RD_KAFKA_PRODUCER, properties: [:], log: nil)
        guard let cluster = rd_kafka_mock_cluster_new(handle.pointer, Int32(brokers)) else {
            throw KafkaError(code: RD_KAFKA_RESP_ERR__FAIL, message: "cannot start the embedded cluster")
        }
        self.cluster = cluster
        bootstrapServers = rd_kafka_mock_cluster_bootstraps(cluster).map { String(cString: $0) } ?? ""
    }

    // The cluster runs on its handle, so it goes first; the handle follows as the last stored property is released.
    deinit { rd_kafka_mock_cluster_destroy(cluster) }

    /// Creates a topic with one replica per partition.
    public func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
        try throwing(
            rd_kafka_mock_topic_create(cluster, name, Int32(partitions), 1), "embedded topic \"\(name)\"")
    }

    /// Has a broker refuse the next request to produce, as one does that does not lead the partition yet.
    func refuseNextProduce() {
        var error = RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION
        rd_kafka_mock_push_request_errors_array(cluster, EmbeddedCluster.produceRequest, 1, &error)
    }

    /// Has the first broker answer each request after some time.
    func answer(afterMilliseconds milliseconds: Int) throws(KafkaError) {
        try throwing(rd_kafka_mock_broker_set_rtt(cluster, 1, Int32(milliseconds)), "embedded cluster")
    }

    /// Has the first broker take no connections, and end those that it has; or lets it come back.
    package func setDown(_ isDown: Bool) throws(KafkaError) {
        try throwing(
            isDown ? rd_kafka_mock_broker_set_down(cluster, 1) : rd_kafka_mock_broker_set_up(cluster, 1),
            "embedded cluster")
    }

    /// The number of the request in Kafka's protocol.
    private static let produceRequest: Int16 = 0
}
