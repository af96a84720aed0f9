internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// What is known of the records of one input topic before they are read.
///
/// A class, because it goes along with each record: a reference is cheaper to hand on than its fields.
final class InputTopic: Sendable {
    let name: String
    /// Its place among the configured topics.
    let index: Int
    /// The event type that the topic implies: from the configured map, else from the topic's own name.
    let type: TopicType
    /// The writer schema of Avro values that do not name theirs.
    let schema: AvroSchema?
    /// Name of the header that may carry the event type.
    let header: [CChar]

    init(_ name: String, index: Int, _ input: Configuration.Input, schema: AvroSchema? = nil) {
        self.name = name
        self.index = index
        self.schema = schema
        type = input.topicTypes[name].map { TopicType.named($0) } ?? TopicType.of(topic: name)
        header = Array(input.typeHeader.utf8CString)
    }

    /// All topics that tasks read, in the configured order.
    static func all(_ context: RunContext) -> [InputTopic] { make(context.topics.taskInputs, context) }

    /// All topics in which events come, in the configured order.
    static func sources(_ context: RunContext) -> [InputTopic] { make(context.topics.inputs, context) }

    private static func make(_ names: [String], _ context: RunContext) -> [InputTopic] {
        names.enumerated().map { index, name in
            InputTopic(name, index: index, context.configuration.input, schema: context.schemas.ofTopics[name])
        }
    }

    /// What helps to decode a record; valid as long as the record.
    func hint(_ record: ConsumedRecord) -> TypeHint {
        let value = header.withUnsafeBufferPointer { record.header(named: $0.baseAddress!) }
        return TypeHint(header: value.map { ByteView($0) } ?? .null, topic: type)
    }
}
