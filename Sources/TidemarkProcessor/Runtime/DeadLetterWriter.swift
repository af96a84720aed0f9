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

    /// - Parameter limit: greatest record that the topic takes, bytes.
    init(topic: String, limit: Int) {
        self.topic = topic
        self.limit = limit
    }

    /// Adds a dead letter for a record, or for the one event of a batch that the decoder handed out last.
    func append(
        _ record: ConsumedRecord, of topic: String, _ decoder: EventDecoder, _ rejection: Rejection, stage: String
    ) {
        var headers = record.headers()
        let ownHeaders = headers.count
        let headerSize = headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 8 }
        func add(_ name: String, _ text: String) {
            headers.append(KafkaHeader(name: "tidemark.error." + name, text: text))
        }
        add("code", rejection.code.rawValue)
        add("message", rejection.message)
        add("topic", topic)
        add("partition", String(record.partition))
        add("offset", String(record.offset))
        add("timestamp", String(record.timestampMilliseconds))
        add("stage", stage)
        var value = record.value
        if let index = decoder.elementIndex {
            add("index", String(index))
            let element = decoder.elementBytes()
            value = UnsafeRawBufferPointer(start: element.start, count: element.count)
        }
        // Room for the headers added above and for what the record format adds.
        let isTooLarge = (value?.count ?? 0) + (record.key?.count ?? 0) + headerSize > limit - 65_536
        if isTooLarge, let whole = value {
            let (low, high) = ByteView(whole).hash128
            add("size", String(whole.count))
            add(
                "xxh128",
                String(high, radix: 16) + String(repeating: "0", count: 16 - String(low, radix: 16).count)
                    + String(low, radix: 16))
            value = UnsafeRawBufferPointer(rebasing: whole.prefix(DeadLetterWriter.excerptSize))
        }
        if isTooLarge, headerSize > limit / 4 { headers.removeFirst(ownHeaders) }
        let key = record.key.flatMap { isTooLarge && $0.count > limit / 4 ? nil : $0 }
        batch.append(topic: self.topic, partition: -1, key: key, value: value, headers: headers)
    }
}
