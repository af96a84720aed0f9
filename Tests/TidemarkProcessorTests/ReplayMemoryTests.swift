import Foundation
import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

@testable import TidemarkProcessor

/// What a replay may take, and what it does where users cannot be written to disk.
@Suite("Memory of a replay")
struct ReplayMemoryTests {
    @Test("what is left of a limit for users")
    func shares() {
        func megabytes(_ limit: Int, threads: Int, isOfTopics: Bool = false) -> Int {
            ReplayMemory(within: limit << 20, threads: threads, isOfTopics: isOfTopics, directory: "").userBytes >> 20
        }
        #expect(megabytes(64, threads: 1) == 19)
        #expect(megabytes(1_024, threads: 2) == 732)
        #expect(megabytes(1_024, threads: 2, isOfTopics: true) == 588)
        #expect(megabytes(256, threads: 2, isOfTopics: true) == 108)
        // Never nothing.
        #expect(megabytes(64, threads: 100) == 6)
        #expect(ReplayMemory.threads(wanted: 64, within: 64 << 20) == 1)
        #expect(ReplayMemory.threads(wanted: 64, within: 256 << 20) == 10)
        #expect(ReplayMemory.threads(wanted: 2, within: 1 << 30) == 2)
    }

    private func system(_ files: [String: String]) throws -> String {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("system-\(UUID().uuidString)")
        for (path, text) in files {
            let file = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return root.path
    }

    @Test("the lowest of what the machine has and what the control groups allow, of either version")
    func available() throws {
        let machine = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:    8000000 kB\n"
        let cases: [([String: String], Int?)] = [
            ([:], nil),
            (["proc/meminfo": machine], 8_000_000 << 10),
            (
                ["proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"],
                8_000_000 << 10
            ),
            (
                ["proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000\n"],
                1_000_000
            ),
            (
                [
                    "proc/meminfo": machine, "proc/self/cgroup": "0::/a.slice/b.service\n",
                    "sys/fs/cgroup/a.slice/memory.max": "3000000\n",
                    "sys/fs/cgroup/a.slice/b.service/memory.max": "max\n",
                ], 3_000_000
            ),
            (
                [
                    "proc/self/cgroup": "12:cpu,cpuacct:/x\n4:memory:/docker/1\n",
                    "sys/fs/cgroup/memory/memory.limit_in_bytes": "5000000\n",
                ], 5_000_000
            ),
        ]
        for (files, expected) in cases {
            let root = try system(files)
            #expect(AvailableMemory.bytes(root: root) == expected, "\(files)")
            try? FileManager.default.removeItem(atPath: root)
        }
        // Of this machine, whatever it is.
        #expect((AvailableMemory.bytes() ?? 1 << 30) > 0)
    }

    private func task(_ settings: PlainSettings, userBytes: Int?) -> ReplayTask {
        var rules = AttributionRules(settings)
        rules.allowedLateness = 3_600
        return ReplayTask(
            rules: rules, settings: ReportSettings(), days: .utc, limits: DecoderLimits(),
            memory: userBytes.map { ReplayMemory(userBytes: $0, directory: "") })
    }

    @Test("a limited lateness: what is final leaves memory, and nothing that comes out depends on it")
    func limitedLateness() throws {
        var settings = PlainSettings()
        settings.span = 3_600
        settings.cap = 7_200
        settings.uniqueRetention = 90 * 86_400
        var settled = 0
        for seed in UInt64(1)...60 {
            let stream = EdgeStream(seed: seed, events: 400, horizon: 60 * 86_400, settings: settings)
            let lines = stream.events.map { $0.json(.flatWithType) }
            let cuts = Array(stride(from: 20, to: lines.count, by: 20))
            let plain = task(settings, userBytes: nil)
            try ReplayLines.feed(lines, time: .max / 4, cuts: cuts, to: plain)
            let bounded = task(settings, userBytes: plain.userBytes * 3 / 4)
            try ReplayLines.feed(lines, time: .max / 4, cuts: cuts, to: bounded)
            settled += bounded.settlings
            let results = try [plain, bounded].map { try ReplayResult(finishing: $0) }
            #expect(results[0].rows == results[1].rows, "seed \(seed)")
            #expect(results[0].counts == results[1].counts, "seed \(seed)")
            #expect(results[0].counts.deadLetterTotal > 0, "seed \(seed)")
        }
        #expect(settled >= 60)
    }

    @Test("a limited lateness and too little memory for what may still change: the replay ends and says what to do")
    func tooLittle() throws {
        let settings = PlainSettings()
        let stream = EdgeStream(seed: 4, events: 400, horizon: 86_400, settings: settings)
        let sink = task(settings, userBytes: 10)
        let failure = #expect(throws: ReplayFailure.self) {
            try ReplayLines.feed(
                stream.events.map { $0.json(.flatWithType) }, time: .max / 4, cuts: [100, 200], to: sink)
        }
        #expect(
            failure?.description
                == "the \(sink.figures.userCount) users that events may still change need 0 MB, and limits.memory leaves 0 MB for "
                + "them: with a limited attribution.allowed_lateness they cannot be written to disk. Raise limits.memory, or "
                + "replay with attribution.allowed_lateness=unlimited")
    }
}
