public import TidemarkEvents
public import TidemarkProcessor

/// What the endpoint has done so far, and how it stands.
public struct IngestStatus: Equatable, Sendable {
    /// Where the process is in its life.
    public enum Phase: Sendable {
        /// Takes posts.
        case running
        /// Answers what it has taken, and takes nothing more.
        case stopping
    }

    /// Where the process is in its life.
    public var phase = Phase.running
    /// Answers by status code.
    public var answers: [Int: Int] = [:]
    /// Events that Kafka has acknowledged in the input topic.
    public var events = 0
    /// Events that Kafka has acknowledged in the dead-letter topic, by code.
    public var deadLetters: [RejectionCode: Int] = [:]
    /// Bodies that were complete, bytes as they were sent.
    public var receivedBytes = 0
    /// How long acknowledged batches took from the end of the body to the answer.
    public var durations = DurationHistogram()
    /// Whether Kafka is known not to take records.
    public var isKafkaAway = false
    /// Open connections.
    public var connections = 0
    /// Requests that are not answered in full.
    public var requests = 0
    /// Bodies that are held now, bytes.
    public var heldBytes = 0
    /// Connections that were closed because they were too slow.
    public var slowConnections = 0
    /// Requests that broke off before their body was complete.
    public var brokenOff = 0

    /// Nothing done yet.
    public init() {}
}
