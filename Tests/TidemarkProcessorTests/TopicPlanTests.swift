import Testing
import TidemarkConfiguration
import TidemarkProcessor

@Suite("Plan of topics")
struct TopicPlanTests {
    private func plan(_ settings: [String] = [], observed: ObservedTopics = ObservedTopics()) throws -> TopicPlan {
        TopicPlan(try topicConfiguration(settings), observed: observed)
    }

    private func shape(_ plan: TopicPlan) -> [String] { plan.topics.map { "\($0.name) \($0.role) \($0.partitions)" } }

    @Test func everyRoleIsPlanned() throws {
        let plan = try plan([
            "application_id=app", "input.topics=a,b", "topics.partitions=6", "topics.report_partitions=2",
            "topics.replication_factor=3",
        ])
        #expect(
            shape(plan) == [
                "a input 6", "b input 6", "app-checkpoint checkpoint 6", "app-deltas deltas 2", "app-names names 1",
                "app-positions positions 2",
                "tidemark.reports reports 2", "tidemark.opens opens 6", "tidemark.dead-letter deadLetters 6",
                "app-redriven redriven 1",
            ])
        #expect(Set(plan.topics.map(\.replicationFactor)) == [3])
        #expect(Set(plan.topics.map(\.role)) == Set(TopicRole.allCases).subtracting([.byUser]))
    }

    @Test func eventsByUserAreOfTheLargestInputOrAsManyAsAreSet() throws {
        let observed = ObservedTopics(topics: [
            "a": ObservedTopic(partitions: 12, configs: ["max.message.bytes": "1000"]),
            "b": ObservedTopic(partitions: 3),
        ])
        let settings = ["application_id=app", "input.topics=a,b,c", "input.repartition=true"]
        let plan = try plan(settings, observed: observed)
        #expect(
            shape(plan) == [
                "a input 12", "b input 3", "c input 4", "app-by-user byUser 12", "app-checkpoint checkpoint 12",
                "app-deltas deltas 4", "app-names names 1", "app-positions positions 4", "tidemark.reports reports 4",
                "tidemark.opens opens 12",
                "tidemark.dead-letter deadLetters 12", "app-redriven redriven 1",
            ])
        #expect(
            plan.topics(.byUser)[0].configs == [
                "cleanup.policy": "delete", "retention.bytes": "-1", "retention.ms": "604800000",
                "max.message.bytes": "4259840", "message.timestamp.type": "LogAppendTime",
            ])
        let counts = { (plan: TopicPlan) in [.byUser, .checkpoint, .opens].map { plan.topics($0)[0].partitions } }
        #expect(counts(try self.plan(settings + ["topics.partitions=6"], observed: observed)) == [6, 6, 6])
        var begun = observed
        begun.topics["app-checkpoint"] = ObservedTopic(partitions: 5)
        #expect(counts(try self.plan(settings, observed: begun)) == [5, 5, 5])
        begun.topics["app-by-user"] = ObservedTopic(partitions: 7)
        #expect(counts(try self.plan(settings, observed: begun)) == [7, 7, 7])
    }

    @Test func settingsFollowTheRole() throws {
        let plan = try plan(["limits.record_bytes=2MiB"])
        let configs = Dictionary(uniqueKeysWithValues: plan.topics.map { ($0.role, $0.configs) })
        let deleted = ["cleanup.policy": "delete", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime"]
        func with(_ more: [String: String]) -> [String: String] { deleted.merging(more) { $1 } }
        #expect(configs[.input] == with(["retention.ms": "-1", "max.message.bytes": "2097152"]))
        #expect(configs[.deltas] == with(["retention.ms": "604800000", "segment.bytes": "67108864"]))
        #expect(configs[.deadLetters] == with(["retention.ms": "2592000000", "max.message.bytes": "2162688"]))
        for (role, ratio, lag) in [
            (TopicRole.checkpoint, "0.2", "3600000"), (.positions, "0.2", "3600000"), (.names, "0.2", "21600000"),
            (.reports, "0.2", "21600000"),
            (.opens, "0.5", "604800000"), (.redriven, "0.5", "604800000"),
        ] {
            let segment = role == .positions ? "4194304" : "67108864"
            let expected = [
                "cleanup.policy": "compact", "segment.bytes": segment, "min.cleanable.dirty.ratio": ratio,
                "min.compaction.lag.ms": "60000", "max.compaction.lag.ms": lag, "delete.retention.ms": "86400000",
                "message.timestamp.type": "LogAppendTime",
            ]
            #expect(configs[role] == expected, "\(role)")
        }
    }

    @Test func smallRecordsLeaveKafkasOwnLimit() throws {
        let plan = try plan(["limits.record_bytes=64KiB"])
        #expect(plan.topics(.input).map { $0.configs["max.message.bytes"] } == ["1048588"])
    }

    @Test func whatExistsGivesTheMeasure() throws {
        let observed = ObservedTopics(topics: [
            "a": ObservedTopic(partitions: 12, configs: ["max.message.bytes": "9000000"]),
            "tidemark.reports": ObservedTopic(partitions: 7),
        ])
        let plan = try plan(
            ["input.topics=a,b", "topics.partitions=6", "topics.report_partitions=2"], observed: observed)
        #expect(
            shape(plan) == [
                "a input 12", "b input 12", "tidemark-checkpoint checkpoint 12", "tidemark-deltas deltas 7",
                "tidemark-names names 1", "tidemark-positions positions 7", "tidemark.reports reports 7",
                "tidemark.opens opens 12",
                "tidemark.dead-letter deadLetters 12", "tidemark-redriven redriven 1",
            ])
        #expect(plan.topics(.deadLetters)[0].configs["max.message.bytes"] == "9065536")
    }

    @Test func reportsFollowExistingDeltas() throws {
        let observed = ObservedTopics(topics: ["tidemark-deltas": ObservedTopic(partitions: 9)])
        #expect(try plan(observed: observed).topics(.reports).map(\.partitions) == [9])
    }

    @Test func deadLettersStayWithinKafkasRange() throws {
        let observed = ObservedTopics(topics: [
            "currents.events": ObservedTopic(partitions: 1, configs: ["max.message.bytes": "2147483647"])
        ])
        let plan = try plan(observed: observed)
        #expect(plan.topics(.deadLetters)[0].configs["max.message.bytes"] == "2147483647")
        let findings = TopicCheck(try topicConfiguration(), observed: observed.completed(by: plan)).findings()
        #expect(findings.filter { $0.topic == "tidemark.dead-letter" } == [])
    }
}

/// The defaults with some keys set.
func topicConfiguration(_ settings: [String] = []) throws -> Configuration {
    try Configuration.load(file: nil, environment: [:], overrides: settings)
}
