/// How long to wait before the next attempt: twice as long each time, and not all clients at the same moment.
public struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    /// Attempts that failed since the last success.
    public private(set) var failures = 0

    /// - Parameters:
    ///   - first: before the second attempt.
    ///   - longest: never longer than this.
    public init(first: Duration = .milliseconds(200), longest: Duration = .seconds(10)) {
        self.first = first
        self.longest = longest
    }

    /// Forgets the failures.
    public mutating func reset() { failures = 0 }

    /// Notes a failure.
    ///
    /// - Parameter random: from 0 to 1, which takes up to half of the time away.
    /// - Returns: how long to wait now.
    public mutating func next(random: Double = .random(in: 0...1)) -> Duration {
        let full = min(first * (1 << min(failures, 20)), longest)
        failures += 1
        return full * (1 - random / 2)
    }
}
