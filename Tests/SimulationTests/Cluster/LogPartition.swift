import TidemarkKafka

/// A partition of a topic: records and markers of transactions, each at an offset that never changes.
final class LogPartition {
    /// A record, or the marker that ends a transaction.
    struct Entry {
        var offset: Int64
        var timestamp: Int64
        var key: [UInt8]?
        var value: [UInt8]?
        var headers: [KafkaHeader] = []
        /// The transaction that it belongs to, if any.
        var transaction: Int?
        var isMarker = false
    }

    let place: TopicPartition
    let handle: TopicHandle
    let isCompacted: Bool
    private(set) var entries: [Entry] = []
    /// The first offset.
    private(set) var start: Int64 = 0
    /// The next offset.
    private(set) var end: Int64 = 0
    /// Transactions without a marker so far, and where they begin.
    private var open: [(transaction: Int, first: Int64)] = []
    private var aborted: Set<Int> = []

    init(_ place: TopicPartition, handle: TopicHandle, isCompacted: Bool) {
        self.place = place
        self.handle = handle
        self.isCompacted = isCompacted
    }

    /// The first offset that is not decided.
    var stableEnd: Int64 { open.first?.first ?? end }

    func end(isCommitted: Bool) -> Int64 { isCommitted ? stableEnd : end }

    /// Whether a consumer of committed records gets the entry, once it is decided.
    func isCommitted(_ entry: Entry) -> Bool {
        !entry.isMarker && !(entry.transaction.map { aborted.contains($0) } ?? false)
    }

    /// Committed records, as a consumer would read all of them.
    var committed: [Entry] { entries.prefix { $0.offset < stableEnd }.filter(isCommitted) }

    /// The place of the first entry at an offset or behind it.
    func index(of offset: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a transaction has records here and no marker.
    func isOpen(_ transaction: Int) -> Bool { open.contains { $0.transaction == transaction } }

    // MARK: Writing

    @discardableResult
    func append(
        key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = [], timestamp: Int64, transaction: Int? = nil
    ) -> Int64 {
        if let transaction, !open.contains(where: { $0.transaction == transaction }) {
            open.append((transaction, end))
        }
        entries.append(
            Entry(
                offset: end, timestamp: timestamp, key: key, value: value, headers: headers, transaction: transaction))
        end += 1
        return end - 1
    }

    /// Ends a transaction here.
    func mark(_ transaction: Int, isCommit: Bool, timestamp: Int64) {
        entries.append(Entry(offset: end, timestamp: timestamp, transaction: transaction, isMarker: true))
        end += 1
        open.removeAll { $0.transaction == transaction }
        if !isCommit { aborted.insert(transaction) }
    }

    // MARK: Cleaning

    /// Compacts the log below an offset: of the decided records with one key the last stays, and aborted ones go.
    ///
    /// - Parameters:
    ///   - limit: up to where.
    ///   - keepsTombstone: whether the tombstone at an offset must stay for consumers that may need it.
    func compact(below limit: Int64, keepsTombstone: (Int64) -> Bool) {
        let count = index(of: min(limit, stableEnd))
        var last: [[UInt8]: Int64] = [:]
        for entry in entries[..<count] where isCommitted(entry) { last[entry.key ?? []] = entry.offset }
        let kept = entries[..<count].filter { entry in
            if entry.isMarker { return true }
            guard isCommitted(entry), last[entry.key ?? []] == entry.offset else { return false }
            return entry.value != nil || keepsTombstone(entry.offset)
        }
        entries.replaceSubrange(..<count, with: kept)
    }

    /// Removes what lies before an offset, as retention does.
    func truncate(before offset: Int64) {
        start = max(start, min(offset, stableEnd))
        entries.removeFirst(index(of: start))
    }
}
