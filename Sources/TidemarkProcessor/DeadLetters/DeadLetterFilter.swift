/// Which dead letters are wanted; what is empty or `nil` asks for nothing.
public struct DeadLetterFilter: Sendable {
    /// Names of reasons.
    public var codes: Set<String> = []
    /// Input topics that the records came from.
    public var topics: Set<String> = []
    /// Ids, or places without the time, see `RecordOrigin`.
    public var ids: Set<String> = []
    /// From when on they were refused, milliseconds since the epoch.
    public var from: Int64?
    /// Before when they were refused, milliseconds since the epoch.
    public var to: Int64?
    /// Partition of the dead-letter topic.
    public var partition: Int32?
    /// Offsets in the dead-letter topic.
    public var offsets: ClosedRange<Int64>?

    /// All of them.
    public init() {}

    /// Whether a dead letter is wanted.
    public func matches(_ letter: DeadLetter) -> Bool {
        (codes.isEmpty || codes.contains(letter.code))
            && (topics.isEmpty || topics.contains(letter.origin.topic))
            && (ids.isEmpty || ids.contains(letter.id) || ids.contains(letter.identity.place))
            && letter.time >= from ?? .min && letter.time < to ?? .max
            && (partition ?? letter.partition) == letter.partition
            && offsets?.contains(letter.offset) != false
    }
}
