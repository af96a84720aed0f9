/// Which partitions of a topic know a producer: those that have taken its first record.
///
/// Until a partition does, nothing may be sent behind the first request to it. It takes whatever number comes first, so that behind a first request
/// that it refuses, for it is just being set up or moved, a second one would be taken, and librdkafka (2.0.2) would hold both for delivered.
/// Once it knows the producer it refuses what comes out of turn, and any number of requests may be under way.
struct FirstRecords {
    private enum State { case unknown, underWay, known }

    private var states: [State]
    /// Whether every partition knows the producer.
    private(set) var areKnown: Bool

    /// - Parameter partitions: how many there are.
    init(partitions: Int) {
        states = Array(repeating: .unknown, count: partitions)
        areKnown = partitions == 0
    }

    /// Whether a record for a partition may be sent now; if not, what is under way has to arrive first. If so, it counts as sent.
    mutating func admit(_ partition: Int) -> Bool {
        guard states[partition] != .underWay else { return false }
        if states[partition] == .unknown { states[partition] = .underWay }
        return true
    }

    /// Notes that all that was under way has arrived.
    mutating func arrived() {
        for place in states.indices where states[place] == .underWay { states[place] = .known }
        areKnown = states.allSatisfy { $0 == .known }
    }
}
