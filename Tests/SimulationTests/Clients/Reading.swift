import TidemarkKafka

/// How a consumer reads one partition: what it has fetched, and how far that was handed out.
final class Reading {
    enum Item {
        case record(LogPartition.Entry)
        case end(Int64)
        case outOfRange
    }

    let log: LogPartition
    private let isCommitted: Bool
    /// Where handing out stands; where reading began before the first item.
    private(set) var place: Int64
    /// Whether anything was handed out.
    private(set) var hasPosition = false
    private(set) var isPaused = false
    private var next: Int64
    private var fetched: [Item] = []
    private var reportedEnd: Int64?
    private var isBroken = false

    init(_ log: LogPartition, from offset: Int64, isCommitted: Bool, isPaused: Bool) {
        self.log = log
        self.isCommitted = isCommitted
        self.isPaused = isPaused
        switch offset {
        case PartitionOffset.beginning: next = log.start
        case PartitionOffset.end: next = log.end(isCommitted: isCommitted)
        default: next = offset
        }
        place = next
    }

    /// Whether a fetch would bring something.
    var isFetchable: Bool {
        !isPaused && !isBroken && (next < log.end(isCommitted: isCommitted) || reportedEnd != next)
    }

    var hasItems: Bool { !isPaused && !fetched.isEmpty }

    /// Gets some records, and the end of the partition where they reach it.
    func fetch(max count: Int) {
        guard isFetchable else { return }
        let end = log.end(isCommitted: isCommitted)
        guard next >= log.start, next <= log.end else {
            isBroken = true
            return fetched.append(.outOfRange)
        }
        var left = count
        for entry in log.entries[log.index(of: next)...] {
            guard entry.offset < end, left > 0 else { break }
            next = entry.offset + 1
            guard !entry.isMarker, !isCommitted || log.isCommitted(entry) else { continue }
            fetched.append(.record(entry))
            left -= 1
        }
        guard left > 0 else { return }
        next = max(next, end)
        if reportedEnd != next { fetched.append(.end(next)) }
        reportedEnd = next
    }

    func take() -> Item {
        let item = fetched.removeFirst()
        hasPosition = true
        switch item {
        case .record(let entry): place = entry.offset + 1
        case .end(let offset): place = max(place, offset)
        case .outOfRange: break
        }
        return item
    }

    /// What was fetched and not handed out is fetched anew later.
    func pause() {
        isPaused = true
        fetched = []
        next = place
        reportedEnd = nil
    }

    func resume() { isPaused = false }
}
