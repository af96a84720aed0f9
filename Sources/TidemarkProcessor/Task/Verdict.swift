public import TidemarkEvents

/// What became of an event (`spec/attribution.md` section 2). Nothing ends any other way.
public enum Verdict: Equatable, Sendable {
    /// Counted.
    case accepted
    /// Its user already had an event with the same id.
    case duplicate
    /// Of a type that neither rules nor reports name, or a tombstone.
    case skipped
    /// Sent to the dead-letter topic.
    case deadLetter(RejectionCode)

    /// The code in verdict logs; never renumber.
    var code: UInt8 {
        switch self {
        case .accepted: 0
        case .duplicate: 1
        case .skipped: 2
        case .deadLetter(let code): 16 + code.number
        }
    }
}

/// How many events ended how.
public struct VerdictCounts: Equatable, Sendable {
    /// Counted events.
    public var accepted = 0
    /// Events that came again.
    public var duplicates = 0
    /// Events of types that are not ours, and tombstones.
    public var skipped = 0
    /// Dead letters, by code.
    public var deadLetters: [RejectionCode: Int] = [:]

    /// None.
    public init() {}

    /// All dead letters together.
    public var deadLetterTotal: Int { deadLetters.values.reduce(0, +) }

    /// Counts one event.
    mutating func count(_ verdict: Verdict) {
        switch verdict {
        case .accepted: accepted += 1
        case .duplicate: duplicates += 1
        case .skipped: skipped += 1
        case .deadLetter(let code): deadLetters[code, default: 0] += 1
        }
    }

    /// Adds other counts.
    public static func += (left: inout VerdictCounts, right: VerdictCounts) {
        left.accepted += right.accepted
        left.duplicates += right.duplicates
        left.skipped += right.skipped
        left.deadLetters.merge(right.deadLetters, uniquingKeysWith: +)
    }
}
