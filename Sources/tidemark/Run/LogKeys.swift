/// The keys of structured log lines, in the order in which they are written. `docs/operations.md` explains them.
enum LogKeys {
    /// When, UTC with milliseconds.
    static let time = "time"
    /// `info`, `warn` or `error`.
    static let level = "level"
    /// `application_id`.
    static let application = "application"
    /// Name of the process among those of the application; absent before it has one.
    static let instance = "instance"
    /// The thread, for example `worker-0` or `aggregator`.
    static let worker = "worker"
    /// The partition that the line is about.
    static let partition = "partition"
    /// The text.
    static let message = "message"
}
