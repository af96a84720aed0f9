/// What the processor asks of a consumer, so that a simulated log can stand in for a cluster. ``KafkaConsumer`` says what each call does.
package protocol ConsumerClient: AnyObject {
    func topicHandle(_ name: String) throws(KafkaError) -> TopicHandle
    func subscribe(
        _ topics: [String],
        onAssign: @escaping ([TopicPartition]) -> [PartitionOffset]?,
        onRevoke: @escaping (_ partitions: [TopicPartition], _ isLost: Bool) -> Void
    ) throws(KafkaError)
    func assign(_ partitions: [PartitionOffset]) throws(KafkaError)
    func pause(_ partitions: [TopicPartition]) throws(KafkaError)
    func resume(_ partitions: [TopicPartition]) throws(KafkaError)
    func poll(
        max: Int, timeoutMilliseconds: Int32, _ body: (ConsumedItem) throws -> Void
    ) rethrows -> Int
    func membership() -> (any GroupMembership)?
    func committed(
        _ partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicPartition: Int64]
    func watermarks(
        of partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicPartition: (low: Int64, high: Int64)]
    func cachedWatermarks(of partition: TopicPartition) -> (low: Int64, high: Int64)?
    func partitionCount(of topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> Int32?
    func positions(_ partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64]
    func close(timeoutMilliseconds: Int32)
}

extension ConsumerClient {
    /// First and next offset of one partition.
    package func watermarks(
        of partition: TopicPartition, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> (low: Int64, high: Int64) {
        let found = try watermarks(of: [partition], timeoutMilliseconds: timeoutMilliseconds)
        guard let marks = found[partition] else { throw KafkaError(code: .unknownPartition) }
        return marks
    }
}

/// What the processor asks of a transactional producer. ``TransactionalProducer`` says what each call does.
package protocol TransactionClient: AnyObject {
    func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError)
    func begin() throws(KafkaError)
    func sendOffsets(
        _ offsets: [PartitionOffset], membership: any GroupMembership, timeoutMilliseconds: Int32
    ) throws(KafkaError)
    func commit(timeoutMilliseconds: Int32) throws(KafkaError)
    func abort(timeoutMilliseconds: Int32) throws(KafkaError)
    func topic(_ name: String) throws(KafkaError) -> TopicHandle
    func produce(
        topic: TopicHandle, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader]
    ) throws(KafkaError)
    func produce(
        topic: TopicHandle, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        packedHeaders: UnsafeRawBufferPointer
    ) throws(KafkaError)
    func close()
}

extension TransactionClient {
    /// Queues a record whose headers are in the form of ``HeaderBytes``.
    package func produce(
        topic: TopicHandle, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        packedHeaders: UnsafeRawBufferPointer
    ) throws(KafkaError) {
        try produce(
            topic: topic, partition: partition, key: key, value: value,
            headers: HeaderBytes.headers(in: packedHeaders))
    }
}

/// Identity of a consumer as a member of one generation of its group; see ``GroupMetadata``.
package protocol GroupMembership: AnyObject {}

/// Makes the clients of one cluster.
package protocol ClientFactory: Sendable {
    /// A consumer with these properties of librdkafka.
    func consumer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any ConsumerClient

    /// A transactional producer with these properties of librdkafka.
    func producer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any TransactionClient
}

/// Clients of real clusters.
package struct KafkaClients: ClientFactory {
    package init() {}

    package func consumer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any ConsumerClient {
        try KafkaConsumer(properties: properties, log: log)
    }

    package func producer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any TransactionClient {
        try TransactionalProducer(properties: properties, log: log)
    }
}

extension KafkaConsumer: ConsumerClient {
    package func membership() -> (any GroupMembership)? { groupMetadata() }
}

extension GroupMetadata: GroupMembership {}

extension TransactionalProducer: TransactionClient {
    package func sendOffsets(
        _ offsets: [PartitionOffset], membership: any GroupMembership, timeoutMilliseconds: Int32
    ) throws(KafkaError) {
        guard let metadata = membership as? GroupMetadata else {
            throw KafkaError(invalid: "the membership is of another kind of client")
        }
        try sendOffsets(offsets, metadata: metadata, timeoutMilliseconds: timeoutMilliseconds)
    }

    package func produce(
        topic: TopicHandle, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader]
    ) throws(KafkaError) {
        try produce(
            topic: topic, partition: partition, key: key, value: value, headers: headers, timestampMilliseconds: 0)
    }

    package func produce(
        topic: TopicHandle, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        packedHeaders: UnsafeRawBufferPointer
    ) throws(KafkaError) {
        try open().produce(
            topic: topic.pointer, partition: partition, key: key, value: value, packedHeaders: packedHeaders)
    }
}
