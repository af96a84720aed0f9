import Foundation
import Testing
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
    }
}
