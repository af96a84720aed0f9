import Foundation
import Testing
import TidemarkProcessor
import TidemarkWorkload

extension ProgramTests {
    /// State that comes back from the checkpoint topic.
    @Suite struct CheckpointTests {
        @Test("a restart loads chunks and reads only what they do not cover")
        func redoIsShort() throws {
            let application = try TestApplication("checkpoint", commitInterval: "50ms")
            try application.createTopics()
            let workload = Workload.small(users: 400, seed: 21)
            let expected = try ExpectedReport(workload)
            let records = workload.records()
            let feeder = StreamFeeder(topic: application.input)
            let report = try PublishedReport(application)

            let first = try application.start(instance: "a")
            // Many commits, so that every chunk gets a turn.
            let slice = records.count / 60
            for start in stride(from: 0, to: slice * 50, by: slice) {
                try feeder.feed(records[start..<start + slice])
                Thread.sleep(forTimeInterval: 0.1)
            }
            try eventually(within: 30, "part of the input: \(first.log)") {
                try report.update()
                return report.lines.count > 0
            }
            _ = try first.stop(SIGKILL)

            let second = try application.start(instance: "a")
            try feeder.feed(records[(slice * 50)...])
            try expected.wait(for: report, within: 40)
            let restored = second.log.split(separator: "\n").filter { $0.contains("restored partition") }
            #expect(restored.count >= application.partitions, "\(second.log)")
            for line in restored {
                let start = line.split(separator: "] ").last?.split(separator: " ").first.flatMap { Int($0) } ?? 0
                #expect(start > 0, "\(line)")
                #expect(!line.contains(": 0 users"), "\(line)")
            }
            #expect(try second.stop().status == 0)
        }

        @Test("a rebalance that gives partitions back: neither states nor rows are read again")
        func keptThroughRebalance() throws {
            let application = try TestApplication("kept")
            try application.createTopics()
            let workload = Workload.small(users: 200, seed: 29)
            let expected = try ExpectedReport(workload)
            let records = workload.records()
            let feeder = StreamFeeder(topic: application.input)
            let report = try PublishedReport(application)
            let group = try GroupReader(application)
            // One worker: who gets what among the workers of a process is not known.
            let first = try application.start(instance: "a", ["workers=1"])
            try feeder.feed(records[..<(records.count / 2)])
            try group.awaitFirstCommit(of: first)

            let second = try application.start(instance: "b", ["workers=1"])
            try eventually(within: 30, "both have partitions: \(second.log)") {
                second.log.contains("restored partition")
                    && second.log.contains("restored \(application.topics.reports)")
            }
            try feeder.feed(records[(records.count / 2)...])
            try expected.wait(for: report, within: 40)
            #expect(try second.stop().status == 0)
            try eventually(within: 30, "all partitions have come back: \(first.log)") {
                restorations("restored partition", in: first.log).count >= 2
                    && restorations("restored \(application.topics.reports)", in: first.log).values.reduce(0, +) >= 3
            }
            // What it gave away it had to read again; what it kept through two rebalances, and had begun with nothing, it did not.
            #expect(restorations("restored partition", in: first.log).values.sorted() == [1, 1], "\(first.log)")
            let rows = restorations("restored \(application.topics.reports)", in: first.log)
            #expect(rows.values.sorted() == [1, 2], "\(first.log)")
            #expect(try first.stop().status == 0)
        }

        /// How often each partition was restored by a log.
        private func restorations(_ mark: String, in log: String) -> [String: Int] {
            var counts: [String: Int] = [:]
            for line in log.split(separator: "\n") {
                guard let found = line.range(of: mark) else { continue }
                let rest = line[found.upperBound...].drop { $0 == " " }
                counts[String(rest.prefix { $0 != ":" && $0 != " " }), default: 0] += 1
            }
            return counts
        }
    }
}
