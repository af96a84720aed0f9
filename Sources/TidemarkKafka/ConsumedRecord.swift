internal import CRdKafka

/// What a poll of a consumer hands out.
public enum ConsumedItem {
    /// A record, valid during the call it is given to.
    case record(ConsumedRecord)
    /// All records up to `offset` (exclusive) have been handed out and there are no more for now.
    ///
    /// `offset` is the next one to be fetched: it lies past control records (transaction markers) and, when reading
    /// committed records only, past records of aborted transactions. It is the position to commit.
    case endOfPartition(topic: TopicHandle, partition: Int32, offset: Int64)
    /// An error, of one partition when topic and partition are given. Only a fatal one ends the consumer.
    case failure(KafkaError, topic: String?, partition: Int32?)
}

/// A record as received. It borrows the client's memory: it and its buffers are valid only during the call of the poll's body
/// that it is given to, or as long as the ``RetainedRecord`` or ``CopiedRecord`` it came from.
public struct ConsumedRecord {
    /// Identity of the topic; equal to what ``KafkaConsumer/topicHandle(_:)`` gives for its name.
    public let topicHandle: TopicHandle
    /// Number of the partition.
    public let partition: Int32
    /// Offset in the partition.
    public let offset: Int64
    /// Milliseconds since 1970, set by the producer or by the broker (see ``isLogAppendTime``); -1 when there is none.
    public let timestampMilliseconds: Int64
    /// The broker has set the timestamp when it appended the record.
    public let isLogAppendTime: Bool
    /// The key; nil when there is none.
    public let key: UnsafeRawBufferPointer?
    /// The value; nil is a tombstone.
    public let value: UnsafeRawBufferPointer?

    /// The message of the client; nil for a copy.
    private let address: UnsafeMutableRawPointer?
    /// The headers of a copy; nil where it has none.
    private let copiedHeaders: OpaquePointer?
    private unowned(unsafe) let client: ClientHandle?

    init(_ message: UnsafeMutablePointer<rd_kafka_message_t>, client: ClientHandle) {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        timestampMilliseconds = rd_kafka_message_timestamp(message, &type)
        isLogAppendTime = type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME
        topicHandle = TopicHandle(message.pointee.rkt)
        partition = message.pointee.partition
        offset = message.pointee.offset
        key = message.pointee.key.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len) }
        value = message.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.len) }
        address = UnsafeMutableRawPointer(message)
        copiedHeaders = nil
        self.client = client
    }

    /// A record that no client has received.
    fileprivate init(
        topic: TopicHandle, partition: Int32, offset: Int64, timestampMilliseconds: Int64,
        key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, headers: OpaquePointer?
    ) {
        topicHandle = topic
        self.partition = partition
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        isLogAppendTime = true
        self.key = key
        self.value = value
        address = nil
        copiedHeaders = headers
        client = nil
    }

    /// The same record in other memory.
    fileprivate init(
        _ original: ConsumedRecord, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: OpaquePointer?
    ) {
        topicHandle = original.topicHandle
        partition = original.partition
        offset = original.offset
        timestampMilliseconds = original.timestampMilliseconds
        isLogAppendTime = original.isLogAppendTime
        self.key = key
        self.value = value
        address = nil
        copiedHeaders = headers
        client = original.client
    }

    private var headerList: OpaquePointer? {
        guard let address else { return copiedHeaders }
        var headers: OpaquePointer?
        let message = address.assumingMemoryBound(to: rd_kafka_message_t.self)
        return rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR ? headers : nil
    }

    /// Name of the topic. Makes a String: not for the hot path, and not for records that no client has received.
    public var topicName: String { topicHandle.name }

    /// The value of the last header of that name: nil when there is none, no bytes when it has the null value.
    public func header(named name: StaticString) -> UnsafeRawBufferPointer? {
        header(named: UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
    }

    /// The value of the last header of that name, given as a C string (a String converts by itself).
    public func header(named name: UnsafePointer<CChar>) -> UnsafeRawBufferPointer? {
        guard let headers = headerList else { return nil }
        var bytes: UnsafeRawPointer?
        var count = 0
        guard rd_kafka_header_get_last(headers, name, &bytes, &count) == RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count)
    }

    /// Copies of all headers, in order.
    public func headers() -> [KafkaHeader] {
        guard let headers = headerList else { return [] }
        var result: [KafkaHeader] = []
        var name: UnsafePointer<CChar>?
        var bytes: UnsafeRawPointer?
        var count = 0
        while rd_kafka_header_get_all(headers, result.count, &name, &bytes, &count) == RD_KAFKA_RESP_ERR_NO_ERROR {
            let value = bytes.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) }
            result.append(KafkaHeader(name: name.map { String(cString: $0) } ?? "", value: value))
        }
        return result
    }

    /// Keeps the record beyond the current call. At most once per record, and only inside the poll's body.
    public func retain() -> RetainedRecord {
        guard let address, let client, !client.messageKept else { preconditionFailure("a record can be retained once") }
        client.messageKept = true
        return RetainedRecord(record: self, address: address, client: client)
    }

    /// A copy that holds nothing of the client's memory, for records that wait for long.
    public func copy() -> CopiedRecord {
        CopiedRecord(of: self, headers: headerList)
    }
}

/// A record in memory of its own: unlike a ``RetainedRecord`` it does not hold on to the fetch response that it came in.
///
/// Let go of it before the consumer is closed: the name of its topic belongs to the client.
public final class CopiedRecord {
    /// The record, valid as long as this object.
    public let record: ConsumedRecord
    /// About how many bytes it takes.
    public let byteCount: Int
    private let bytes: UnsafeMutableRawBufferPointer
    private let headers: OpaquePointer?

    fileprivate init(of original: ConsumedRecord, headers: OpaquePointer?) {
        let keySize = original.key?.count ?? 0
        bytes = .allocate(byteCount: keySize + (original.value?.count ?? 0), alignment: 1)
        if let key = original.key { bytes.copyMemory(from: key) }
        if let value = original.value {
            UnsafeMutableRawBufferPointer(rebasing: bytes[keySize...]).copyMemory(from: value)
        }
        self.headers = headers.flatMap { rd_kafka_headers_copy($0) }
        // The object, the room around allocations, and the client's list of headers.
        byteCount = bytes.count + 256 + CopiedRecord.size(of: headers)
        let copy = UnsafeRawBufferPointer(bytes)
        record = ConsumedRecord(
            original, key: original.key.map { _ in UnsafeRawBufferPointer(rebasing: copy[..<keySize]) },
            value: original.value.map { _ in UnsafeRawBufferPointer(rebasing: copy[keySize...]) }, headers: self.headers
        )
    }

    /// A record that no client has received, for logs that are simulated.
    package init(
        topic: TopicHandle, partition: Int32, offset: Int64, timestampMilliseconds: Int64, key: [UInt8]?,
        value: [UInt8]?, headers: [KafkaHeader]
    ) {
        let keySize = key?.count ?? 0
        bytes = .allocate(byteCount: keySize + (value?.count ?? 0), alignment: 1)
        bytes.copyBytes(from: (key ?? []) + (value ?? []))
        self.headers = headers.isEmpty ? nil : rd_kafka_headers_new(headers.count)
        for header in headers {
            rd_kafka_header_add(
                self.headers, header.name, -1, header.value, header.value?.count ?? 0)
        }
        byteCount = bytes.count + 256
        let copy = UnsafeRawBufferPointer(bytes)
        record = ConsumedRecord(
            topic: topic, partition: partition, offset: offset, timestampMilliseconds: timestampMilliseconds,
            key: key.map { _ in UnsafeRawBufferPointer(rebasing: copy[..<keySize]) },
            value: value.map { _ in UnsafeRawBufferPointer(rebasing: copy[keySize...]) }, headers: self.headers)
    }

    deinit {
        bytes.deallocate()
        if let headers { rd_kafka_headers_destroy(headers) }
    }

    private static func size(of headers: OpaquePointer?) -> Int {
        guard let headers else { return 0 }
        var total = 0
        var index = 0
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        while rd_kafka_header_get_all(headers, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
            total += size + 96
            index += 1
        }
        return total
    }
}

/// Owns a record beyond the poll that delivered it, and its buffers with it.
///
/// Holds the memory of the whole fetch response that the record came in, so keep few of them or for a short time.
/// Let go of all of them before closing the consumer, else its instance lives on until the last is gone.
public final class RetainedRecord {
    /// The record, valid as long as this object.
    public let record: ConsumedRecord
    private let address: UnsafeMutableRawPointer
    private let client: ClientHandle

    init(record: ConsumedRecord, address: UnsafeMutableRawPointer, client: ClientHandle) {
        self.record = record
        self.address = address
        self.client = client
    }

    deinit { rd_kafka_message_destroy(address.assumingMemoryBound(to: rd_kafka_message_t.self)) }
}
