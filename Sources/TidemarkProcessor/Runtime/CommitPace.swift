/// Decides when a worker commits.
///
/// A commit costs by the users that it is of, so that one with more events of each costs less per event. While a backlog is worked off,
/// nobody waits for the newest rows: several commit intervals become one then.
struct CommitPace {
    /// Records of one transaction at most.
    static let recordLimit = 500_000
    /// How many commit intervals may become one.
    static let backlogIntervals = 4
    /// Fewer records than this are no backlog, whatever waits behind them.
    static let smallestBacklog = 10_000

    /// See `commit_interval`.
    let interval: Duration
    /// Bytes of dead letters of one transaction at most.
    let byteLimit: Int

    /// Whether a commit is due.
    ///
    /// - Parameters:
    ///   - elapsed: the time since the last one.
    ///   - records: taken since then, with `bytes` of dead letters.
    ///   - isIdle: whether nothing came with the last poll: then there is nothing to wait for.
    ///   - left: how many records are still to be read, by what the brokers said last; asked only when it matters.
    func isDue(after elapsed: Duration, records: Int, bytes: Int, isIdle: Bool, left: () -> Int) -> Bool {
        if records >= CommitPace.recordLimit || bytes >= byteLimit { return true }
        guard elapsed >= interval else { return false }
        guard elapsed < interval * CommitPace.backlogIntervals, !isIdle, records >= CommitPace.smallestBacklog else {
            return true
        }
        return left() < records
    }
}
