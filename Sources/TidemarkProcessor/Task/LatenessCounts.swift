/// How far accepted events were behind the watermark when they came: how many, their sum, and how many by some fixed bounds.
public struct LatenessCounts: Equatable, Sendable {
    /// The bounds, seconds; 0 is for events that were not behind at all.
    public static let bounds = [0, 10, 60, 600, 3_600, 21_600, 86_400]

    /// By bound, how many were no further behind than it and further than the bound before.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count)
    /// All there were.
    public private(set) var count = 0
    /// Sum, seconds.
    public private(set) var sum = 0

    /// None.
    public init() {}

    /// Adds an event.
    ///
    /// - Parameter seconds: how far it is behind the watermark; not above 0 where it is not.
    @inline(__always)
    public mutating func add(_ seconds: Int) {
        count += 1
        guard seconds > 0 else { return counts[0] += 1 }
        sum += seconds
        var place = 1
        while place < LatenessCounts.bounds.count, seconds > LatenessCounts.bounds[place] { place += 1 }
        if place < counts.count { counts[place] += 1 }
    }

    /// Adds other counts.
    public static func += (left: inout LatenessCounts, right: LatenessCounts) {
        for place in left.counts.indices { left.counts[place] += right.counts[place] }
        left.count += right.count
        left.sum += right.sum
    }
}
