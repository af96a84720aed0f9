import Foundation
import Testing
import TidemarkKafka
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// Ordinary operation: start, process, stop, start again.
    @Suite struct RunTests {
        @Test("one process, stopped and started again: rows and opens equal the truth, and what replay prints")
        func cleanStops() throws {
            // A long session timeout: a member that had not left the group would hold up the next one for 45 s.
            let application = try TestApplication("run", sessionTimeout: 45_000)
            try application.createTopics()
            let workload = Workload.small(users: 250, seed: 11)
            let expected = try ExpectedReport(workload)
            let records = workload.records()
            let feeder = StreamFeeder(topic: application.input)
            let report = try PublishedReport(application)
            let group = try GroupReader(application)

            try feeder.feed(records.prefix(records.count / 2))
            // Without `instance`: the process takes the first slot of this machine.
            let first = try application.start()
            try eventually(within: 30, "half of the input: \(first.log)") { try group.committed() == group.end() }
            try feeder.feed(records.suffix(from: records.count / 2))
            let stopped = try first.stop()
            #expect(stopped.status == 0 && !stopped.wasKilled, "\(stopped.log)")
            #expect(stopped.seconds < 5)
            #expect(stopped.log.contains("stopped: "))

            let second = try application.start()
            try expected.wait(for: report, within: 25)
            #expect(try group.committed() == group.end(), "\(second.log)")
            #expect(report.deadLetters.records.isEmpty)
            let ended = try second.stop(SIGINT)
            #expect(ended.status == 0 && ended.seconds < 5, "\(ended.seconds) s: \(ended.log)")

            let replay = try application.command(
                ["replay", "--topic", application.input, "--format", "ndjson", "--quiet"])
            #expect(replay.status == 0, "\(replay.log)")
            #expect(String(decoding: replay.output, as: UTF8.self) == expected.rows)
        }

        @Test("nothing to do: nothing is committed, and stopping takes no time")
        func idle() throws {
            let application = try TestApplication("idle")
            try application.createTopics()
            let process = try application.start(instance: "a")
            try eventually(within: 20, process.log) { process.log.contains("2 workers") }
            Thread.sleep(forTimeInterval: 3)
            let ending = try process.stop(SIGINT)
            #expect(ending.status == 0 && ending.seconds < 5, "\(ending.seconds) s: \(ending.log)")
            let topics = application.topics
            for topic in [topics.checkpoint, topics.positions, topics.deltas, topics.reports] {
                let reader = try TopicReader(topic)
                try reader.update()
                #expect(reader.records.isEmpty, "\(topic)")
            }
        }

        @Test("no broker answers: stopping takes no time")
        func noBroker() throws {
            let application = try TestApplication("nobroker")
            let process = try application.start(instance: "a", ["kafka.bootstrap.servers=127.0.0.1:1"])
            Thread.sleep(forTimeInterval: 1)
            let ending = try process.stop()
            #expect(ending.status == 0 && ending.seconds < 5, "\(ending.seconds) s: \(ending.log)")
        }

        @Test("every shape gives the same rows", arguments: [WireShape.flat, .http, .avro])
        func shapes(_ shape: WireShape) throws {
            let application = try TestApplication("shape", partitions: 2)
            try application.createTopics()
            let workload = Workload.small(users: 40, seed: 12)
            try StreamFeeder(topic: application.input).feed(workload.records(shape))
            let process = try application.start(instance: "a")
            let report = try PublishedReport(application)
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            #expect(try process.stop().status == 0)
        }
    }
}
