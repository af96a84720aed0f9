import Foundation
import Testing
import TidemarkKafka
import TidemarkWorkload

extension ProgramTests {
    /// Processes that end without warning, come and go, while the stream goes on.
    @Suite struct CrashTests {
        @Test("killed again and again while events come in: nothing lost, nothing twice")
        func kills() throws {
            let seed: UInt64 = 21
            var random = SplitMix64(seed: seed)
            let application = try TestApplication("kill")
            try application.createTopics()
            let workload = Workload.small(users: 400, seed: seed)
            let report = try PublishedReport(application)
            let feeder = StreamFeeder(topic: application.input)
            let group = try GroupReader(application)
            feeder.begin(workload.records(), over: 30)

            for _ in 0..<4 {
                let process = try application.start(instance: "a")
                // The group waits for the killed member before it gives its partitions away.
                try group.awaitProgress(of: process, from: feeder)
                Thread.sleep(forTimeInterval: Double.random(in: 0...0.8, using: &random))
                try process.killHard()
            }
            let last = try application.start(instance: "a")
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            let ending = try last.stop()
            #expect(ending.status == 0, "seed \(seed): \(ending.log)")
        }

        @Test("killed while it starts: nothing lost, nothing twice")
        func killsAtTheStart() throws {
            let seed: UInt64 = 22
            var random = SplitMix64(seed: seed)
            let application = try TestApplication("start")
            try application.createTopics()
            let workload = Workload.small(users: 150, seed: seed)
            try StreamFeeder(topic: application.input).feed(workload.records())
            let report = try PublishedReport(application)
            for _ in 0..<5 {
                let process = try application.start(instance: "a")
                Thread.sleep(forTimeInterval: Double.random(in: 0.05...1.2, using: &random))
                try process.killHard()
            }
            // Still waiting for the killed ones to be given up, it can be stopped.
            let waiting = try application.start(instance: "b")
            Thread.sleep(forTimeInterval: 0.5)
            let stopped = try waiting.stop()
            #expect(stopped.status == 0 && stopped.seconds < 5, "seed \(seed): \(stopped.seconds) s: \(stopped.log)")

            let last = try application.start(instance: "a")
            try ExpectedReport(workload).wait(for: report)
            let ending = try last.stop()
            #expect(ending.status == 0 && ending.seconds < 5, "seed \(seed): \(ending.seconds) s: \(ending.log)")
        }

        @Test("frozen until others have taken over, then awake again: what it had in hand does not count")
        func freeze() throws {
            let application = try TestApplication("freeze")
            try application.createTopics()
            let workload = Workload.small(users: 300, seed: 24)
            let report = try PublishedReport(application)
            let feeder = StreamFeeder(topic: application.input)
            let group = try GroupReader(application)
            feeder.begin(workload.records(), over: 14)
            let frozen = try application.start(instance: "a")
            try group.awaitProgress(of: frozen, by: 100, from: feeder)
            frozen.freeze()
            let other = try application.start(instance: "b")
            // The group gives the frozen one up after the session timeout.
            try group.awaitProgress(of: other, by: 100, from: feeder)
            frozen.thaw()
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            for process in [frozen, other] {
                let ending = try process.stop()
                #expect(ending.status == 0 && ending.seconds < 5, "\(ending.seconds) s: \(ending.log)")
            }
        }

        @Test("a second process joins, one is killed, one stopped and started again: rows and opens equal the truth")
        func processesComeAndGo() throws {
            let application = try TestApplication("scale")
            try application.createTopics()
            let workload = Workload.small(users: 400, seed: 23)
            let report = try PublishedReport(application)
            let feeder = StreamFeeder(topic: application.input)
            let group = try GroupReader(application)
            feeder.begin(workload.records(), over: 16)

            // The first two take slots of this machine, the third has a name.
            let first = try application.start()
            try group.awaitProgress(of: first, by: 100, from: feeder)
            let second = try application.start()
            try group.awaitProgress(of: second, by: 100, from: feeder)
            Thread.sleep(forTimeInterval: 1.5)
            try first.killHard()
            let third = try application.start(instance: "third")
            try group.awaitProgress(of: third, by: 100, from: feeder)
            let stopped = try second.stop()
            #expect(stopped.status == 0 && stopped.seconds < 5, "\(stopped.seconds) s: \(stopped.log)")
            try group.awaitProgress(of: third, by: 100, from: feeder)
            let again = try application.start()
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            #expect(report.deadLetters.records.isEmpty)
            for process in [again, third] {
                let ending = try process.stop()
                #expect(ending.status == 0 && ending.seconds < 5, "\(ending.seconds) s: \(ending.log)")
            }
        }
    }
}
