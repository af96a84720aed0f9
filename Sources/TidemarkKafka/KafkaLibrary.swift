internal import CRdKafka

/// Facts about the linked librdkafka.
public enum KafkaLibrary {
    /// Version in words, such as `2.0.2`.
    public static var version: String { String(cString: rd_kafka_version_str()) }

    /// Version as `0xMMmmrrpp` (major, minor, revision, pre-release), for comparisons.
    public static var versionNumber: Int { Int(rd_kafka_version()) }
}

/// A line that the Kafka client wants logged.
public struct KafkaLogLine: Sendable {
    /// Severity as in syslog: 3 error, 4 warning, 5 notice, 6 info, 7 debug.
    public let level: Int
    /// Short tag of the place in the client, such as `FAIL`; `ERROR` for errors of the client as a whole.
    public let facility: String
    /// The text.
    public let message: String
}
