import Foundation
import Testing
import TidemarkConfiguration
import TidemarkKafka
import TidemarkProcessor

/// Creation and check of topics against Kafka itself. Every test has its own application and topics.
@Suite(
    "Topics on a real broker",
    .enabled(
        if: ProcessInfo.processInfo.environment["TIDEMARK_KAFKA"] != nil,
        "set TIDEMARK_KAFKA to the bootstrap servers of a Kafka cluster"))
struct TopicsTests {
    let id = "topics-\(UUID().uuidString.lowercased())"
    let servers = ProcessInfo.processInfo.environment["TIDEMARK_KAFKA"] ?? ""

    private func configuration(_ more: [String] = []) throws -> Configuration {
        let own = [
            "kafka.bootstrap.servers=\(servers)", "application_id=\(id)", "input.topics=\(id).a,\(id).b",
            "output.reports=\(id).reports", "output.opens=\(id).opens", "output.dead_letters=\(id).dead",
            "topics.partitions=3", "topics.report_partitions=2",
        ]
        return try Configuration.load(file: nil, environment: [:], overrides: own + more)
    }

    private var admin: KafkaAdmin { get throws { try KafkaAdmin(properties: ["bootstrap.servers": servers]) } }

    /// Makes one topic of the plan differ; the others are created as planned.
    private func create(_ suffix: String, partitions: Int, _ config: [String: String]) throws {
        let topic = KafkaAdmin.NewTopic(name: id + suffix, partitions: partitions, replicationFactor: 1, config: config)
        try #require(try admin.createTopics([topic]).map(\.error?.description) == [nil])
        while try admin.describeTopics([topic.name])[topic.name] == nil { Thread.sleep(forTimeInterval: 0.05) }
    }

    private func findings(_ configuration: Configuration) throws -> [TopicFinding] {
        TopicCheck(configuration, observed: try TopicInspector(configuration).observe()).findings()
            // A cluster of several brokers rightly warns of the single replicas of these tests.
            .filter { !$0.problem.contains("replication factor 1 in a cluster") }
    }

    @Test func createdTopicsFit() throws {
        let configuration = try configuration()
        #expect(try TopicInspector(configuration).observe().topics == [:])
        let report = try TopicCreator.create(configuration, isDryRun: false)
        #expect(report.outcomes.map(\.result) == Array(repeating: .created, count: 10))
        #expect(report.isFit)
        #expect(try findings(configuration) == [])

        // The brokers have what was planned, setting by setting.
        let observed = try TopicInspector(configuration).observe()
        for topic in TopicPlan(configuration).topics {
            let existing = try #require(observed[topic.name])
            #expect(existing.partitions == topic.partitions)
            #expect(existing.replicationFactor == 1)
            #expect(existing.configs.filter { topic.configs[$0.key] != nil } == topic.configs)
        }

        let again = try TopicCreator.create(configuration, isDryRun: false)
        #expect(again.outcomes.map(\.result) == [3, 3, 3, 2, 1, 2, 2, 3, 3, 1].map { .exists(partitions: $0) })
        #expect(again.isFit)
        #expect(try TopicInspector.requireFit(configuration: configuration).allSatisfy { $0.severity == .warn })
    }

    @Test func dryRunCreatesNothing() throws {
        let configuration = try configuration()
        let report = try TopicCreator.create(configuration, isDryRun: true)
        #expect(report.outcomes.map(\.result) == Array(repeating: .wouldCreate, count: 10))
        #expect(report.isFit)
        #expect(try TopicInspector(configuration).observe().topics == [:])
        let error = try #require(throws: TopicsUnfit.self) {
            try TopicInspector.requireFit(configuration: configuration)
        }
        #expect(error.findings.map(\.topic).count == 9)
        #expect(error.description.contains("refuse: \(id)-names: does not exist\n"))
    }

    @Test func existingTopicsAreUntouchedAndFollowed() throws {
        try create(".a", partitions: 5, ["message.timestamp.type": "LogAppendTime", "max.message.bytes": "9000000"])
        let configuration = try configuration()
        let report = try TopicCreator.create(configuration, isDryRun: false)
        #expect(report.outcomes[0].result == .exists(partitions: 5))
        let observed = try TopicInspector(configuration).observe()
        #expect(observed[id + ".b"]?.partitions == 5)
        #expect(observed[id + "-checkpoint"]?.partitions == 5)
        #expect(observed[id + ".a"]?.configs["max.message.bytes"] == "9000000")
        #expect(observed[id + ".dead"]?.configs["max.message.bytes"] == "9065536")
        #expect(report.isFit)
    }

    @Test func brokersRefuse() throws {
        for isDryRun in [true, false] {
            let report = try TopicCreator.create(
                try configuration(["topics.replication_factor=100"]), isDryRun: isDryRun)
            #expect(!report.isFit)
            #expect(report.findings == [])
            guard case .failed(let reason) = report.outcomes[0].result else {
                Issue.record("\(report.outcomes[0].result)")
                continue
            }
            #expect(reason.contains("too few for topics.replication_factor: 100"))
        }
        #expect(try TopicInspector(configuration()).observe().topics == [:])
    }

    @Test(arguments: BrokerMisfit.all)
    func misfitsAreFound(_ misfit: BrokerMisfit) throws {
        try create(misfit.suffix, partitions: misfit.partitions, misfit.config)
        let configuration = try configuration()
        let report = try TopicCreator.create(configuration, isDryRun: false)
        let found = try findings(configuration)
        #expect(found.map { "\($0.severity) \($0.topic.dropFirst(id.count))" } == misfit.expected)
        #expect(found.first?.problem.contains(misfit.says) == true, "\(found)")
        #expect(report.isFit == !misfit.expected.contains { $0.hasPrefix("refuse") })
    }

    @Test func absentBrokersAreNamed() throws {
        let configuration = try configuration(["kafka.bootstrap.servers=127.0.0.1:1"])
        let error = try #require(throws: TopicAccessError.self) {
            try TopicInspector(configuration, timeout: .seconds(1)).observe()
        }
        #expect(error.description.contains("no Kafka broker answers at 127.0.0.1:1 (kafka.bootstrap.servers)"))
        #expect(error.description.contains("Connection refused"))
    }

    @Test func unknownPropertyIsNamed() throws {
        let configuration = try configuration(["kafka.no.such.property=1"])
        let error = try #require(throws: TopicAccessError.self) { try TopicInspector(configuration) }
        #expect(error.description.contains("no.such.property"))
    }
}

/// A topic that was made by somebody else, and what the check says once the others are as planned.
struct BrokerMisfit: Sendable, CustomTestStringConvertible {
    let suffix: String
    let partitions: Int
    let config: [String: String]
    let expected: [String]
    let says: String

    var testDescription: String { "\(suffix) with \(partitions) partitions, \(config)" }

    init(_ suffix: String, _ partitions: Int, _ config: [String: String], _ expected: String..., says: String) {
        self.suffix = suffix
        self.partitions = partitions
        self.config = config
        self.expected = expected
        self.says = says
    }

    private static let appendTime = ["message.timestamp.type": "LogAppendTime"]
    private static let compact = ["cleanup.policy": "compact", "segment.bytes": "67108864"]

    static let all: [BrokerMisfit] = [
        BrokerMisfit("-checkpoint", 4, compact, "refuse -checkpoint", says: "the input 3"),
        BrokerMisfit("-names", 2, compact, "refuse -names", says: "has 2 partitions"),
        BrokerMisfit(
            "-names", 1, ["cleanup.policy": "compact,delete", "segment.bytes": "67108864"], "refuse -names",
            says: "cleanup.policy=compact,delete"),
        BrokerMisfit(".opens", 3, [:], "refuse .opens", says: "cleanup.policy=delete"),
        BrokerMisfit(".reports", 2, ["cleanup.policy": "compact"], "warn .reports", says: "segment.bytes=1073741824"),
        BrokerMisfit("-deltas", 2, ["cleanup.policy": "compact"], "refuse -deltas", says: "cleanup.policy=compact"),
        BrokerMisfit("-deltas", 2, ["retention.ms": "60000"], "warn -deltas", says: "retention.ms=60000 (1 minute)"),
        BrokerMisfit(
            ".dead", 1, ["retention.ms": "-1", "max.message.bytes": "4194304"], "refuse .dead",
            says: "max.message.bytes=4194304, the input 4194304"),
        BrokerMisfit(
            ".a", 3, appendTime.merging(["cleanup.policy": "compact"]) { $1 }, "refuse .a", says: "would vanish"),
        BrokerMisfit(
            ".a", 3, appendTime.merging(["retention.ms": "86400000"]) { $1 }, "warn .a",
            says: "retention.ms=86400000 (1 day)"),
        BrokerMisfit(
            ".b", 3, ["retention.ms": "-1", "message.timestamp.after.max.ms": "9223372036854775807"], "refuse .b",
            says: "any time ahead of the broker's clock"),
        BrokerMisfit(
            ".b", 3, appendTime.merging(["min.insync.replicas": "2"]) { $1 }, "warn .b",
            says: "less than min.insync.replicas=2"),
    ]
}

/// Input topics that exist with different numbers of partitions, and reports that differ from deltas.
@Suite(
    "Topics that must match each other",
    .enabled(
        if: ProcessInfo.processInfo.environment["TIDEMARK_KAFKA"] != nil,
        "set TIDEMARK_KAFKA to the bootstrap servers of a Kafka cluster"))
struct TopicsMatchingTests {
    @Test func differentCountsAreFound() throws {
        let id = "topics-\(UUID().uuidString.lowercased())"
        let servers = ProcessInfo.processInfo.environment["TIDEMARK_KAFKA"] ?? ""
        let configuration = try Configuration.load(
            file: nil, environment: [:],
            overrides: [
                "kafka.bootstrap.servers=\(servers)", "application_id=\(id)", "input.topics=\(id).a,\(id).b",
                "output.reports=\(id).reports", "output.opens=\(id).opens", "output.dead_letters=\(id).dead",
            ])
        var plan = TopicPlan(configuration).topics.map {
            KafkaAdmin.NewTopic(
                name: $0.name, partitions: $0.partitions, replicationFactor: 1, config: $0.configs)
        }
        for index in plan.indices where plan[index].name == "\(id).a" || plan[index].name == "\(id)-deltas" {
            plan[index].partitions = 2
        }
        let admin = try KafkaAdmin(properties: ["bootstrap.servers": servers])
        #expect(try admin.createTopics(plan).allSatisfy { $0.error == nil })
        while try admin.describeTopics(plan.map(\.name)).count < plan.count { Thread.sleep(forTimeInterval: 0.05) }
        let error = try #require(throws: TopicsUnfit.self) {
            try TopicInspector.requireFit(configuration: configuration)
        }
        #expect(error.findings.map(\.topic) == ["\(id).a", "\(id)-deltas"])
        #expect(error.description.contains("has 2 partitions, another input topic 4"))
    }
}
