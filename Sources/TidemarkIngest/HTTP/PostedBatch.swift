internal import Synchronization
internal import TidemarkKafka

/// The records of one post on their way to Kafka. Whoever sent it gets an answer when the brokers have them all, or when the last of
/// them is given up.
final class PostedBatch: Sendable {
    /// Records without a report, and one for whoever still adds records.
    private let open = Atomic<Int>(1)
    /// The code of the first failure.
    private let failure = Atomic<Int32>(0)
    private let complete: @Sendable (KafkaError.Code?) -> Void

    /// - Parameter complete: called once, on any thread, with the first failure.
    init(complete: @escaping @Sendable (KafkaError.Code?) -> Void) { self.complete = complete }

    /// The token of each of its records. The batch lives until it is complete.
    func begin() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// A record is about to be sent.
    func add() { open.add(1, ordering: .relaxed) }

    /// A record was not taken, or all have been sent, or `settle` has heard of one.
    func close(_ code: KafkaError.Code? = nil) {
        if let code { _ = failure.compareExchange(expected: 0, desired: code.rawValue, ordering: .relaxed) }
        guard open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        let code = failure.load(ordering: .relaxed)
        complete(code == 0 ? nil : KafkaError.Code(rawValue: code))
        Unmanaged.passUnretained(self).release()
    }

    /// The report of a record.
    static func settle(_ token: UnsafeMutableRawPointer, _ code: KafkaError.Code?) {
        Unmanaged<PostedBatch>.fromOpaque(token).takeUnretainedValue().close(code)
    }
}
