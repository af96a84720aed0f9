import Foundation

/// What the product knows of the librdkafka properties that pass through it.
enum KafkaProperties {
    /// The properties that the product sets itself, and why they are not the user's to set.
    static let owned: [String: String] = [
        "group.id": "the consumer group is named by `application_id`",
        "transactional.id": "transactional ids follow from `application_id` and `instance`",
        "enable.auto.commit": "offsets are committed in the transactions that carry the results",
        "auto.commit.enable": "offsets are committed in the transactions that carry the results",
        "enable.auto.offset.store": "offsets are committed in the transactions that carry the results",
        "isolation.level": "only committed records may be counted",
        "auto.offset.reset": "an input that lost its position must stop, not skip or repeat records",
        "enable.idempotence": "transactions need it on",
        "partition.assignment.strategy": "one worker must own the same partition of every input topic",
        "partitioner": "records are placed by the hash that Kafka's own clients use",
        "enable.partition.eof": "recovery needs to know when a partition is read to its end",
        "metadata.broker.list": "brokers are named by `kafka.bootstrap.servers`",
    ]

    /// What stands for a secret in all output.
    static let stars = "*****"

    /// What is wrong with them as a value.
    static var starsProblem: ValueProblem {
        ValueProblem("`\(stars)` stands for a secret that was hidden; write the secret, env:NAME or file:/path")
    }

    private static let secretParts = [
        "password", "secret", "ssl.key.pem", "sasl.oauthbearer.config", "passphrase", "token.value",
    ]

    /// Whether the value of a property must never be shown.
    static func isSecret(_ property: String) -> Bool { secretParts.contains { property.contains($0) } }

    /// The properties whose bounds the product checks; librdkafka checks the rest.
    private static let timeouts: Set<String> = ["transaction.timeout.ms", "session.timeout.ms"]

    static func write(
        _ property: String, _ value: String, _ configuration: inout Configuration
    ) throws(ValueProblem) {
        if let reason = owned[property] { throw ValueProblem("is set by Tidemark itself: \(reason); remove it") }
        if timeouts.contains(property) {
            guard let number = Int(value), number > 0 else {
                throw ValueProblem("`\(value)` is not a whole number of milliseconds greater than 0")
            }
        }
        if isSecret(property), value == stars {
            throw starsProblem
        }
        configuration.kafka[property] = value
    }

    static func readAllButServers(_ configuration: Configuration) -> [String: String] {
        configuration.kafka.filter { $0.key != "bootstrap.servers" }
    }

    /// The variable that a value refers to, if it does.
    static func referencedVariable(_ value: String) -> String? {
        value.hasPrefix("env:") ? String(value.dropFirst(4)) : nil
    }

    /// The value behind `env:NAME` or `file:/path`; `nil` for a value that is no reference.
    static func resolve(_ value: String, environment: [String: String]) throws(ValueProblem) -> String? {
        if let variable = referencedVariable(value) {
            guard let resolved = environment[variable] else {
                throw ValueProblem("refers to the environment variable `\(variable)`, which is not set")
            }
            return resolved
        }
        guard value.hasPrefix("file:") else { return nil }
        let path = String(value.dropFirst(5))
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ValueProblem("refers to the file `\(path)`, which cannot be read")
        }
        guard var text = String(data: data, encoding: .utf8) else {
            throw ValueProblem("refers to the file `\(path)`, which is not text in UTF-8")
        }
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}

extension Configuration {
    /// `kafka.bootstrap.servers`.
    public var bootstrapServers: String {
        get { kafka["bootstrap.servers"] ?? "" }
        set { kafka["bootstrap.servers"] = newValue }
    }

    /// `kafka.transaction.timeout.ms`, milliseconds; 15 s unless set, so that a hung transaction ends before its
    /// partitions get a new owner.
    public var transactionTimeoutMilliseconds: Int { kafka["transaction.timeout.ms"].flatMap { Int($0) } ?? 15_000 }

    /// `kafka.session.timeout.ms`, milliseconds; 20 s unless set: how long the partitions of a killed
    /// process wait for a new owner. Longer than a transaction may last, and long enough for a network that stutters.
    public var sessionTimeoutMilliseconds: Int { kafka["session.timeout.ms"].flatMap { Int($0) } ?? 20_000 }
}
