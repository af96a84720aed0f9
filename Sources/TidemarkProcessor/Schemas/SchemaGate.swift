internal import TidemarkKafka
internal import TidemarkRegistry

/// Holds the records of a task, or of a source partition, back from the first one on whose writer schema is not there yet.
///
///     open ──(record that needs a schema)──► closed ──(the schema, or that there is none)──► open
///
/// While it is closed, its partitions are not fetched; what still comes is kept in order. Everything else of the thread goes on.
struct SchemaGate {
    /// A record that is held back, and the number of its topic.
    typealias Held = (record: CopiedRecord, topic: Int)

    /// How long a wait may take before it is worth a line, and between two lines.
    private static let patience = Duration.seconds(1)
    private static let noteInterval = Duration.seconds(30)

    /// The partition of each topic.
    let places: [TopicPartition]
    /// What is waited for; `nil` while the gate is open.
    private(set) var wait: SchemaWait?
    private var held: [Held] = []
    /// By topic: the next offset to come.
    private var received: [Int64]
    /// By topic: where it ended when it was last read to its end, while the gate was closed.
    private var ends: [Int64?]
    private var changes: [FetchChange] = []
    private var nextNote: ContinuousClock.Instant?
    private var isNoted = false

    /// - Parameter places: the partition of each topic.
    init(_ places: [TopicPartition]) {
        self.places = places
        received = Array(repeating: 0, count: places.count)
        ends = Array(repeating: nil, count: places.count)
    }

    var isClosed: Bool { wait != nil }

    /// Closes, from this record on.
    mutating func close(_ wait: SchemaWait, _ record: ConsumedRecord, of topic: Int, now: ContinuousClock.Instant) {
        self.wait = wait
        nextNote = nextNote ?? now + SchemaGate.patience
        changes = places.indices.map { FetchChange(partition: places[$0], isPaused: true, next: 0) }
        hold(record, of: topic)
    }

    /// Keeps a record that came while the gate is closed; one that came before is ignored.
    ///
    /// - Returns: whether it is kept.
    @discardableResult
    mutating func hold(_ record: ConsumedRecord, of topic: Int) -> Bool {
        guard record.offset >= received[topic] else { return false }
        received[topic] = record.offset + 1
        held.append((record.copy(), topic))
        return true
    }

    /// Notes that a topic was read to its end while the gate is closed.
    mutating func reachedEnd(of topic: Int, offset: Int64) {
        received[topic] = max(received[topic], offset)
        ends[topic] = offset
    }

    /// Keeps waiting, with what is known of it now.
    mutating func keepWaiting(_ wait: SchemaWait) { self.wait = wait }

    /// Opens.
    ///
    /// - Parameter stillPaused: partitions that something else does not want fetched.
    /// - Returns: the records that were held, in their order, and the ends of topics behind them.
    mutating func open(stillPaused: [TopicPartition]) -> (records: [Held], ends: [(topic: Int, offset: Int64)]) {
        let result = (held, places.indices.compactMap { topic in ends[topic].map { (topic, $0) } })
        changes = places.indices.filter { !stillPaused.contains(places[$0]) }.map {
            FetchChange(partition: places[$0], isPaused: false, next: received[$0])
        }
        (wait, held) = (nil, [])
        forgetPlaces()
        return result
    }

    /// Forgets what is held: should the partitions be read on, it comes again.
    mutating func removeAll() {
        (wait, held, changes, nextNote, isNoted) = (nil, [], [], nil, false)
        forgetPlaces()
    }

    private mutating func forgetPlaces() {
        received = Array(repeating: 0, count: places.count)
        ends = Array(repeating: nil, count: places.count)
    }

    /// The next partition whose fetching should change.
    mutating func takeFetchChange() -> FetchChange? { changes.popLast() }

    /// What to say of the wait, now and then.
    ///
    /// - Parameter addresses: where the schema has to come from.
    mutating func takeNote(addresses: String, now: ContinuousClock.Instant) -> String? {
        guard let nextNote, nextNote <= now else { return nil }
        guard let wait else {
            defer { (self.nextNote, isNoted) = (nil, false) }
            return isNoted ? "goes on, no longer waiting for schemas" : nil
        }
        self.nextNote = now + SchemaGate.noteInterval
        isNoted = true
        return wait.text(addresses: addresses, now: now)
    }
}

extension SchemaWait {
    /// The wait in words, for logs and health pages.
    func text(addresses: String, now: ContinuousClock.Instant) -> String {
        let seconds = Int(since.duration(to: now) / .seconds(1))
        return "waiting for schema \(id) from \(addresses) since \(seconds) s" + (problem.map { ": \($0)" } ?? "")
    }
}
