internal import CRdKafka
internal import Glibc

/// A producer whose records and consumed offsets become visible together or not at all.
///
/// The order of calls: ``initTransactions(timeoutMilliseconds:)`` once; then for each transaction ``begin()``, produce,
/// ``sendOffsets(_:metadata:timeoutMilliseconds:)``, ``commit(timeoutMilliseconds:)`` or ``abort(timeoutMilliseconds:)``.
/// It blocks, and is used by one thread at a time. ``KafkaError`` explains the classes of errors.
public final class TransactionalProducer {
    private var core: ProducerCore?

    /// Starts a producer.
    /// - Parameters:
    ///   - properties: any property of librdkafka; `transactional.id` is required.
    ///   - queueFullTimeoutMilliseconds: how long producing waits for room in the queue.
    ///   - log: gets the client's log lines, from its own threads; nil discards them.
    /// - Throws: names the property that is unknown, invalid or missing.
    public init(
        properties: [String: String], queueFullTimeoutMilliseconds: Int32 = 60_000,
        log: (@Sendable (KafkaLogLine) -> Void)? = nil
    ) throws(KafkaError) {
        if properties["transactional.id"]?.isEmpty ?? true {
            throw KafkaError(invalid: "Kafka property \"transactional.id\" is missing")
        }
        core = try ProducerCore(
            properties: properties, defaults: ["delivery.report.only.error": "true"],
            queueFullTimeoutMilliseconds: queueFullTimeoutMilliseconds, log: log)
    }

    func open() throws(KafkaError) -> ProducerCore {
        guard let core else { throw KafkaError.closed }
        return core
    }

    // MARK: Transactions

    /// Takes over the transactional id: fences its earlier owner and ends what that one left open.
    public func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError) {
        try retrying(timeoutMilliseconds, rd_kafka_init_transactions)
    }

    /// Begins a transaction; nothing is sent yet.
    public func begin() throws(KafkaError) {
        let handle = try open().handle
        handle.context.failedDeliveries = 0
        handle.context.firstDeliveryError = nil
        if let error = rd_kafka_begin_transaction(handle.pointer) { throw explained(KafkaError(taking: error)) }
    }

    /// Adds consumed offsets (the next ones to read) to the transaction.
    /// - Parameters:
    ///   - offsets: at least one: a transaction without offsets is not fenced by the group.
    ///   - metadata: the membership under which the input was consumed; an outdated one makes the call fail.
    ///   - timeoutMilliseconds: limit for all attempts together.
    public func sendOffsets(
        _ offsets: [PartitionOffset], metadata: GroupMetadata, timeoutMilliseconds: Int32
    ) throws(KafkaError) {
        // librdkafka would take an empty list for success without asking anyone.
        if offsets.isEmpty { throw KafkaError(invalid: "a transaction needs the offset of at least one partition") }
        try withPartitionList(offsets) { list throws(KafkaError) in
            try retrying(timeoutMilliseconds) { handle, remaining in
                rd_kafka_send_offsets_to_transaction(handle, list, metadata.pointer, remaining)
            }
        }
    }

    /// Delivers what is queued and commits. Fails when any record of the transaction could not be delivered; the message then
    /// names the first.
    /// - Important: after a timeout the outcome is open; calling again continues the same commit. After a delivery that a
    ///   broker refused, the first transaction behind the abort fails too (``KafkaError/Code/outOfOrderSequenceNumber``) and has to
    ///   be aborted and sent again: aborting renews the producer's epoch only then. Seen with librdkafka 2.0.2 and 2.16.
    public func commit(timeoutMilliseconds: Int32) throws(KafkaError) {
        try retrying(timeoutMilliseconds, rd_kafka_commit_transaction)
    }

    /// Drops what is queued and aborts.
    public func abort(timeoutMilliseconds: Int32) throws(KafkaError) {
        try retrying(timeoutMilliseconds, rd_kafka_abort_transaction)
    }

    /// Repeats a call while its error is retriable and time is left.
    private func retrying(
        _ timeoutMilliseconds: Int32, _ call: (OpaquePointer?, Int32) -> OpaquePointer?
    ) throws(KafkaError) {
        let handle = try open().handle
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        while let failure = call(handle.pointer, deadline.remaining) {
            let error = KafkaError(taking: failure)
            guard error.isRetriable, !deadline.hasPassed else { throw explained(error) }
            // Some errors come at once; do not spin on them.
            usleep(20_000)
        }
    }

    /// Adds what lies behind an error: the fatal error, or the first delivery that failed.
    private func explained(_ error: KafkaError) -> KafkaError {
        guard let handle = core?.handle else { return error }
        if error.code == .fatal, let fatal = handle.fatalError() { return fatal }
        var error = error
        if let delivery = handle.context.firstDeliveryError { error.message += "; \(delivery)" }
        return error
    }

    // MARK: Records

    /// Prepares a topic, so that producing to it needs no lookup.
    public func topic(_ name: String) throws(KafkaError) -> TopicHandle {
        try TopicHandle(open().handle.topic(name))
    }

    /// Queues a copy of a record in the open transaction; waits when the queue is full.
    /// - Parameters:
    ///   - topic: from ``topic(_:)`` of this producer.
    ///   - partition: -1 lets the partitioner choose.
    ///   - key: nil is no key.
    ///   - value: nil is a tombstone.
    ///   - headers: in order; names may repeat.
    ///   - timestampMilliseconds: milliseconds since 1970; 0 is now.
    /// - Throws: when the record is refused at once, or there was no room in time. A later failure makes the commit fail.
    public func produce(
        topic: TopicHandle, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader] = [], timestampMilliseconds: Int64 = 0
    ) throws(KafkaError) {
        try open().produce(
            topic: topic.pointer, partition: partition, key: key, value: value, headers: headers,
            timestampMilliseconds: timestampMilliseconds)
    }

    /// As above, with the topic by name.
    public func produce(
        topic: String, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader] = [], timestampMilliseconds: Int64 = 0
    ) throws(KafkaError) {
        try produce(
            topic: self.topic(topic), partition: partition, key: key, value: value, headers: headers,
            timestampMilliseconds: timestampMilliseconds)
    }

    /// Waits until every queued record is delivered or has failed. The commit does that too.
    public func flush(timeoutMilliseconds: Int32) throws(KafkaError) {
        try open().flush(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Serves callbacks; call it now and then when nothing else is called for long.
    public func poll(timeoutMilliseconds: Int32 = 0) {
        if let core { rd_kafka_poll(core.handle.pointer, timeoutMilliseconds) }
    }

    /// Records of the current transaction that could not be delivered so far.
    public var failedDeliveries: Int { core?.handle.context.failedDeliveries ?? 0 }

    /// What the first failed delivery of the current transaction failed of.
    public var firstDeliveryError: KafkaError? { core?.handle.context.firstDeliveryError }

    /// The error that made this producer unusable, if any.
    public var fatalError: KafkaError? { core?.handle.fatalError() }

    /// Latest error of the client as a whole, such as no broker reachable or wrong credentials.
    public var lastError: KafkaError? { core?.handle.context.lastError }

    /// Closes. An open transaction is left to the next owner of the transactional id, or to its timeout: abort it first.
    /// Harmless when repeated.
    public func close() { core = nil }
}
