import Foundation
import Testing
import TidemarkWorkload

extension ProgramTests {
    /// Processes with `limits.memory`.
    @Suite struct MemoryTests {
        @Test("a backlog many times the limit is worked off within it: rows and opens equal the truth")
        func backlog() throws {
            let application = try TestApplication("memory", settings: "limits: {memory: 160MiB}")
            try application.createTopics()
            let workload = Workload.small(users: 3_000, seed: 27)
            let expected = try ExpectedReport(workload)
            let report = try PublishedReport(application)
            // Large tombstones pass through all queues and leave no state behind.
            let ballast = InputRecord(
                key: Array("ballast".utf8), value: Array(repeating: UInt8(ascii: " "), count: 100_000), type: "unknown")
            let records = workload.records()
            let feeder = StreamFeeder(topic: application.input)
            let slice = records.count / 40
            for start in stride(from: 0, to: records.count, by: slice) {
                try feeder.feed(records[start..<min(start + slice, records.count)])
                try feeder.feed(repeatElement(ballast, count: 100))
            }
            let process = try application.start(instance: "a")
            try expected.wait(for: report, within: 60)
            let peak = try process.peakMemory()
            #expect(peak < 160 << 20, "\(peak >> 20) MB; \(process.log)")
            #expect(try process.stop().status == 0, "\(process.log)")
        }

        @Test("where the users alone need more than the limit, the process ends and says what to do")
        func tooMuch() throws {
            let application = try TestApplication("toomuch", settings: "limits: {memory: 80MiB}")
            try application.createTopics()
            let workload = Workload.small(users: 30_000, seed: 28)
            try StreamFeeder(topic: application.input).feed(workload.records())
            let ending = try application.start(instance: "a").waitForEnd(within: 90)
            #expect(ending.status == 1)
            #expect(ending.log.contains("Raise limits.memory, or start more processes"), "\(ending.log)")
        }
    }
}

extension TidemarkProcess {
    /// The most memory that it has had resident so far, bytes.
    fileprivate func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        guard let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw TestFailure("no peak in \(status)")
        }
        return kilobytes << 10
    }
}
