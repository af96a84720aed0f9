internal import CRdKafka
internal import Dispatch

/// What the callbacks of one client need. librdkafka holds an unretained pointer to it, so it must outlive the handle.
///
/// Unchecked: `log` never changes after start; the rest is touched only by callbacks that run on the thread that is inside a
/// call of the client (poll, flush, commit), one thread at a time by the contract of the owning classes.
final class ClientContext: @unchecked Sendable {
    let log: (@Sendable (KafkaLogLine) -> Void)?
    var rebalance: ((rd_kafka_resp_err_t, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> Void)?
    /// Hears of each record of a ``ReportingProducer``, or that a ``Producer`` sent from where it is, by the token that it was produced with.
    var report: ((UnsafeMutableRawPointer, rd_kafka_resp_err_t) -> Void)?
    var failedDeliveries = 0
    var firstDeliveryError: KafkaError?
    /// Latest error of the client as a whole, such as "no broker reachable" or "wrong password".
    var lastError: KafkaError?

    init(log: (@Sendable (KafkaLogLine) -> Void)?) { self.log = log }

    static func of(_ opaque: UnsafeMutableRawPointer?) -> ClientContext? {
        opaque.map { Unmanaged<ClientContext>.fromOpaque($0).takeUnretainedValue() }
    }

    func deliveryFailed(_ message: UnsafePointer<rd_kafka_message_t>) {
        let code = message.pointee.err
        // An abort purges what it withdraws; that is no failure.
        if code == RD_KAFKA_RESP_ERR__PURGE_QUEUE || code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT { return }
        failedDeliveries += 1
        guard firstDeliveryError == nil else { return }
        let topic = message.pointee.rkt.map { String(cString: rd_kafka_topic_name($0)) } ?? "?"
        firstDeliveryError = KafkaError(code: code)
            .prefixed("delivery to \(topic)[\(message.pointee.partition)] failed")
    }
}

/// Owns one librdkafka instance together with its callback context and topic objects.
///
/// Teardown order: topic objects, instance, context. The instance is destroyed when the last owner (client object, retained
/// record, group metadata) lets go, on a thread of its own with a deadline, because destroying can hang in 2.0.2.
///
/// Unchecked: the pointer is thread-safe by librdkafka's contract; `topics`, `messageKept` and `assigned` belong to the client's thread.
final class ClientHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    let context: ClientContext
    /// Set by `ConsumedRecord.retain` while a record is being handed out.
    var messageKept = false
    /// What a consumer was given to read last.
    var assigned: [TopicPartition] = []
    private var topics: [String: OpaquePointer] = [:]

    init(
        type: rd_kafka_type_t, properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?,
        configure: (OpaquePointer) -> Void = { _ in }
    ) throws(KafkaError) {
        let context = ClientContext(log: log)
        guard let configuration = rd_kafka_conf_new() else { throw KafkaError(code: RD_KAFKA_RESP_ERR__FAIL) }
        do throws(KafkaError) {
            try setProperties(properties, in: configuration)
        } catch {
            rd_kafka_conf_destroy(configuration)
            throw error
        }
        rd_kafka_conf_set_opaque(configuration, Unmanaged.passUnretained(context).toOpaque())
        setCommonCallbacks(configuration)
        configure(configuration)
        var text = [CChar](repeating: 0, count: 512)
        guard let pointer = rd_kafka_new(type, configuration, &text, text.count) else {
            // Only a failed start leaves the configuration with us.
            rd_kafka_conf_destroy(configuration)
            throw KafkaError(invalid: "cannot start the Kafka client: \(string(text))")
        }
        self.pointer = pointer
        self.context = context
        if let warning = KafkaLibrary.warning(for: properties) { log?(warning) }
    }

    /// The topic object of that name, held until the instance is destroyed.
    func topic(_ name: String) throws(KafkaError) -> OpaquePointer {
        if let known = topics[name] { return known }
        guard let topic = rd_kafka_topic_new(pointer, name, nil) else {
            throw KafkaError(code: rd_kafka_last_error()).prefixed("topic \"\(name)\"")
        }
        topics[name] = topic
        return topic
    }

    /// The error that made this instance unusable, if any.
    func fatalError() -> KafkaError? {
        var text = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &text, text.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return KafkaError(code: code, message: string(text), isFatal: true)
    }

    /// An error made from a bare code: the generic code "fatal" is replaced by what lies behind it.
    func error(_ code: rd_kafka_resp_err_t, message: String? = nil) -> KafkaError {
        if code == RD_KAFKA_RESP_ERR__FATAL, let fatal = fatalError() { return fatal }
        return KafkaError(code: code, message: message)
    }

    deinit {
        for topic in topics.values { rd_kafka_topic_destroy(topic) }
        let address = UInt(bitPattern: pointer)
        let context = context
        runWithDeadline(milliseconds: 10_000) {
            // The consumer has left its group before (or never joined): closing it again could block.
            rd_kafka_destroy_flags(OpaquePointer(bitPattern: address), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
            withExtendedLifetime(context) {}
        }
    }
}

private func setProperties(_ properties: [String: String], in configuration: OpaquePointer) throws(KafkaError) {
    // Sorted, so that of several wrong properties always the same one is reported.
    for (key, value) in properties.sorted(by: { $0.key < $1.key }) {
        var text = [CChar](repeating: 0, count: 512)
        switch rd_kafka_conf_set(configuration, key, value, &text, text.count) {
        case RD_KAFKA_CONF_OK: continue
        case RD_KAFKA_CONF_UNKNOWN: throw KafkaError(invalid: "unknown Kafka property \"\(key)\"")
        default: throw KafkaError(invalid: "Kafka property \"\(key)\": \(string(text))")
        }
    }
}

private func setCommonCallbacks(_ configuration: OpaquePointer) {
    // Always set: without a callback librdkafka writes to the standard error stream.
    rd_kafka_conf_set_log_cb(configuration) { handle, level, facility, text in
        guard let handle, let log = ClientContext.of(rd_kafka_opaque(handle))?.log, let facility, let text else {
            return
        }
        log(KafkaLogLine(level: Int(level), facility: String(cString: facility), message: String(cString: text)))
    }
    rd_kafka_conf_set_error_cb(configuration) { _, code, reason, opaque in
        guard let context = ClientContext.of(opaque) else { return }
        let error = KafkaError(
            code: rd_kafka_resp_err_t(code), message: reason.map { String(cString: $0) },
            isFatal: code == RD_KAFKA_RESP_ERR__FATAL.rawValue)
        context.lastError = error
        context.log?(KafkaLogLine(level: 3, facility: "ERROR", message: error.description))
    }
}

func string(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Runs a call that might hang on a thread of its own.
/// - Returns: false when the deadline passed first; the call then goes on by itself.
@discardableResult
func runWithDeadline(milliseconds: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "tidemark.kafka.teardown").async {
        body()
        done.signal()
    }
    return done.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
}

/// A point in time on the monotonic clock by which something must have happened.
struct Deadline {
    private let end: UInt64

    init(milliseconds: Int32) {
        end = DispatchTime.now().uptimeNanoseconds + UInt64(max(0, milliseconds)) * 1_000_000
    }

    /// Milliseconds left, never negative.
    var remaining: Int32 {
        let now = DispatchTime.now().uptimeNanoseconds
        return now >= end ? 0 : Int32(min((end - now + 999_999) / 1_000_000, UInt64(Int32.max)))
    }

    var hasPassed: Bool { remaining == 0 }
}
