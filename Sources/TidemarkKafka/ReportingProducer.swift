internal import CRdKafka

/// A plain idempotent producer that tells of each record when the brokers have it, or that they will not get it.
///
/// Made for records that somebody waits for: values are not copied, and stay in place until their report. Any thread may produce; one
/// thread calls ``serve(timeoutMilliseconds:)`` again and again, and on it the reports come.
///
/// Unchecked: the C library locks for itself; `context.report` is set before the first record.
public final class ReportingProducer: @unchecked Sendable {
    /// Tells of a record: the token that it was produced with, and the code of what went wrong, `nil` where the brokers have it.
    public typealias Report = (_ token: UnsafeMutableRawPointer, _ failure: KafkaError.Code?) -> Void

    private let handle: ClientHandle

    /// Starts a producer.
    /// - Parameters:
    ///   - properties: any property of librdkafka; idempotence is on.
    ///   - report: called once for each record that was taken.
    ///   - log: gets the client's log lines, from its own threads; nil discards them.
    /// - Throws: names the property that is unknown or invalid.
    public init(
        properties: [String: String], report: @escaping Report, log: (@Sendable (KafkaLogLine) -> Void)? = nil
    ) throws(KafkaError) {
        var properties = ProducerCore.losingNothing(properties)
        properties["enable.idempotence"] = "true"
        handle = try ClientHandle(type: RD_KAFKA_PRODUCER, properties: properties, log: log) { configuration in
            rd_kafka_conf_set_dr_msg_cb(configuration) { _, message, opaque in
                guard let message, let token = message.pointee._private else { return }
                ClientContext.of(opaque)?.report?(token, message.pointee.err)
            }
        }
        handle.context.report = { token, code in
            report(token, code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError.Code(rawValue: code.rawValue))
        }
    }

    /// Prepares a topic. Call it before other threads produce.
    public func topic(_ name: String) throws(KafkaError) -> TopicHandle { try TopicHandle(handle.topic(name)) }

    /// Queues a record; the partitioner chooses its partition.
    /// - Parameters:
    ///   - topic: from ``topic(_:)`` of this producer.
    ///   - key: copied; nil is no key.
    ///   - value: not copied: it must stay in place until the report.
    ///   - headerName: a C string; copied, as the value is.
    ///   - headerValue: no header where there are no bytes.
    ///   - token: what the report names.
    /// - Returns: why the record was not taken, in which case there is no report; `nil` where it was. ``KafkaError/Code/queueFull`` says that
    ///   too much waits already.
    public func produce(
        topic: TopicHandle, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer,
        headerName: UnsafePointer<CChar>, headerValue: UnsafeRawBufferPointer, token: UnsafeMutableRawPointer
    ) -> KafkaError.Code? {
        var list: OpaquePointer?
        if headerValue.count > 0 {
            list = rd_kafka_headers_new(1)
            rd_kafka_header_add(list, headerName, -1, headerValue.baseAddress, headerValue.count)
        }
        return produce(topic, key, value, list, token)
    }

    /// As above, with any headers.
    public func produce(
        topic: TopicHandle, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer, headers: [KafkaHeader],
        token: UnsafeMutableRawPointer
    ) -> KafkaError.Code? {
        produce(topic, key, value, headers.isEmpty ? nil : makeHeaderList(headers), token)
    }

    /// - Parameter list: the C library's list, which goes over to it.
    private func produce(
        _ topic: TopicHandle, _ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer, _ list: OpaquePointer?,
        _ token: UnsafeMutableRawPointer
    ) -> KafkaError.Code? {
        let failure = withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 6) { arguments in
            var count = 0
            func add(_ type: rd_kafka_vtype_t, _ set: (inout rd_kafka_vu_t) -> Void) {
                arguments.initializeElement(at: count, to: rd_kafka_vu_t())
                arguments[count].vtype = type
                set(&arguments[count])
                count += 1
            }
            add(RD_KAFKA_VTYPE_RKT) { $0.u.rkt = topic.pointer }
            add(RD_KAFKA_VTYPE_MSGFLAGS) { $0.u.i = 0 }
            add(RD_KAFKA_VTYPE_VALUE) {
                $0.u.mem.ptr = UnsafeMutableRawPointer(mutating: value.baseAddress)
                $0.u.mem.size = value.count
            }
            if let key, key.count > 0 {
                add(RD_KAFKA_VTYPE_KEY) {
                    $0.u.mem.ptr = UnsafeMutableRawPointer(mutating: key.baseAddress)
                    $0.u.mem.size = key.count
                }
            }
            add(RD_KAFKA_VTYPE_OPAQUE) { $0.u.ptr = token }
            if let list { add(RD_KAFKA_VTYPE_HEADERS) { $0.u.headers = list } }
            return rd_kafka_produceva(handle.pointer, arguments.baseAddress, count)
        }
        guard let failure else { return nil }
        // librdkafka owns the headers only after it has accepted the record.
        if let list { rd_kafka_headers_destroy(list) }
        return KafkaError(taking: failure).code
    }

    /// Makes reports, for so long at most.
    public func serve(timeoutMilliseconds: Int32) { rd_kafka_poll(handle.pointer, timeoutMilliseconds) }

    /// Records that are queued or under way.
    public var outstanding: Int { Int(rd_kafka_outq_len(handle.pointer)) }

    /// Gives up all that is queued or under way: each record's report says so, in the next ``serve(timeoutMilliseconds:)``.
    public func purge() { rd_kafka_purge(handle.pointer, Int32(RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)) }

    /// The error that made this producer unusable, if any.
    public var fatalError: KafkaError? { handle.fatalError() }
}
