internal import Foundation
package import TidemarkConfiguration
internal import TidemarkKafka

/// The librdkafka properties of each kind of client. What the configuration gives comes first; what correctness needs comes last.
package struct ClientProperties {
    /// Milliseconds after which a member of a group looks at its topics again.
    private static let refreshInterval = 30_000

    private let given: [String: String]
    private let sessionTimeout: Int
    private let transactionTimeout: Int
    private let queues: Queues

    package init(_ configuration: Configuration) {
        given = configuration.kafka
        sessionTimeout = configuration.sessionTimeoutMilliseconds
        transactionTimeout = configuration.transactionTimeoutMilliseconds
        queues = Queues(configuration)
    }

    /// A member of a consumer group.
    func consumer(group: String) -> [String: String] {
        var properties = reader(name: group)
        properties["session.timeout.ms"] = String(sessionTimeout)
        // A member learns of a rebalance from the answer to a heartbeat, and all others wait for it.
        properties["heartbeat.interval.ms"] = given["heartbeat.interval.ms"] ?? String(min(500, sessionTimeout / 3))
        properties["partition.assignment.strategy"] = "range"
        // A topic that was deleted, or has got partitions, should not go unnoticed for five minutes.
        properties["topic.metadata.refresh.interval.ms"] =
            given["topic.metadata.refresh.interval.ms"] ?? String(ClientProperties.refreshInterval)
        return properties
    }

    /// A consumer that reads partitions by itself. librdkafka wants a group name even so; nothing is ever committed to it.
    package func reader(name: String, isolation: String = "read_committed") -> [String: String] {
        var properties = ["fetch.message.max.bytes": "8388608", "check.crcs": "true"]
        // The bytes that are queued are the limit, however many records they are.
        properties["queued.min.messages"] = "1000000"
        // Once its queue is full, the client should look again soon. Versions that do not know the setting are woken (`FetchWaker`).
        if KafkaLibrary.versionNumber >= 0x0202_0000 { properties["fetch.queue.backoff.ms"] = "10" }
        if let bytes = queues.consumer {
            properties["queued.max.messages.kbytes"] = String(bytes >> 10)
            // What one partition, and one answer, bring at once comes on top of what is queued already.
            properties["fetch.message.max.bytes"] = String(min(8 << 20, max(bytes / 8, 64 << 10)))
            properties["fetch.max.bytes"] = String(max(bytes / 2, 1_000_512))
        }
        properties.merge(given) { _, given in given }
        properties["group.id"] = name
        properties["isolation.level"] = isolation
        return properties
    }

    /// Each topic has a limit of its own, which its brokers know; the producer's is as high as it goes, so that it never is the lower one.
    private static let largestMessage = 1_000_000_000

    /// The largest record that the producer takes, bytes.
    package var producerLimit: Int { given["message.max.bytes"].flatMap(Int.init) ?? ClientProperties.largestMessage }

    /// A transactional producer. The id is stable, so that a restart ends what its predecessor left open.
    package func producer(transactionalID: String) -> [String: String] {
        var properties = sender()
        properties["transactional.id"] = transactionalID
        properties["transaction.timeout.ms"] = String(transactionTimeout)
        return properties
    }

    /// A producer whose records somebody waits for, no longer than `timeout`.
    /// - Parameter queueBytes: what may wait in all.
    package func reportingProducer(timeoutMilliseconds: Int, queueBytes: Int) -> [String: String] {
        var properties = sender()
        // Beside its value, a record takes some hundred bytes: their number is limited as well.
        properties["queue.buffering.max.messages"] = given["queue.buffering.max.messages"] ?? "500000"
        properties["queue.buffering.max.kbytes"] =
            given["queue.buffering.max.kbytes"] ?? String(min(queueBytes >> 10 + 1, Int(Int32.max)))
        properties["message.timeout.ms"] = String(timeoutMilliseconds)
        properties["request.timeout.ms"] = given["request.timeout.ms"] ?? String(min(timeoutMilliseconds, 30_000))
        // Session timeouts are for consumers, and transactions for others.
        for property in ["session.timeout.ms", "transaction.timeout.ms"] { properties[property] = nil }
        return properties
    }

    private func sender() -> [String: String] {
        var properties = [
            "compression.type": "lz4", "linger.ms": "5", "batch.size": "524288",
            "queue.buffering.max.kbytes": String((queues.producer ?? 1 << 30) >> 10),
            "queue.buffering.max.messages": "2000000", "message.max.bytes": String(ClientProperties.largestMessage),
        ]
        properties.merge(given) { _, given in given }
        properties["enable.idempotence"] = "true"
        properties["partitioner"] = "murmur2_random"
        return properties
    }
}

/// How much of `limits.memory` each client's queue may take, bytes; `nil` where there is no limit.
private struct Queues {
    var consumer: Int?
    var producer: Int?

    init(_ configuration: Configuration) {
        guard let limit = configuration.limits.memory else { return }
        let workers = configuration.workers ?? ProcessInfo.processInfo.activeProcessorCount
        // A quarter for what was fetched and an eighth for what is to be sent: the rest is for the states of users. A worker has a
        // consumer that reads at full speed and one that reads checkpoints at times.
        consumer = max(limit / 4 / (2 * workers), 1 << 20)
        producer = max(limit / 8 / (workers + 1), 4 << 20)
    }
}
