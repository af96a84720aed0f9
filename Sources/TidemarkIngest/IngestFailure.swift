public import TidemarkProcessor

/// Why events cannot be brought in: what is wrong and what to do.
public struct IngestFailure: Error, CustomStringConvertible, Sendable {
    /// For people.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Writes lines of the log, from any thread. They never hold what events or requests say.
public struct IngestLog: Sendable {
    private let write: @Sendable (_ message: String, _ level: LogLine.Level) -> Void

    /// A log that passes lines on.
    public init(_ write: @escaping @Sendable (_ message: String, _ level: LogLine.Level) -> Void) { self.write = write }

    /// Writes a line.
    public func callAsFunction(_ message: String, _ level: LogLine.Level = .info) { write(message, level) }
}
