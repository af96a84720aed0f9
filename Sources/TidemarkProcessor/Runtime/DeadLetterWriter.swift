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
    func append(_ record: ConsumedRecord, _ decoder: EventDecoder, _ rejection: Rejection, stage: String) {
        var headers = record.headers()
        func add(_ name: String, _ text: String) {
            headers.append(KafkaHeader(name: "tidemark.error." + name, text: text))
        }
        add("code", rejection.code.rawValue)
        add("message", rejection.message)
        add("topic", record.topicName)
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
        let size = (value?.count ?? 0) + (record.key?.count ?? 0)
        if size > limit - 65_536, let whole = value {
            let (low, high) = ByteView(whole).hash128
            add("size", String(whole.count))
            add(
                "xxh128",
                String(high, radix: 16) + String(repeating: "0", count: 16 - String(low, radix: 16).count)
                    + String(low, radix: 16))
            value = UnsafeRawBufferPointer(rebasing: whole.prefix(DeadLetterWriter.excerptSize))
        }
        let key = record.key.flatMap { $0.count > limit / 2 ? nil : $0 }
        batch.append(topic: topic, partition: -1, key: key, value: value, headers: headers)
    }
}
