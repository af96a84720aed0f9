import Foundation
import Testing
import TidemarkKafka
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// An input topic that is given more partitions while it is in use.
    @Suite struct GrowthTests {
        @Test(
            "from 4 to 8 partitions: refused with advice, and a new application that follows it has the rows of all events"
        )
        func fromFourToEight() throws {
            let old = try TestApplication("small")
            try old.createTopics()
            let workload = Workload.small(users: 250, seed: 71)
            let records = workload.records()
            let feeder = StreamFeeder(topic: old.input)
            try feeder.feed(records.prefix(records.count / 2))
            let first = try old.start(instance: "a")
            let group = try GroupReader(old)
            try eventually(within: 30, first.log) { try group.committed() == group.end() }
            #expect(try first.stop().status == 0)

            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            try #require(try admin.growTopics([old.input: 8]).allSatisfy { $0.error == nil })
            let refused = try old.startRefused()
            #expect(refused.status == 1, "\(refused.log)")
            for part in [
                "4 partitions, the input 8", "new application_id", "`input.repartition: true`", "docs/operations.md",
            ] {
                #expect(refused.log.contains(part), "\(refused.log)")
            }

            // Users whose place is another one among 8 are in two partitions now.
            try feeder.feed(records.suffix(from: records.count / 2))
            let new = try TestApplication("grown", partitions: 8, settings: "input.repartition: true", reading: old)
            try new.createTopics()
            let process = try new.start(instance: "a")
            let report = try PublishedReport(new)
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            #expect(try process.stop().status == 0)
        }

        @Test(
            "from 4 to 8 partitions under the same name: a reset under input.repartition gives the rows of all events")
        func fromFourToEightByReset() throws {
            let application = try TestApplication("regrown")
            try application.createTopics()
            let workload = Workload.small(users: 120, seed: 72)
            let records = workload.records()
            let feeder = StreamFeeder(topic: application.input)
            try feeder.feed(records.prefix(records.count / 2))
            let report = try PublishedReport(application)
            let first = try application.start(instance: "a")
            let group = try GroupReader(application)
            try eventually(within: 30, first.log) { try group.committed() == group.end() }
            #expect(try first.stop().status == 0)
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            try #require(try admin.growTopics([application.input: 8]).allSatisfy { $0.error == nil })
            try feeder.feed(records.suffix(from: records.count / 2))

            let repartition = ["--set", "input.repartition=true"]
            let created = try application.command(["topics", "create"] + repartition)
            #expect(created.status == 0, "\(String(decoding: created.output, as: UTF8.self))")
            let refused = try application.startRefused(["input.repartition=true"])
            #expect(refused.status == 1 && refused.log.contains("tidemark reset"), "\(refused.log)")
            #expect(try application.command(["reset", "--yes"] + repartition).status == 0)
            let second = try application.start(instance: "a", ["input.repartition=true"])
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            #expect(try second.stop().status == 0)
        }

        @Test(
            "more partitions while it runs: the process ends with the same advice and commits nothing of the new ones")
        func whileRunning() throws {
            let application = try TestApplication("live")
            try application.createTopics()
            let process = try application.start(instance: "a", ["kafka.topic.metadata.refresh.interval.ms=500"])
            try eventually(within: 30, process.log) { process.log.contains("2 workers") }
            Thread.sleep(forTimeInterval: 2)
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            try #require(try admin.growTopics([application.input: 8]).allSatisfy { $0.error == nil })
            let ending = try process.waitForEnd(within: 60)
            #expect(ending.status == 1 && !ending.wasKilled, "\(ending.log)")
            #expect(ending.log.contains("is new") && ending.log.contains("`input.repartition: true`"), "\(ending.log)")
        }
    }
}
