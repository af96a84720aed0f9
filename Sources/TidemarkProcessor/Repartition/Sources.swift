internal import TidemarkKafka

/// All partitions of the source topics, numbered: those of the first topic, then those of the next.
struct Sources: Equatable, Sendable {
    struct Topic: Equatable, Sendable {
        let name: String
        let partitions: Int
        /// The number of its partition 0.
        let first: Int
        fileprivate let bytes: [UInt8]
    }

    let topics: [Topic]
    /// How many partitions there are in all.
    let count: Int

    /// - Parameter topics: the source topics in the configured order, each with its number of partitions.
    init(_ topics: [(name: String, partitions: Int)]) {
        var all: [Topic] = []
        var count = 0
        for (name, partitions) in topics {
            all.append(Topic(name: name, partitions: partitions, first: count, bytes: Array(name.utf8)))
            count += partitions
        }
        self.topics = all
        self.count = count
    }

    /// The number of a partition; `nil` for one that is not among the sources.
    func number(of place: TopicPartition) -> Int? {
        guard let topic = topics.first(where: { $0.name == place.topic }), place.partition >= 0,
            place.partition < topic.partitions
        else { return nil }
        return topic.first + Int(place.partition)
    }

    /// How many partitions a topic has; 0 for one that is not among the sources.
    func partitions(of topic: String) -> Int { topics.first { $0.name == topic }?.partitions ?? 0 }

    /// The place of a topic among the topics, by the bytes of its name.
    func index(ofTopic name: UnsafeRawBufferPointer) -> Int? {
        topics.firstIndex { $0.bytes.count == name.count && name.elementsEqual($0.bytes) }
    }

    /// Watermarks by topic and partition, as position records have them.
    func byTopic(_ marks: [UInt32]) -> [String: [UInt32]] {
        topics.reduce(into: [:]) { $0[$1.name] = Array(marks[$1.first..<$1.first + $1.partitions]) }
    }

    /// The reverse of `byTopic`; `nil` where topics or their partitions are others.
    func marks(_ byTopic: [String: [UInt32]]) -> [UInt32]? {
        guard byTopic.count == topics.count else { return nil }
        var marks: [UInt32] = []
        for topic in topics {
            guard let part = byTopic[topic.name], part.count == topic.partitions else { return nil }
            marks += part
        }
        return marks
    }
}
