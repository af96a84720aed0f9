internal import TidemarkEvents

/// An event on its way to Kafka: the sender's own bytes, and what says where it belongs. Valid as long as the body that it is part of.
struct PostedEvent {
    /// The event as it was sent.
    var value = ByteView.null
    /// `user_id`, the key of its record; null where it names none.
    var key = ByteView.null
    /// `event_type`, known to the rules or not; null where it names none.
    var type = ByteView.null
}

/// What became of one event of a body.
enum PostedOutcome: Equatable {
    /// Goes to the input topic.
    case event
    /// Goes to the dead-letter topic; `index` is its place in the batch, `nil` where it came alone.
    case refused(Rejection, index: Int?)
}

/// What a body holds.
enum PostedBody: Equatable {
    /// Nothing: somebody looks whether the endpoint is there.
    case nothing
    /// Events, if only none.
    case events
    /// What can never be read, however often it is sent.
    case unreadable(Rejection)
}
