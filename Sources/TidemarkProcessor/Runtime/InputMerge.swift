/// Puts the records of several input topics into one order: the lowest timestamp next, of equal ones the first topic's.
///
/// A topic without a waiting record holds the others up until it has been read to its end, because what is still on the way may be
/// older than what is here. A topic of which more waits than the limits allow should not be read until enough was taken.
struct InputMerge<Record> {
    /// How much of one topic may wait before it should no longer be read.
    struct Limits {
        var records: Int
        var bytes: Int
    }

    /// A topic that should not be read for now, or should be read again.
    struct FlowChange: Equatable {
        var topic: Int
        var isPaused: Bool
    }

    private struct Waiting {
        var record: Record
        var timestamp: Int64
        var size: Int
    }

    private struct Lane {
        /// Waiting records, those before `first` taken.
        var records: [Waiting?] = []
        var first = 0
        var bytes = 0
        /// Where the topic ends; `nil` while more may come at once.
        var end: Int64?
        var isPaused = false

        var count: Int { records.count - first }
        var head: Waiting? { first < records.count ? records[first] : nil }

        mutating func removeHead() {
            bytes -= records[first]?.size ?? 0
            records[first] = nil
            first += 1
            // Half of it taken: moving the rest costs no more than was gained.
            if first * 2 >= records.count {
                records.removeFirst(first)
                first = 0
            }
        }
    }

    private var lanes: [Lane]
    private let limits: Limits
    private var flowChanges: [FlowChange] = []

    /// A merge of topics that are known by their numbers, none of them read so far.
    init(topics: Int, limits: Limits) {
        lanes = Array(repeating: Lane(), count: topics)
        self.limits = limits
    }

    /// How many records wait.
    var waitingCount: Int { lanes.reduce(0) { $0 + $1.count } }

    /// Whether a record that has just come from a topic is the next one of all.
    func isNext(_ timestamp: Int64, of topic: Int) -> Bool {
        guard lanes[topic].count == 0 else { return false }
        for (other, lane) in lanes.enumerated() where other != topic {
            guard let head = lane.head else {
                if lane.end == nil { return false }
                continue
            }
            if (head.timestamp, other) < (timestamp, topic) { return false }
        }
        return true
    }

    /// Notes that a record of a topic was taken without waiting.
    mutating func pass(_ topic: Int) { lanes[topic].end = nil }

    /// Lets a record wait for its turn.
    mutating func append(_ record: Record, timestamp: Int64, size: Int, of topic: Int) {
        lanes[topic].records.append(Waiting(record: record, timestamp: timestamp, size: size))
        lanes[topic].bytes += size
        lanes[topic].end = nil
        guard !lanes[topic].isPaused, lanes[topic].count >= limits.records || lanes[topic].bytes >= limits.bytes else {
            return
        }
        lanes[topic].isPaused = true
        flowChanges.append(FlowChange(topic: topic, isPaused: true))
    }

    /// Notes that a topic was read to its end, which holds until another record of it comes.
    mutating func reachedEnd(of topic: Int, offset: Int64) { lanes[topic].end = offset }

    /// Where a topic ends, once it was read up to there and all its records were taken.
    func end(of topic: Int) -> Int64? { lanes[topic].count == 0 ? lanes[topic].end : nil }

    /// The next record; `nil` when there is none, or when an older one may be on the way.
    mutating func next() -> (record: Record, topic: Int)? {
        var best: (timestamp: Int64, topic: Int)?
        for (topic, lane) in lanes.enumerated() {
            guard let head = lane.head else {
                if lane.end == nil { return nil }
                continue
            }
            if best.map({ head.timestamp < $0.timestamp }) ?? true { best = (head.timestamp, topic) }
        }
        guard let topic = best?.topic, let record = lanes[topic].head?.record else { return nil }
        lanes[topic].removeHead()
        if lanes[topic].isPaused, lanes[topic].count <= limits.records / 2, lanes[topic].bytes <= limits.bytes / 2 {
            lanes[topic].isPaused = false
            flowChanges.append(FlowChange(topic: topic, isPaused: false))
        }
        return (record, topic)
    }

    /// The next topic whose reading should change, in the order in which that came about.
    mutating func takeFlowChange() -> FlowChange? { flowChanges.isEmpty ? nil : flowChanges.removeFirst() }

    /// The topics that are not read for now.
    var pausedTopics: [Int] { lanes.indices.filter { lanes[$0].isPaused } }

    /// Forgets what waits and what was reached.
    ///
    /// - Returns: the topics that are not read for now.
    mutating func removeAll() -> [Int] {
        defer {
            lanes = Array(repeating: Lane(), count: lanes.count)
            flowChanges.removeAll()
        }
        return pausedTopics
    }
}
