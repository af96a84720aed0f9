internal import Foundation
internal import Synchronization
package import TidemarkConfiguration
package import TidemarkKafka

/// Asks brokers about topics, and says in plain words why they do not answer.
package final class TopicConnection {
    private let admin: KafkaAdmin
    private let errors = ErrorLog()
    private let servers: String
    let timeout: Duration

    package init(_ configuration: Configuration, timeout: Duration) throws(TopicAccessError) {
        servers = configuration.bootstrapServers
        self.timeout = timeout
        var properties = configuration.kafka
        // Asking about a topic must never be what creates it.
        properties["allow.auto.create.topics"] = "false"
        do {
            admin = try KafkaAdmin(properties: properties) { [errors] in errors.add($0) }
        } catch {
            throw TopicAccessError(description: error.message)
        }
    }

    /// Makes requests until they succeed or time is up; repeats them while brokers disagree about a topic that has just
    /// been created or deleted.
    package func request<Result>(
        _ what: String, _ body: (KafkaAdmin, RequestClock) throws(KafkaError) -> Result
    ) throws(TopicAccessError) -> Result {
        let clock = RequestClock(timeout)
        while true {
            do {
                return try body(admin, clock)
            } catch {
                let isPassing = [.unknownTopicOrPartition, .leaderNotAvailable].contains(error.code)
                guard isPassing, clock.remaining > 100 else { throw explain(error, what) }
                clock.pause(milliseconds: 50)
            }
        }
    }

    private func explain(_ error: KafkaError, _ what: String) -> TopicAccessError {
        // Serves the callbacks that bring the reasons.
        _ = admin.lastError
        let reason = errors.mostTelling
        let address = "\(servers) (kafka.bootstrap.servers)"
        switch error.code {
        case .transport, .timedOut, .allBrokersDown, .nameNotResolved, .authentication, .saslAuthenticationFailed, .tls:
            if let reason, reason.contains("(_AUTHENTICATION)") {
                return TopicAccessError(
                    description: """
                        the Kafka brokers at \(address) do not accept the credentials: \(reason)
                        Check the sasl properties under `kafka`.
                        """)
            }
            return TopicAccessError(
                description: """
                    no Kafka broker answers at \(address) within \(timeout): \(reason ?? error.description)
                    Check the address, that the brokers run, and security.protocol under `kafka`.
                    """)
        case .topicAuthorizationFailed, .clusterAuthorizationFailed:
            return TopicAccessError(
                description: """
                    no permission at \(address) to \(what): \(error)
                    Grant Describe and DescribeConfigs on the topics, and Create to create them (`kafka-acls --add`).
                    """)
        default:
            return TopicAccessError(description: "cannot \(what) at \(address): \(error)")
        }
    }
}

/// What is left of the time for a request.
package struct RequestClock {
    private let end: ContinuousClock.Instant

    init(_ timeout: Duration) { end = .now + timeout }

    /// Milliseconds left; never less than 1, so that a call ends by itself and with its own error.
    package var remaining: Int32 {
        Int32(clamping: max(1, Int(ContinuousClock.now.duration(to: end) / .milliseconds(1))))
    }

    func pause(milliseconds: Int) { Thread.sleep(forTimeInterval: Double(milliseconds) / 1000) }
}

/// Keeps the latest errors of a client, which come from its own threads.
private final class ErrorLog: Sendable {
    private let latest = Mutex<(reason: String?, any: String?)>((nil, nil))

    func add(_ line: KafkaLogLine) {
        guard line.facility == "ERROR" || line.facility == "FAIL" else { return }
        latest.withLock {
            $0.any = line.message
            // That all brokers are down follows from the reason, and is none itself.
            if !line.message.contains("_ALL_BROKERS_DOWN") { $0.reason = line.message }
        }
    }

    /// The latest line that gives a reason.
    var mostTelling: String? { latest.withLock { $0.reason ?? $0.any } }
}

extension KafkaError.Code {
    fileprivate static let nameNotResolved: Self = -193
}
