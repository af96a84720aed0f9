import Testing
import TidemarkConfiguration
@testable import TidemarkProcessor

/// A cluster that differs from the plan, and what must be said about it.
struct Misfit: Sendable, CustomTestStringConvertible {
    let what: String
    var settings: [String] = []
    let change: @Sendable (inout ObservedTopics) -> Void
    /// `severity topic`, in order.
    let expected: [String]
    /// Parts of the first finding's text.
    var says: [String] = []

    var testDescription: String { what }

    /// Changes settings of one topic.
    static func config(
        _ what: String, _ topic: String, _ configs: [String: String], settings: [String] = [], _ expected: [String],
        says: [String] = []
    ) -> Misfit {
        Misfit(
            what: what, settings: settings,
            change: { $0.topics[topic]?.configs.merge(configs) { $1 } }, expected: expected, says: says)
    }

    /// Changes the number of partitions of one topic.
    static func partitions(
        _ what: String, _ topic: String, _ count: Int, settings: [String] = [], _ expected: [String],
        says: [String] = []
    ) -> Misfit {
        Misfit(
            what: what, settings: settings, change: { $0.topics[topic]?.partitions = count }, expected: expected,
            says: says)
    }

    func findings() throws -> [TopicFinding] {
        let configuration = try topicConfiguration(["input.topics=a,b"] + settings)
        var observed = ObservedTopics().completed(by: TopicPlan(configuration))
        change(&observed)
        return TopicCheck(configuration, observed: observed).findings()
    }
}

@Suite("Check of topics")
struct TopicCheckTests {
    @Test(
        arguments: partitionMisfits + byUserMisfits + cleanupMisfits + retentionMisfits + timeMisfits + sizeMisfits
            + replicaMisfits)
    func findings(of misfit: Misfit) throws {
        let findings = try misfit.findings()
        #expect(findings.map { "\($0.severity) \($0.topic)" } == misfit.expected)
        let text = findings.first?.lines.joined(separator: "\n") ?? ""
        for part in misfit.says { #expect(text.contains(part), "\(text)") }
    }

    @Test func aPlannedClusterFits() throws {
        for settings in [
            [], ["input.topics=a,b,c", "topics.report_partitions=1"], ["limits.record_bytes=1KiB"],
            ["input.repartition=true"],
        ] {
            let configuration = try topicConfiguration(settings)
            let observed = ObservedTopics().completed(by: TopicPlan(configuration))
            #expect(TopicCheck(configuration, observed: observed).findings() == [])
        }
    }

    @Test func nothingExists() throws {
        let findings = TopicCheck(try topicConfiguration(), observed: ObservedTopics()).findings()
        #expect(
            findings.map(\.topic) == [
                "currents.events", "tidemark-checkpoint", "tidemark-deltas", "tidemark-names",
                "tidemark-positions", "tidemark.reports", "tidemark.opens", "tidemark.dead-letter", "tidemark-redriven",
            ])
        #expect(Set(findings.map(\.advice)) == ["`tidemark topics create`"])
        #expect(findings[3].wanted == "a topic for names with 1 partition")
    }

    @Test func refusalsComeFirst() throws {
        let configuration = try topicConfiguration()
        var observed = ObservedTopics().completed(by: TopicPlan(configuration))
        observed.topics["currents.events"]?.configs["retention.ms"] = "3600000"
        observed.topics["tidemark-names"] = nil
        let findings = TopicCheck(configuration, observed: observed).findings()
        #expect(findings.map(\.severity) == [.refuse, .warn])
        #expect(
            TopicsUnfit(findings: [findings[0]]).description == """
                the topics do not fit:
                refuse: tidemark-names: does not exist
                    wanted: a topic for names with 1 partition
                    advice: `tidemark topics create`
                """)
    }

    @Test func oneTopicForTwoUses() throws {
        let configuration = try topicConfiguration(["output.reports=tidemark-deltas"])
        let observed = ObservedTopics().completed(by: TopicPlan(configuration))
        let findings = TopicCheck(configuration, observed: observed).findings()
        #expect(findings.map(\.problem) == ["is named for deltas and reports"])
        #expect(findings.map(\.severity) == [.refuse])
    }

    @Test func whatBrokersDoNotTellIsKafkasDefault() throws {
        let configuration = try topicConfiguration()
        var observed = ObservedTopics().completed(by: TopicPlan(configuration))
        observed.topics["tidemark-deltas"]?.configs = [:]
        #expect(TopicCheck(configuration, observed: observed).findings() == [])
        observed.topics["tidemark-names"]?.configs = [:]
        #expect(TopicCheck(configuration, observed: observed).findings().map(\.topic) == ["tidemark-names"])
    }
}
