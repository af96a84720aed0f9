/// Tells when a consumer's client should be woken, so that it goes on fetching before its queue is empty.
///
/// Once its queue is full, librdkafka before 2.2 looks again after a second, unless something wakes the threads of the brokers; with a queue
/// that is worked off in less, most of that second is lost. (Since 2.2 `fetch.queue.backoff.ms` sets the time.)
struct FetchWaker {
    /// Bytes of records that the client queues.
    private let limit: Int
    /// The longest that the queue was since the client was woken, in records.
    private var peak = 0
    /// Of the last records that were handed out.
    private var recordSize = 0

    /// - Parameters:
    ///   - properties: of the consumer.
    ///   - version: of the library, as `KafkaLibrary.versionNumber`.
    init?(_ properties: [String: String], version: Int = KafkaLibrary.versionNumber) {
        guard version < 0x0202_0000 else { return nil }
        limit = (properties["queued.max.messages.kbytes"].flatMap(Int.init) ?? 65_536) << 10
    }

    /// Whether a queue that was at least half full has become half as long since the client was woken.
    ///
    /// - Parameter length: of the queue, in records.
    mutating func shouldWake(length: Int) -> Bool {
        peak = max(peak, length)
        guard length <= peak / 2, peak * recordSize >= limit / 2 else { return false }
        peak = length
        return true
    }

    /// Notes what was handed out.
    ///
    /// - Parameter bytes: of keys and values.
    mutating func note(records: Int, bytes: Int) {
        if records > 0 { recordSize = bytes / records }
    }
}
