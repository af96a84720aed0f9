internal import CRdKafka

/// A plain idempotent producer: each record is delivered once, in order per partition, with no transaction around.
///
/// It blocks, and is used by one thread at a time.
public final class Producer {
    private var core: ProducerCore?

    /// Starts a producer.
    /// - Parameters:
    ///   - properties: any property of librdkafka; `enable.idempotence` is on unless given.
    ///   - queueFullTimeoutMilliseconds: how long ``produce(topic:partition:key:value:headers:timestampMilliseconds:)`` waits
    ///     for room in the queue.
    ///   - log: gets the client's log lines, from its own threads; nil discards them.
    ///   - onDelivery: called with the token of each record that was produced in place, once the producer no longer reads its value,
    ///     whether it was delivered or not; runs inside calls of this object, on their thread.
    /// - Throws: names the property that is unknown or invalid.
    public init(
        properties: [String: String], queueFullTimeoutMilliseconds: Int32 = 60_000,
        log: (@Sendable (KafkaLogLine) -> Void)? = nil, onDelivery: ((Int) -> Void)? = nil
    ) throws(KafkaError) {
        if properties["transactional.id"] != nil {
            throw KafkaError(invalid: "Kafka property \"transactional.id\" is for a transactional producer")
        }
        // Unless someone wants to know, only failures are reported back: counting millions of successes would cost and tell nothing.
        core = try ProducerCore(
            properties: properties.merging(["delivery.report.only.error": onDelivery == nil ? "true" : "false"]) { $1 },
            defaults: ["enable.idempotence": "true"],
            queueFullTimeoutMilliseconds: queueFullTimeoutMilliseconds, log: log, onDelivery: onDelivery)
    }

    private func open() throws(KafkaError) -> ProducerCore {
        guard let core else { throw KafkaError.closed }
        return core
    }

    /// Prepares a topic, so that producing to it needs no lookup.
    public func topic(_ name: String) throws(KafkaError) -> TopicHandle {
        try TopicHandle(open().handle.topic(name))
    }

    /// Queues a copy of a record; waits when the queue is full.
    /// - Parameters:
    ///   - topic: from ``topic(_:)`` of this producer.
    ///   - partition: -1 lets the partitioner choose.
    ///   - key: nil is no key.
    ///   - value: nil is a tombstone.
    ///   - headers: in order; names may repeat.
    ///   - timestampMilliseconds: milliseconds since 1970; 0 is now.
    /// - Throws: when the record is refused at once, or there was no room in time. Failures after that are counted.
    public func produce(
        topic: TopicHandle, partition: Int32 = -1, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader] = [], timestampMilliseconds: Int64 = 0
    ) throws(KafkaError) {
        try open().produce(
            topic: topic.pointer, partition: partition, key: key, value: value, headers: headers,
            timestampMilliseconds: timestampMilliseconds)
    }

    /// As above, with the topic by name.
    public func produce(
        topic: String, partition: Int32 = -1, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader] = [], timestampMilliseconds: Int64 = 0
    ) throws(KafkaError) {
        try produce(
            topic: self.topic(topic), partition: partition, key: key, value: value, headers: headers,
            timestampMilliseconds: timestampMilliseconds)
    }

    /// Queues a record without copying its value, which must stay as it is until `onDelivery` is called with the token, or, where that
    /// does not happen any more, until the producer is closed; waits when the queue is full. The partitioner chooses the partition.
    /// - Parameters:
    ///   - topic: from ``topic(_:)`` of this producer.
    ///   - headers: in order; names may repeat.
    ///   - token: any number that is not negative.
    /// - Throws: as ``produce(topic:partition:key:value:headers:timestampMilliseconds:)``; there is no call with the token then.
    public func produceInPlace(
        topic: TopicHandle, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, headers: [KafkaHeader] = [],
        token: Int
    ) throws(KafkaError) {
        try open().produceInPlace(topic: topic.pointer, key: key, value: value, headers: headers, token: token)
    }

    /// Serves callbacks, so that failures are counted while nothing is produced.
    public func poll(timeoutMilliseconds: Int32 = 0) {
        if let core { rd_kafka_poll(core.handle.pointer, timeoutMilliseconds) }
    }

    /// Waits until every queued record is delivered or has failed.
    /// - Throws: `timedOut` when some are left. Failed deliveries do not throw; see ``failedDeliveries``.
    public func flush(timeoutMilliseconds: Int32) throws(KafkaError) {
        try open().flush(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Records queued or under way.
    public var outstanding: Int { core.map { Int(rd_kafka_outq_len($0.handle.pointer)) } ?? 0 }

    /// Records that could not be delivered so far.
    public var failedDeliveries: Int { core?.handle.context.failedDeliveries ?? 0 }

    /// What the first failed delivery failed of.
    public var firstDeliveryError: KafkaError? { core?.handle.context.firstDeliveryError }

    /// Latest error of the client as a whole, such as no broker reachable or wrong credentials.
    public var lastError: KafkaError? { core?.handle.context.lastError }

    /// Closes. Records not flushed are dropped. Harmless when repeated.
    public func close() { core = nil }
}
