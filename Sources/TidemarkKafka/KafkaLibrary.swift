internal import CRdKafka

/// Facts about the linked librdkafka.
public enum KafkaLibrary {
    /// Version in words, such as `2.0.2`.
    public static var version: String { String(cString: rd_kafka_version_str()) }

    /// Version as `0xMMmmrrpp` (major, minor, revision, pre-release), for comparisons.
    public static var versionNumber: Int { Int(rd_kafka_version()) }
}

extension KafkaLibrary {
    /// Whether SASL/SCRAM works with current brokers. Kafka 3.8.1 and newer refuse the exchange of librdkafka before 2.6.1 and
    /// say "invalid credentials" to the right password.
    public static var supportsScram: Bool { versionNumber >= 0x0206_0100 }

    /// A warning for properties that this version cannot serve well.
    static func warning(for properties: [String: String]) -> KafkaLogLine? {
        let mechanism = properties["sasl.mechanism"] ?? properties["sasl.mechanisms"] ?? ""
        guard mechanism.hasPrefix("SCRAM"), !supportsScram else { return nil }
        return KafkaLogLine(
            level: 4, facility: "SCRAM",
            message:
                "\(mechanism) with librdkafka \(version) fails against Kafka 3.8.1 and newer as if the password were "
                + "wrong; use librdkafka 2.6.1 or newer, or PLAIN over TLS")
    }
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
