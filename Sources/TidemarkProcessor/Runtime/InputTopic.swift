internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// What is known of the records of one input topic before they are read.
struct InputTopic {
    let name: String
    /// The event type that the topic implies: from the configured map, else from the topic's own name.
    let type: TopicType
    /// Name of the header that may carry the event type.
    let header: [CChar]

    init(_ name: String, _ input: Configuration.Input) {
        self.name = name
        type = input.topicTypes[name].map { TopicType.named($0) } ?? TopicType.of(topic: name)
        header = Array(input.typeHeader.utf8CString)
    }

    /// What helps to decode a record; valid as long as the record.
    func hint(_ record: ConsumedRecord) -> TypeHint {
        let value = header.withUnsafeBufferPointer { record.header(named: $0.baseAddress!) }
        return TypeHint(header: value.map { ByteView($0) } ?? .null, topic: type)
    }
}
