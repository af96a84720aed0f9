internal import TidemarkKafka

/// Publishes batches in transactions: outputs, checkpoints, dead letters and input offsets become visible together or not at all.
///
/// An abortable error with the assignment intact: abort, then send the same batch again. A stale membership, fencing, a fatal error or an
/// unknown outcome ends in `Restart`: state is dropped and restored from what is committed.
final class Publisher {
    /// How long one call of the client may take before its outcome counts as unknown, milliseconds. Stopping takes seconds at most; the
    /// next start finds out what became of a transaction.
    private var callTimeout: Int32 { context.control.isStopping ? 2_000 : 30_000 }
    /// How often the same batch is sent again.
    private static let attempts = 20

    private let producer: any TransactionClient
    private let context: RunContext
    private var handles: [String: TopicHandle] = [:]
    private var lastTopic = ""
    private var lastHandle: TopicHandle?

    /// A publisher of its own transactional id; ends what the id's last owner left open.
    init(context: RunContext, transactionalID: String) throws {
        self.context = context
        let properties = ClientProperties(context.configuration).producer(transactionalID: transactionalID)
        producer = try context.clients.producer(properties) {
            [control = context.control, loop = context.loop] line in
            if line.level <= 3 { control.log("kafka producer: \(line.message)", level: .warning, loop: loop) }
        }
        try takeOver()
    }

    private func takeOver() throws(KafkaError) {
        var attempt = 0
        while true {
            context.beat()
            do throws(KafkaError) {
                // Short, so that stopping need not wait; the next call continues the same request.
                try producer.initTransactions(timeoutMilliseconds: 2_000)
                return
            } catch {
                guard error.isRetriable || error.code == .timedOut, !context.control.isStopping else { throw error }
                attempt += 1
                if attempt % 5 == 0 {
                    context.log("waiting for the transaction coordinator: \(error)", level: .warning)
                }
            }
        }
    }

    /// Publishes a batch.
    ///
    /// - Parameter membership: the one taken in the assign callback, never a fresher one: a worker that was removed from the group
    ///   without noticing must fail here.
    func publish(_ batch: OutboundBatch, membership: any GroupMembership) throws {
        precondition(!batch.offsets.isEmpty, "a transaction without offsets is not fenced")
        for attempt in 1...Publisher.attempts {
            do {
                return try send(batch, membership: membership)
            } catch let error as KafkaError {
                try recover(from: error, attempt: attempt)
            }
        }
        throw Restart(description: "the same transaction failed \(Publisher.attempts) times")
    }

    func close() { producer.close() }

    private func send(_ batch: OutboundBatch, membership: any GroupMembership) throws {
        // Both calls at the end may take all of their time.
        context.beat(waiting: .milliseconds(2 * Int(callTimeout)))
        try producer.begin()
        try batch.forEachWithHeaders { record, key, value, packed in
            let topic = try handle(record.topic)
            if let packed {
                try producer.produce(
                    topic: topic, partition: record.partition, key: key, value: value, packedHeaders: packed)
            } else {
                try producer.produce(
                    topic: topic, partition: record.partition, key: key, value: value, headers: record.headers)
            }
        }
        try producer.sendOffsets(batch.offsets, membership: membership, timeoutMilliseconds: callTimeout)
        try producer.commit(timeoutMilliseconds: callTimeout)
    }

    private func recover(from error: KafkaError, attempt: Int) throws {
        if error.isFatal { throw Restart(description: "the producer cannot go on: \(error)") }
        if error.code == .messageTooLarge {
            try? producer.abort(timeoutMilliseconds: callTimeout)
            throw RunFailure(
                "a record is larger than its topic takes: \(error). Raise max.message.bytes of the output and "
                    + "\(context.topics.checkpoint), \(context.topics.deltas)\(context.sources == nil ? "" : ", \(context.topics.byUser)") "
                    + "topics, or message.max.bytes under kafka:"
            )
        }
        guard error.requiresAbort || Publisher.isStale(error) else {
            throw Restart(description: "the outcome of a transaction is unknown: \(error)")
        }
        context.beat(waiting: .milliseconds(Int(callTimeout)))
        do throws(KafkaError) {
            try producer.abort(timeoutMilliseconds: callTimeout)
            context.control.update { $0.aborts += 1 }
        } catch let abortError {
            throw Restart(description: "cannot abort a transaction: \(abortError)")
        }
        if Publisher.isStale(error) { throw Restart(description: "the assignment was lost before a commit: \(error)") }
        if context.control.isStopping, attempt > 1 {
            throw Restart(description: "a commit failed while stopping: \(error)")
        }
        context.log("transaction aborted, sending it again (\(attempt)): \(error)", level: .warning)
        context.control.sleep(.milliseconds(min(attempt, 10) * 100))
    }

    /// Whether the group no longer knows the member that the offsets belong to.
    private static func isStale(_ error: KafkaError) -> Bool {
        switch error.code {
        case .illegalGeneration, .unknownMember, .fencedInstance, .assignmentLost: true
        default: false
        }
    }

    private func handle(_ topic: String) throws(KafkaError) -> TopicHandle {
        // Records of one topic mostly follow each other, and equal names share their storage: no hashing then.
        if topic == lastTopic, let lastHandle { return lastHandle }
        let handle: TopicHandle
        if let known = handles[topic] { handle = known } else { handle = try producer.topic(topic) }
        handles[topic] = handle
        (lastTopic, lastHandle) = (topic, handle)
        return handle
    }
}
