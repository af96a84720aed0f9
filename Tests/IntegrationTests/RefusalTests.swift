import Foundation
import Testing
import TidemarkKafka
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// Starts that would do harm or cannot work: exit code 1 and a text that says what to do.
    @Suite struct RefusalTests {
        private func expect(
            _ ending: TidemarkProcess.Ending, says parts: String..., location: SourceLocation = #_sourceLocation
        ) {
            #expect(ending.status == 1 && !ending.wasKilled, sourceLocation: location)
            for part in parts { #expect(ending.log.contains(part), "\(ending.log)", sourceLocation: location) }
            #expect(ending.output.isEmpty, sourceLocation: location)
        }

        /// Runs an application until it has published something, then stops it.
        private func runOnce(_ application: TestApplication) throws {
            try application.createTopics()
            let workload = Workload.small(users: 10, days: 1, seed: 31)
            try StreamFeeder(topic: application.input).feed(workload.records())
            let process = try application.start(instance: "a")
            try ExpectedReport(workload).wait(for: PublishedReport(application))
            try #require(process.stop().status == 0)
        }

        @Test func missingTopics() throws {
            let application = try TestApplication("missing")
            expect(
                try application.startRefused(), says: "\(application.input): does not exist", "tidemark topics create")
        }

        @Test func reportsThatAreNotCompacted() throws {
            let application = try TestApplication("uncompacted")
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            let made = try admin.createTopics([
                KafkaAdmin.NewTopic(name: application.topics.reports, partitions: 2, replicationFactor: 1)
            ])
            try #require(made.allSatisfy { $0.error == nil })
            // Says so, and leaves the topic as it is.
            #expect(try application.command(["topics", "create"]).status == 1)
            expect(try application.startRefused(), says: application.topics.reports, "cleanup.policy")
        }

        @Test("input topics of different size, or others than before")
        func severalInputTopics() throws {
            let application = try TestApplication("several", inputs: ["events", "more"])
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            let made = try admin.createTopics([
                KafkaAdmin.NewTopic(name: "\(application.id).few", partitions: 2, replicationFactor: 1),
                KafkaAdmin.NewTopic(name: "\(application.id).third", partitions: 4, replicationFactor: 1),
            ])
            try #require(made.allSatisfy { $0.error == nil })
            try runOnce(application)
            let inputs = application.topics.inputs.joined(separator: ",")
            expect(
                try application.startRefused(["input.topics=\(inputs),\(application.id).few"]),
                says: "\(application.id).few: has 2 partitions")
            let unbounded = ["attribution.future_tolerance=unlimited"]
            expect(
                try application.startRefused(["input.topics=\(inputs),\(application.id).third"] + unbounded),
                says: "input.topics differs", "`\(application.id).third` is new", "Put it back")
            expect(
                try application.startRefused(["input.topics=\(application.input)"]),
                says: "input.topics differs", "`\(application.id).more` is gone")
        }

        @Test("settings and output topics that differ from those of the state")
        func changes() throws {
            let application = try TestApplication("changed")
            try runOnce(application)
            expect(
                try application.startRefused(["attribution.window.fixed=45m"]),
                says: "settings are not those", "tidemark reset")
            expect(try application.startRefused(["report.time_zone=Europe/Berlin"]), says: "settings are not those")

            let other = try TestApplication("elsewhere")
            try other.createTopics()
            expect(
                try application.startRefused(["output.reports=\(other.topics.reports)"]),
                says: "put output.reports back")
            expect(
                try application.startRefused(["output.opens=\(other.topics.opens)"]),
                says: "output.opens is \(other.topics.opens)")
            expect(
                try other.startRefused(["output.reports=\(application.topics.reports)"]),
                says: "already holds rows", "choose another output.reports")
            expect(
                try other.startRefused(["output.opens=\(application.topics.opens)"]),
                says: "already holds opens", "choose another output.opens")

            // What does not matter for results may change.
            let process = try application.start(instance: "b", ["workers=1", "commit_interval=1s"])
            Thread.sleep(forTimeInterval: 2)
            #expect(process.isRunning, "\(process.log)")
            #expect(try process.stop().status == 0)
        }

        @Test(
            "wrong usage",
            arguments: [["run", "--no-such-option"], ["no-such-command"], ["run", "unexpected"], ["run", "--set"]])
        func usage(_ arguments: [String]) throws {
            let ending = try TidemarkProcess(arguments).waitForEnd(within: 20)
            #expect(ending.status == 2, "\(ending.log)")
            #expect(ending.log.contains("--help"), "\(ending.log)")
        }

        @Test func unknownSetting() throws {
            let ending = try TidemarkProcess(["run", "--set", "commit_intervall=1s"]).waitForEnd(within: 20)
            expect(ending, says: "commit_intervall", "did you mean `commit_interval`?")
        }
    }
}
