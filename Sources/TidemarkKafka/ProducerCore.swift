internal import CRdKafka

/// What both producers share: handing records over, back-pressure and failed deliveries.
final class ProducerCore {
    let handle: ClientHandle
    private let queueFullDeadline: Int32
    /// Arguments of the produce call, reused.
    private let arguments: UnsafeMutablePointer<rd_kafka_vu_t>
    private static let argumentCapacity = 8
    /// How many requests may be under way to a broker: one, unless it is given, or the first records can be lost without a word.
    ///
    /// A partition takes whatever number a producer begins with that it does not know. When it refuses the first request because it is
    /// just being set up, and takes the second, which was sent behind it, then librdkafka (2.0.2) holds the first for delivered
    /// as well: it cannot be missing, for numbers have no gaps.
    private static let requestsInFlight = ["max.in.flight", "max.in.flight.requests.per.connection"]

    /// - Parameter onDelivery: called for each record that was handed over in place, with its token, once the client is done with it; runs
    ///   inside the calls that serve callbacks. Where there is none, `delivery.report.only.error` should be on.
    init(
        properties: [String: String], defaults: [String: String], queueFullTimeoutMilliseconds: Int32,
        log: (@Sendable (KafkaLogLine) -> Void)?, onDelivery: ((Int) -> Void)? = nil
    ) throws(KafkaError) {
        let merged = Self.losingNothing(defaults.merging(properties) { _, given in given })
        handle = try ClientHandle(type: RD_KAFKA_PRODUCER, properties: merged, log: log) { configuration in
            rd_kafka_conf_set_dr_msg_cb(configuration) { _, message, opaque in
                guard let message, let context = ClientContext.of(opaque) else { return }
                if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR { context.deliveryFailed(message) }
                if let token = message.pointee._private { context.report?(token, message.pointee.err) }
            }
        }
        // A token of its own is one more, so that it is never null.
        if let onDelivery { handle.context.report = { token, _ in onDelivery(Int(bitPattern: token) - 1) } }
        queueFullDeadline = queueFullTimeoutMilliseconds
        arguments = .allocate(capacity: Self.argumentCapacity)
        arguments.initialize(repeating: rd_kafka_vu_t(), count: Self.argumentCapacity)
    }

    deinit { arguments.deallocate() }

    /// The properties, with one request under way at a time unless they say otherwise.
    static func losingNothing(_ properties: [String: String]) -> [String: String] {
        guard requestsInFlight.allSatisfy({ properties[$0] == nil }) else { return properties }
        return properties.merging([requestsInFlight[0]: "1"]) { given, _ in given }
    }

    /// Hands over a record whose value stays where it is until `onDelivery` is called with the token, which is not negative.
    func produceInPlace(
        topic: OpaquePointer, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, headers: [KafkaHeader],
        token: Int
    ) throws(KafkaError) {
        let opaque = UnsafeMutableRawPointer(bitPattern: token + 1)
        guard headers.isEmpty else {
            return try produce(
                topic: topic, partition: -1, key: key, value: value, headers: makeHeaderList(headers),
                timestampMilliseconds: 0, flags: 0, opaque: opaque)
        }
        try untilAccepted(topic) {
            let result = rd_kafka_produce(
                topic, -1, 0, pointer(of: value), value.count, pointer(of: key), key.count, opaque)
            return result == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error()
        }
    }

    /// Hands over a copy of the record; when the queue is full, serves callbacks until there is room or the deadline passes.
    func produce(
        topic: OpaquePointer, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader], timestampMilliseconds: Int64
    ) throws(KafkaError) {
        if headers.isEmpty && timestampMilliseconds == 0 {
            // The plain call parses no argument list.
            try untilAccepted(topic) {
                let result = rd_kafka_produce(
                    topic, partition, RD_KAFKA_MSG_F_COPY, pointer(of: value), value?.count ?? 0, pointer(of: key),
                    key?.count ?? 0, nil)
                return result == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error()
            }
            return
        }
        try produce(
            topic: topic, partition: partition, key: key, value: value,
            headers: headers.isEmpty ? nil : makeHeaderList(headers), timestampMilliseconds: timestampMilliseconds)
    }

    /// As above, with headers in the form of ``HeaderBytes``.
    func produce(
        topic: OpaquePointer, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        packedHeaders: UnsafeRawBufferPointer
    ) throws(KafkaError) {
        let list = rd_kafka_headers_new(2)
        HeaderBytes.forEach(in: packedHeaders) { name, value in
            _ = rd_kafka_header_add(list, name, -1, pointer(of: value), value.count)
        }
        try produce(
            topic: topic, partition: partition, key: key, value: value, headers: list, timestampMilliseconds: 0)
    }

    /// - Parameter headers: the C library's list, which goes over to it.
    private func produce(
        topic: OpaquePointer, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers list: OpaquePointer?, timestampMilliseconds: Int64, flags: Int32 = RD_KAFKA_MSG_F_COPY,
        opaque: UnsafeMutableRawPointer? = nil
    ) throws(KafkaError) {
        var count = 0
        func add(_ type: rd_kafka_vtype_t, _ set: (inout rd_kafka_vu_t) -> Void) {
            arguments[count].vtype = type
            set(&arguments[count])
            count += 1
        }
        add(RD_KAFKA_VTYPE_RKT) { $0.u.rkt = topic }
        add(RD_KAFKA_VTYPE_PARTITION) { $0.u.i32 = partition }
        add(RD_KAFKA_VTYPE_MSGFLAGS) { $0.u.i = flags }
        add(RD_KAFKA_VTYPE_OPAQUE) { $0.u.ptr = opaque }
        add(RD_KAFKA_VTYPE_VALUE) {
            $0.u.mem.ptr = pointer(of: value)
            $0.u.mem.size = value?.count ?? 0
        }
        add(RD_KAFKA_VTYPE_KEY) {
            $0.u.mem.ptr = pointer(of: key)
            $0.u.mem.size = key?.count ?? 0
        }
        add(RD_KAFKA_VTYPE_TIMESTAMP) { $0.u.i64 = timestampMilliseconds }
        if let list { add(RD_KAFKA_VTYPE_HEADERS) { $0.u.headers = list } }
        do throws(KafkaError) {
            try untilAccepted(topic) {
                guard let error = rd_kafka_produceva(handle.pointer, arguments, count) else {
                    return RD_KAFKA_RESP_ERR_NO_ERROR
                }
                defer { rd_kafka_error_destroy(error) }
                return rd_kafka_error_code(error)
            }
        } catch {
            // librdkafka owns the headers only after it has accepted the record.
            if let list { rd_kafka_headers_destroy(list) }
            throw error
        }
    }

    private func untilAccepted(_ topic: OpaquePointer, _ call: () -> rd_kafka_resp_err_t) throws(KafkaError) {
        var code = call()
        if code == RD_KAFKA_RESP_ERR__QUEUE_FULL {
            let deadline = Deadline(milliseconds: queueFullDeadline)
            while code == RD_KAFKA_RESP_ERR__QUEUE_FULL, !deadline.hasPassed {
                // Short, because nothing wakes this wait when room is made: only failures are reported.
                rd_kafka_poll(handle.pointer, 2)
                code = call()
            }
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw handle.error(code).prefixed("cannot produce to \"\(TopicHandle(topic).name)\"")
        }
    }

    /// nil stays nil; an empty buffer without address becomes an address, because no address means "null".
    private func pointer(of buffer: UnsafeRawBufferPointer?) -> UnsafeMutableRawPointer? {
        guard let buffer else { return nil }
        return buffer.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) } ?? UnsafeMutableRawPointer(arguments)
    }

    func flush(timeoutMilliseconds: Int32) throws(KafkaError) {
        try throwing(
            rd_kafka_flush(handle.pointer, timeoutMilliseconds),
            "flush (\(rd_kafka_outq_len(handle.pointer)) records left)")
    }
}

/// The C library's list of headers.
func makeHeaderList(_ headers: [KafkaHeader]) -> OpaquePointer? {
    let list = rd_kafka_headers_new(headers.count)
    for header in headers {
        guard let value = header.value else {
            _ = rd_kafka_header_add(list, header.name, -1, nil, 0)
            continue
        }
        value.withUnsafeBytes { bytes in
            // A null address would be taken as the null value; of no bytes, any address will do.
            _ = rd_kafka_header_add(
                list, header.name, -1, bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1), bytes.count)
        }
    }
    return list
}
