import TidemarkAttribution
import TidemarkRegistry

/// A rule that several settings must satisfy together.
struct ConsistencyCheck: Sendable {
    /// The keys concerned; the first one that was set gives the place in the message.
    let keys: [String]
    /// What is wrong, `nil` if nothing is.
    let problem: @Sendable (Configuration) -> String?

    static let all: [ConsistencyCheck] = [joinWithinSpan, timeouts, topicsApart, ingestTopic, registryForAvro]

    private static let joinWithinSpan = ConsistencyCheck(
        keys: ["attribution.direct_join", "attribution.instance_span"]
    ) { configuration in
        let join = configuration.attribution.directJoin
        let span = configuration.attribution.instanceSpan
        guard join > span else { return nil }
        return "`attribution.direct_join` (\(DurationText.print(join * 1000))) is longer than "
            + "`attribution.instance_span` (\(DurationText.print(span * 1000))); it may be as long at most"
    }

    private static let timeouts = ConsistencyCheck(
        keys: ["kafka.transaction.timeout.ms", "kafka.session.timeout.ms"]
    ) { configuration in
        let transaction = configuration.transactionTimeoutMilliseconds
        let session = configuration.sessionTimeoutMilliseconds
        guard transaction >= session else { return nil }
        return "`kafka.transaction.timeout.ms` (\(transaction)) must be less than `kafka.session.timeout.ms` "
            + "(\(session)), so that a hung transaction ends before its partitions get a new owner"
    }

    private static let registryForAvro = ConsistencyCheck(
        keys: ["output.format", "schema_registry.url"]
    ) { configuration in
        guard configuration.output.format == .avro, !configuration.schemaRegistry.isEnabled else { return nil }
        return "`output.format` is avro, and no `schema_registry.url` says where to register the schemas"
    }

    private static let topicsApart = ConsistencyCheck(
        keys: ["output.reports", "output.opens", "output.dead_letters", "input.topics"]
    ) { configuration in
        let output = configuration.output
        let uses =
            [
                ("output.reports", output.reports), ("output.opens", output.opens),
                ("output.dead_letters", output.deadLetters),
            ] + configuration.input.topics.map { ("input.topics", $0) }
        var users: [String: String] = [:]
        for (key, topic) in uses {
            if let other = users[topic], other != key {
                return "`\(other)` and `\(key)` both name the topic `\(topic)`; each needs its own"
            }
            users[topic] = key
        }
        return nil
    }

    private static let ingestTopic = ConsistencyCheck(keys: ["ingest.topic", "input.topics"]) { configuration in
        guard let topic = configuration.ingest.topic, !configuration.input.topics.contains(topic) else { return nil }
        return "`ingest.topic` (`\(topic)`) is none of `input.topics`, so that nobody would count its events"
    }
}
