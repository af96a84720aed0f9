import Foundation
import Testing
import TidemarkWorkload

extension ProgramTests {
    /// A process that keeps the state of partitions it does not have.
    @Suite struct StandbyTests {
        @Test(
            "who follows the checkpoints takes over from a killed process where it stands: rows and opens equal the truth"
        )
        func takeOver() throws {
            let application = try TestApplication("standby", commitInterval: "50ms")
            try application.createTopics()
            let workload = Workload.small(users: 400, seed: 26)
            let report = try PublishedReport(application)
            let feeder = StreamFeeder(topic: application.input)
            let group = try GroupReader(application)
            feeder.begin(workload.records(), over: 18)

            // One after the other, so that each has two of the four partitions, and the second follows the first's.
            let first = try application.start(instance: "a", ["standby=true"])
            try group.awaitProgress(of: first, by: 100, from: feeder)
            let second = try application.start(instance: "b", ["standby=true", "server.listen=127.0.0.1:0"])
            try group.awaitProgress(of: second, by: 100, from: feeder)
            let address = try second.metricsAddress()
            try eventually(within: 20, "users of the other's partitions: \(second.log)") {
                let users = try Scrape.read(address).series("tidemark_standby_users")
                return users.count == 2 && users.allSatisfy { $0.value > 0 }
            }
            // What it had followed for a moment before its own partitions were given to it does not count.
            let linesBefore = second.log.split(separator: "\n").count
            try first.killHard()
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            let taken = second.log.split(separator: "\n").dropFirst(linesBefore)
                .filter { $0.contains("goes on from a standby") }
            #expect(taken.count >= 2, "\(second.log)")
            for line in taken { #expect(!line.contains(": 0 users"), "\(line)") }
            // With all partitions its own, there is nothing left to follow.
            #expect(try Scrape.read(address).series("tidemark_standby_users").isEmpty)
            let ending = try second.stop()
            #expect(ending.status == 0 && ending.seconds < 5, "\(ending.seconds) s: \(ending.log)")
        }
    }
}
