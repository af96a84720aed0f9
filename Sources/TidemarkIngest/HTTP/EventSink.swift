internal import TidemarkEvents
internal import TidemarkKafka

/// Where events go. Any thread may send.
protocol EventSink: AnyObject, Sendable {
    /// Whether Kafka is known not to take records now.
    var isAway: Bool { get }

    /// Sends an event to the input topic. Its bytes stay in place until `PostedBatch.settle` hears of `token`.
    ///
    /// - Returns: why it was not taken; `nil` where it was.
    func send(_ event: PostedEvent, token: UnsafeMutableRawPointer) -> KafkaError.Code?

    /// Sends an event to the dead-letter topic, in the same way.
    func refuse(
        _ event: PostedEvent, _ rejection: Rejection, index: Int?, token: UnsafeMutableRawPointer
    ) -> KafkaError.Code?
}
