internal import TidemarkAttribution
internal import TidemarkEvents
internal import TidemarkKafka

/// Makes dead letters: the original key, value and headers, and headers that say what was wrong and where it came from.
final class DeadLetterWriter {
    /// How many bytes of a record are kept that is too large for the dead-letter topic.
    static let excerptSize = 4_096

    /// Dead letters that wait for the next commit.
    let batch = OutboundBatch()
    private let topic: String
    private let limit: Int
    private let rules: AttributionRules

    /// - Parameters:
    ///   - limit: greatest record that the topic takes, bytes.
    ///   - rules: say how late and how far ahead of its time an event may come.
    init(topic: String, limit: Int, rules: AttributionRules) {
        self.topic = topic
        self.limit = limit
        self.rules = rules
    }

    /// Where a record was first read.
    private struct Place {
        var topic: String
        var partition: Int32
        var offset: Int64
        var timestamp: Int64

        init(_ record: ConsumedRecord, of topic: String) {
            self.topic = topic
            partition = record.partition
            offset = record.offset
            timestamp = record.timestampMilliseconds
        }

        init(_ stamp: SourceStamp, of topic: String) {
            self.topic = topic
            partition = stamp.partition
            offset = stamp.offset
            timestamp = stamp.timestamp
        }
    }

    /// Adds a dead letter for a record, or for the one event of a batch that the decoder handed out last.
    func append(
        _ record: ConsumedRecord, of topic: String, _ decoder: EventDecoder, _ rejection: Rejection, stage: String
    ) {
        var value = record.value
        if decoder.elementIndex != nil {
            let element = decoder.elementBytes()
            value = UnsafeRawBufferPointer(start: element.start, count: element.count)
        }
        append(
            record, value, record.headers(), at: Place(record, of: topic), index: decoder.elementIndex, rejection, stage
        )
    }

    /// Adds a dead letter for a whole record.
    func append(_ record: ConsumedRecord, of topic: String, _ rejection: Rejection, stage: String) {
        append(record, record.value, record.headers(), at: Place(record, of: topic), index: nil, rejection, stage)
    }

    /// Adds a dead letter for an event that came through `<app>-by-user`, with the coordinates of its source.
    func append(_ record: ConsumedRecord, of topic: String, from stamp: SourceStamp, _ rejection: Rejection) {
        let headers = record.headers().filter { $0.name != "\(SourceStamp.header)" }
        append(record, record.value, headers, at: Place(stamp, of: topic), index: stamp.index, rejection, "decode")
    }

    private func append(
        _ record: ConsumedRecord, _ value: UnsafeRawBufferPointer?, _ ownHeaders: [KafkaHeader], at place: Place,
        index: Int?, _ rejection: Rejection, _ stage: String
    ) {
        var (headers, value) = (ownHeaders, value)
        let headerSize = headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 8 }
        func add(_ name: String, _ text: String) {
            headers.append(KafkaHeader(name: DeadLetter.headerPrefix + name, text: text))
        }
        add("code", rejection.code.rawValue)
        add("message", rejection.message)
        add("topic", place.topic)
        add("partition", String(place.partition))
        add("offset", String(place.offset))
        add("timestamp", String(place.timestamp))
        add("stage", stage)
        if let index { add("index", String(index)) }
        if let allowed = allowance(of: rejection.code) { add("allowed", String(allowed)) }
        // Room for the headers added above and for what the record format adds.
        let isTooLarge = (value?.count ?? 0) + (record.key?.count ?? 0) + headerSize > limit - 65_536
        if isTooLarge, let whole = value {
            add("size", String(whole.count))
            add("xxh128", DeadLetterWriter.hashText(of: ByteView(whole)))
            value = UnsafeRawBufferPointer(rebasing: whole.prefix(DeadLetterWriter.excerptSize))
        }
        if isTooLarge, headerSize > limit / 4 { headers.removeFirst(ownHeaders.count) }
        let key = record.key.flatMap { isTooLarge && $0.count > limit / 4 ? nil : $0 }
        batch.append(topic: self.topic, partition: -1, key: key, value: value, headers: headers)
    }

    /// What the settings allow of what is refused for its time, seconds: tells later whether they allow more by then.
    private func allowance(of code: RejectionCode) -> Int64? {
        switch code {
        case .late: rules.allowedLateness
        case .futureDated: rules.futureTolerance
        default: nil
        }
    }

    /// The hash of a value as the header has it: 32 hexadecimal digits.
    static func hashText(of value: ByteView) -> String {
        let (low, high) = value.hash128
        func padded(_ half: UInt64) -> String {
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return padded(high) + padded(low)
    }
}
