/// What a topic says about the type of the records on it.
public enum TopicType: Equatable, Sendable {
    /// All records are of this type.
    case known(EventType)
    /// The topic names a type, but none that the rules know: records without a type of their own are skipped.
    case unknown
    /// The topic says nothing.
    case none

    /// The type that a topic's name spells in its last dotted parts, whatever comes before them.
    ///
    /// `braze.users.messages.pushnotification.Send` is a push Send. A `users.` part whose end looks like a type (it
    /// begins with a capital, as every type does) but is not ours makes `unknown`; `prod.users.events` says nothing.
    public static func of(topic: String) -> TopicType {
        let parts = topic.split(separator: ".", omittingEmptySubsequences: false)
        var namesSomeType = false
        for index in parts.indices.dropLast() where parts[index] == "users" {
            let name = parts[index...].joined(separator: ".")
            if case .known(let type) = TopicType.named(name) { return .known(type) }
            if let initial = parts[parts.count - 1].utf8.first,
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(initial)
            {
                namesSomeType = true
            }
        }
        return namesSomeType ? .unknown : .none
    }

    /// The type of a topic that the configuration maps to this wire name.
    public static func named(_ wireName: String) -> TopicType {
        guard !wireName.isEmpty else { return .none }
        var name = wireName
        let type = name.withUTF8 { EventType(wireName: ByteView(UnsafeRawBufferPointer($0))) }
        return type.map { .known($0) } ?? .unknown
    }
}

/// What is known from outside about the type of a record. The record's own `event_type` comes first, then the header,
/// then the topic.
public struct TypeHint {
    /// The value of the record's type header; null where there is none.
    public var header: ByteView
    /// What the topic says.
    public var topic: TopicType

    /// Nothing is known.
    public static var none: TypeHint { TypeHint() }

    /// A hint from a header, a topic, both or neither.
    @inlinable
    public init(header: ByteView = .null, topic: TopicType = .none) {
        self.header = header
        self.topic = topic
    }
}
