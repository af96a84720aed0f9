/// The watermarks of all source partitions, where events were judged before they were brought together by user.
///
/// What is below the lowest of them, less the allowed lateness, can no longer come: a source that is days ahead makes nothing of the
/// others final.
public struct SourceWatermarks: Equatable, Sendable {
    /// The greatest accepted event time of each source, seconds since the epoch; 0 where no event of it is known yet, for its first one may
    /// be of any time.
    public private(set) var marks: [UInt32]
    /// The lowest of all as of the last `settle`.
    public private(set) var minimum: UInt32 = 0

    /// Watermarks of so many sources without events.
    public init(count: Int) { marks = Array(repeating: 0, count: count) }

    /// Notes how far a source was read. Watermarks never move back.
    @inline(__always)
    public mutating func raise(_ source: Int, to mark: UInt32) {
        if mark > marks[source] { marks[source] = mark }
    }

    /// Takes what was noted into account for `minimum`: once per commit, for it looks at all sources.
    public mutating func settle() { minimum = marks.min() ?? 0 }
}
