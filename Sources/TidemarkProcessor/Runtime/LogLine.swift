/// A line of a process's log: what a person running it should know. Never holds what events say.
public struct LogLine: Sendable {
    /// How much it matters.
    public enum Level: String, CaseIterable, Sendable {
        /// Ordinary operation.
        case info
        /// Something that the process copes with, but that should not go on.
        case warning = "warn"
        /// Something that ends the process or a part of it.
        case error
    }

    /// How much it matters.
    public var level: Level
    /// The text.
    public var message: String
    /// `application_id`.
    public var application: String
    /// Name of the process among those of its application, once it has one.
    public var instance: String?
    /// The thread that it comes from, for example `worker-0`.
    public var loop: String?
    /// The partition that it is about.
    public var partition: Int32?

    /// A line.
    public init(
        _ message: String, level: Level = .info, application: String, instance: String? = nil, loop: String? = nil,
        partition: Int32? = nil
    ) {
        self.message = message
        self.application = application
        self.instance = instance
        self.level = level
        self.loop = loop
        self.partition = partition
    }
}
