/// Something that ends `run`: what is wrong, where, and what to do. Going on could harm, or cannot work.
public struct RunFailure: Error, CustomStringConvertible, Sendable {
    /// The whole message.
    public let description: String

    /// A failure with its message.
    public init(_ description: String) { self.description = description }
}

/// Ends what a worker or an aggregator was doing before it had anything to commit, because the process is to stop.
struct Stopped: Error {}

/// Something that a worker or an aggregator recovers from by starting over: its state is dropped and restored from what is committed.
struct Restart: Error, CustomStringConvertible {
    let description: String
}
