/// Dead letters counted by reason and topic.
public struct DeadLetterSummary: Sendable {
    /// What they are counted by.
    public struct Key: Hashable, Sendable, Comparable {
        /// The reason.
        public var code: String
        /// The input topic.
        public var topic: String

        /// Orders by reason, then topic.
        public static func < (left: Self, right: Self) -> Bool { (left.code, left.topic) < (right.code, right.topic) }
    }

    /// One of them, as an example.
    public struct Sample: Equatable, Sendable {
        /// See `DeadLetter.id`.
        public var id: String
        /// When it was refused, milliseconds since the epoch.
        public var time: Int64
        /// The reason in words.
        public var message: String
    }

    /// Those of one reason and topic.
    public struct Group: Sendable {
        /// How many there are.
        public var count = 0
        /// How many of them were fed again.
        public var redriven = 0
        /// When the first and the last one were refused, milliseconds since the epoch.
        public var first = Int64.max
        /// See `first`.
        public var last = Int64.min
        /// The first ones that differ in their words.
        public var samples: [Sample] = []
    }

    /// All groups.
    public private(set) var groups: [Key: Group] = [:]
    private let sampleCount: Int

    /// - Parameter samples: how many samples are kept of each group.
    public init(samples: Int) { sampleCount = samples }

    /// Counts one.
    public mutating func add(_ letter: DeadLetter, isRedriven: Bool) {
        let key = Key(code: letter.code, topic: letter.origin.topic)
        var group = groups.removeValue(forKey: key) ?? Group()
        group.count += 1
        if isRedriven { group.redriven += 1 }
        group.first = min(group.first, letter.time)
        group.last = max(group.last, letter.time)
        if group.samples.count < sampleCount, !group.samples.contains(where: { $0.message == letter.message }) {
            group.samples.append(Sample(id: letter.id, time: letter.time, message: letter.message))
        }
        groups[key] = group
    }
}
