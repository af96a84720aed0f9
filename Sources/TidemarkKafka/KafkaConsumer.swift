internal import CRdKafka
internal import Glibc

/// A consumer, as member of a group (``subscribe(_:onAssign:onRevoke:)``) or by itself (``assign(_:)``).
///
/// It blocks, and is used by one thread at a time. Offsets are never committed by the consumer: they travel in the
/// transactions of a ``TransactionalProducer``.
public final class KafkaConsumer {
    private var handle: ClientHandle?

    private static let defaults = [
        "auto.offset.reset": "error",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "enable.partition.eof": "true",
        "isolation.level": "read_committed",
        "partition.assignment.strategy": "range",
        // librdkafka wants a group even from a consumer that never joins one.
        "group.id": "tidemark-reader",
    ]

    private var lastLook = ContinuousClock.now
    private var waker: FetchWaker?

    /// Starts a consumer. No broker needs to be reachable for that.
    /// - Parameters:
    ///   - properties: any property of librdkafka. Defaults: no automatic commits, events at the end of partitions,
    ///     `auto.offset.reset=error`, `isolation.level=read_committed`, the `range` assignor. Give a `group.id` that the
    ///     user may access even for reading without a group: librdkafka looks up its coordinator in any case.
    ///   - log: gets the client's log lines, from its own threads; nil discards them.
    /// - Throws: names the property that is unknown, invalid or at odds with how this module consumes.
    public init(
        properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)? = nil
    ) throws(KafkaError) {
        try Self.refuseContradictions(properties)
        let merged = Self.defaults.merging(properties) { _, given in given }
        let handle = try ClientHandle(type: RD_KAFKA_CONSUMER, properties: merged, log: log) { configuration in
            rd_kafka_conf_set_rebalance_cb(configuration) { client, code, partitions, opaque in
                if let partitions, let rebalance = ClientContext.of(opaque)?.rebalance {
                    rebalance(code, partitions)
                } else {
                    // Without anyone to ask: every rebalance must still be answered.
                    rd_kafka_assign(client, nil)
                }
            }
        }
        self.handle = handle
        waker = FetchWaker(merged)
        // Errors, logs and statistics then come through the same queue as records: one call serves all.
        rd_kafka_poll_set_consumer(handle.pointer)
    }

    deinit {
        // Whoever the callbacks belong to may be going away too, so they are not called any more.
        handle?.context.rebalance = nil
        close()
    }

    private static func refuseContradictions(_ properties: [String: String]) throws(KafkaError) {
        let refused: [(key: String, value: String, reason: String)] = [
            ("enable.auto.commit", "true", "offsets are committed by transactions only"),
            ("enable.auto.offset.store", "true", "offsets are committed by transactions only"),
            ("enable.partition.eof", "false", "the end of a partition must be seen"),
        ]
        for (key, value, reason) in refused where properties[key]?.lowercased() == value {
            throw KafkaError(invalid: "Kafka property \"\(key)\" cannot be \(value): \(reason)")
        }
        if let strategy = properties["partition.assignment.strategy"], strategy.contains("cooperative") {
            throw KafkaError(
                invalid: "Kafka property \"partition.assignment.strategy\" cannot be \(strategy): "
                    + "partitions of the same number must stay on one member")
        }
    }

    func open() throws(KafkaError) -> ClientHandle {
        guard let handle else { throw KafkaError.closed }
        return handle
    }

    /// Latest error of the client as a whole, such as no broker reachable or wrong credentials. Comes in through
    /// ``poll(max:timeoutMilliseconds:_:)``.
    public var lastError: KafkaError? { handle?.context.lastError }

    /// Identity of a topic, as in the records that this consumer hands out.
    /// - Throws: when the name is not a valid topic name.
    public func topicHandle(_ name: String) throws(KafkaError) -> TopicHandle {
        try TopicHandle(open().topic(name))
    }

    // MARK: Assignment

    /// Joins the group. The callbacks run inside ``poll(max:timeoutMilliseconds:_:)`` and ``close(timeoutMilliseconds:)``, on
    /// the calling thread; they may block and call everything but those two. Every rebalance revokes all partitions first.
    /// - Parameters:
    ///   - topics: names of the topics.
    ///   - onAssign: gets the new assignment and returns where to start in each partition, or nil to read nothing.
    ///   - onRevoke: runs before the partitions are given up. When they are lost, another member may have them already:
    ///     nothing may be committed for them. A revoke that is served late may have lost them without saying so; only
    ///     commits with the membership of the assignment (``GroupMetadata``) are safe, being refused then.
    /// - Throws: when a name is not valid.
    public func subscribe(
        _ topics: [String],
        onAssign: @escaping ([TopicPartition]) -> [PartitionOffset]?,
        onRevoke: @escaping (_ partitions: [TopicPartition], _ isLost: Bool) -> Void
    ) throws(KafkaError) {
        let handle = try open()
        handle.context.rebalance = { [unowned handle] code, list in
            handle.rebalance(code, list, onAssign: onAssign, onRevoke: onRevoke)
        }
        let entries = topics.map { PartitionOffset(topic: $0, partition: -1, offset: 0) }
        try withPartitionList(entries) { list throws(KafkaError) in
            try throwing(rd_kafka_subscribe(handle.pointer, list), "subscribe")
        }
    }

    /// Replaces what is read by the given partitions, without any group. An empty list stops reading.
    public func assign(_ partitions: [PartitionOffset]) throws(KafkaError) {
        let handle = try open()
        try handle.assign(partitions)
    }

    /// Stops fetching from the partitions until ``resume(_:)``; they stay assigned.
    public func pause(_ partitions: [TopicPartition]) throws(KafkaError) {
        try changeFetching(partitions, "pause", rd_kafka_pause_partitions)
    }

    /// Fetches again from partitions that were paused.
    public func resume(_ partitions: [TopicPartition]) throws(KafkaError) {
        try changeFetching(partitions, "resume", rd_kafka_resume_partitions)
    }

    private func changeFetching(
        _ partitions: [TopicPartition], _ what: String,
        _ call: (OpaquePointer?, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> rd_kafka_resp_err_t
    ) throws(KafkaError) {
        let handle = try open()
        try withPartitionList(partitions.map { PartitionOffset($0, offset: 0) }) { list throws(KafkaError) in
            try throwing(call(handle.pointer, list), what)
            for (entry, error) in list.entries() { try throwing(error, "\(what) \(entry.topicPartition)") }
        }
    }

    // MARK: Polling

    /// Hands out up to `max` items; waits for the first one only.
    ///
    /// Messages are taken one by one, so each has been handled before a rebalance callback runs, and none of an old
    /// assignment comes after it. librdkafka's batch call also serves the callbacks and is cheaper (80 instead of 125 ns per
    /// record with 2.0.2), but it waits until the whole batch is there, and in 2.0.2 it may skip records around pause and
    /// resume.
    ///
    /// Every call counts as a poll for `max.poll.interval.ms`, with or without a timeout, and that interval stands still while
    /// the assign callback runs (seen with 2.0.2 and 2.16): a long start of an assignment does not cost the membership.
    /// - Parameters:
    ///   - max: how many items at most.
    ///   - timeoutMilliseconds: how long to wait when there is none.
    ///   - body: called for each item. What it throws ends the poll; the item counts as handed out.
    /// - Returns: how many items were handed out. Fewer than `max` also when a rebalance callback has run.
    public func poll(
        max: Int, timeoutMilliseconds: Int32, _ body: (ConsumedItem) throws -> Void
    ) rethrows -> Int {
        guard let handle else { return 0 }
        lookAtGroup(handle)
        wakeFetching(handle)
        var count = 0
        var bytes = 0
        defer { waker?.note(records: count, bytes: bytes) }
        while count < max,
            let message = rd_kafka_consumer_poll(handle.pointer, count == 0 ? timeoutMilliseconds : 0)
        {
            count += 1
            bytes += message.pointee.len + message.pointee.key_len
            handle.messageKept = false
            defer { if !handle.messageKept { rd_kafka_message_destroy(message) } }
            try body(item(message, handle))
        }
        return count
    }

    /// Hands out what is there, up to `max` items, or waits for a first one: as ``poll(max:timeoutMilliseconds:_:)``, and cheaper, for a
    /// consumer that is no member of a group and never resumes what it has paused.
    /// - Parameter body: called for each item. What it throws ends the poll; what was taken from the client behind the item is lost.
    /// - Returns: how many items were handed out.
    public func pollBatch(
        max: Int, timeoutMilliseconds: Int32, _ body: (ConsumedItem) throws -> Void
    ) rethrows -> Int {
        guard let handle, let queue = rd_kafka_queue_get_consumer(handle.pointer) else { return 0 }
        precondition(handle.context.rebalance == nil, "records of an old assignment could come after a rebalance")
        defer { rd_kafka_queue_destroy(queue) }
        let messages = UnsafeMutableBufferPointer<UnsafeMutablePointer<rd_kafka_message_t>?>.allocate(capacity: max)
        defer { messages.deallocate() }
        // With a time to wait, the call would wait until there are `max`.
        let count = rd_kafka_consume_batch_queue(queue, 0, messages.baseAddress, max)
        guard count > 0 else { return try poll(max: 1, timeoutMilliseconds: timeoutMilliseconds, body) }
        let bytes = try handOut(UnsafeMutableBufferPointer(rebasing: messages[..<count]), handle, body)
        waker?.note(records: count, bytes: bytes)
        wakeFetching(handle)
        return count
    }

    /// Hands messages out and lets go of all of them; returns how many bytes they hold.
    private func handOut(
        _ messages: UnsafeMutableBufferPointer<UnsafeMutablePointer<rd_kafka_message_t>?>, _ handle: ClientHandle,
        _ body: (ConsumedItem) throws -> Void
    ) rethrows -> Int {
        var bytes = 0
        var handedOut = 0
        defer { for case let message? in messages.dropFirst(handedOut) { rd_kafka_message_destroy(message) } }
        for case let message? in messages {
            bytes += message.pointee.len + message.pointee.key_len
            handedOut += 1
            handle.messageKept = false
            defer { if !handle.messageKept { rd_kafka_message_destroy(message) } }
            try body(item(message, handle))
        }
        return bytes
    }

    /// How often the client looks at its group at least.
    private static let groupInterval = Duration.milliseconds(200)

    /// Wakes the client's own thread, which sends heartbeats and joins groups when something wakes it, or else once a second: of a
    /// rebalance each member would hear a second later, and join again a second after that.
    private func lookAtGroup(_ handle: ClientHandle) {
        let isMember = handle.context.rebalance != nil
        guard isMember, lastLook.duration(to: .now) >= KafkaConsumer.groupInterval else { return }
        lastLook = .now
        if let name = rd_kafka_memberid(handle.pointer) { rd_kafka_mem_free(handle.pointer, name) }
    }

    /// Has the threads that fetch look at the queue again, where it is time: a question to all leaders wakes them.
    private func wakeFetching(_ handle: ClientHandle) {
        guard waker != nil, let queue = rd_kafka_queue_get_consumer(handle.pointer) else { return }
        let length = rd_kafka_queue_length(queue)
        rd_kafka_queue_destroy(queue)
        guard waker?.shouldWake(length: length) == true else { return }
        let ends = handle.assigned.map { PartitionOffset($0, offset: PartitionOffset.end) }
        try? withPartitionList(ends) { list throws(KafkaError) in
            try throwing(rd_kafka_offsets_for_times(handle.pointer, list, 100), "ends")
        }
    }

    private func item(_ message: UnsafeMutablePointer<rd_kafka_message_t>, _ handle: ClientHandle) -> ConsumedItem {
        let code = message.pointee.err
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { return .record(ConsumedRecord(message, client: handle)) }
        let topic = message.pointee.rkt
        if code == RD_KAFKA_RESP_ERR__PARTITION_EOF, let topic {
            return .endOfPartition(
                topic: TopicHandle(topic), partition: message.pointee.partition, offset: message.pointee.offset)
        }
        let text = rd_kafka_message_errstr(message).map { String(cString: $0) }
        return .failure(
            handle.error(code, message: text), topic: topic.map { String(cString: rd_kafka_topic_name($0)) },
            partition: topic == nil ? nil : message.pointee.partition)
    }

    // MARK: End

    /// Leaves the group and closes. Runs the revoke callback when partitions are assigned (which does not happen when a
    /// consumer just goes out of use without being closed). Harmless when repeated.
    ///
    /// It cannot hang: librdkafka 2.0.2 may never finish closing after a lost partition, so closing is driven from here and
    /// given up at the deadline. The group then notices by its session timeout.
    public func close(timeoutMilliseconds: Int32 = 10_000) {
        guard let handle else { return }
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        if let queue = rd_kafka_queue_new(handle.pointer) {
            if let error = rd_kafka_consumer_close_queue(handle.pointer, queue) {
                rd_kafka_error_destroy(error)
            } else {
                while rd_kafka_consumer_closed(handle.pointer) == 0, !deadline.hasPassed {
                    if let message = rd_kafka_consume_queue(queue, 50) { rd_kafka_message_destroy(message) }
                }
            }
            rd_kafka_queue_destroy(queue)
        }
        handle.context.rebalance = nil
        self.handle = nil
        if rd_kafka_consumer_closed(handle.pointer) == 0 { handle.releaseElsewhere() }
    }
}

extension ClientHandle {
    /// Lets a thread of its own give up the last reference. Destroying a client that could not be closed waits for the answers that kept it
    /// from closing, and nobody here should wait for those.
    fileprivate func releaseElsewhere() {
        var thread = pthread_t()
        let reference = Unmanaged.passRetained(self).toOpaque()
        let failed = pthread_create(
            &thread, nil,
            { reference in
                // The caller's own reference goes first.
                usleep(200_000)
                if let reference { Unmanaged<ClientHandle>.fromOpaque(reference).release() }
                return nil
            }, reference)
        if failed == 0 { pthread_detach(thread) }
    }

    fileprivate func assign(_ partitions: [PartitionOffset]) throws(KafkaError) {
        // Held, so that the handles in records stay good after a partition is given up.
        for name in Set(partitions.map(\.topicPartition.topic)) { _ = try topic(name) }
        assigned = partitions.map(\.topicPartition)
        try withPartitionList(partitions) { list throws(KafkaError) in
            try throwing(rd_kafka_assign(pointer, list), "assign")
        }
    }

    fileprivate func rebalance(
        _ code: rd_kafka_resp_err_t, _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>,
        onAssign: ([TopicPartition]) -> [PartitionOffset]?, onRevoke: ([TopicPartition], Bool) -> Void
    ) {
        let partitions = list.entries().map(\.offset.topicPartition)
        if code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            do throws(KafkaError) {
                try assign(onAssign(partitions) ?? [])
            } catch {
                context.lastError = error
                rd_kafka_assign(pointer, nil)
            }
        } else {
            onRevoke(partitions, rd_kafka_assignment_lost(pointer) != 0)
            rd_kafka_assign(pointer, nil)
        }
        // Ends the poll, so that the caller can act upon the change at once.
        rd_kafka_yield(pointer)
    }
}
