import Testing
import TidemarkConfiguration

@testable import TidemarkProcessor

/// What clients are given beside what the configuration says.
@Suite("Client properties")
struct ClientPropertiesTests {
    @Test(
        "heartbeats are often enough for a quick rebalance, and for any session timeout",
        arguments: [
            ([:], "500"), (["session.timeout.ms": "900"], "300"), (["heartbeat.interval.ms": "2000"], "2000"),
        ])
    func heartbeats(given: [String: String], expected: String) {
        var configuration = Configuration()
        configuration.kafka = given
        #expect(ClientProperties(configuration).consumer(group: "g")["heartbeat.interval.ms"] == expected)
    }
}
