import Foundation
import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

@testable import TidemarkProcessor

/// Several threads against one.
@Suite("Parallel replay")
struct ParallelReplayTests {
    private func sinks(_ settings: PlainSettings, threads: Int) -> [any ReplaySink] {
        var rules = AttributionRules(settings)
        rules.allowedLateness = nil
        rules.futureTolerance = 86_400
        return [
            ReplayTask(rules: rules, settings: ReportSettings(), days: .utc, limits: DecoderLimits()),
            ParallelReplay(
                rules: rules, settings: ReportSettings(), days: .utc, limits: DecoderLimits(), threadCount: threads),
        ]
    }

    @Test("any cut into pieces, any number of threads: rows, counts and refusals are those of one thread")
    func equalToOneThread() throws {
        let settings = PlainSettings()
        for seed in UInt64(1)...60 {
            var random = SplitMix64(seed: seed)
            let stream = EdgeStream(seed: seed, events: 150, horizon: 20 * 86_400, settings: settings)
            let lines = ReplayLines.make(stream, &random)
            let now = Int64(stream.events.map(\.time).max() ?? 0) * 1_000
            var results: [ReplayResult] = []
            for sink in sinks(settings, threads: Int(seed % 4) + 1) {
                let cuts = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                    Int.random(in: 0...lines.count, using: &random)
                }
                try ReplayLines.feed(lines, time: now, cuts: cuts.sorted(), to: sink)
                results.append(try ReplayResult(finishing: sink))
            }
            // Line numbers depend on where the files meet, hence not compared for different cuts.
            results = results.map(\.withoutPlaces)
            #expect(results[0] == results[1], "seed \(seed)")
            #expect(results[0].counts.deadLetterTotal > 0 && results[0].counts.duplicates > 0, "seed \(seed)")
        }
    }

    @Test("users are spread evenly over the threads", arguments: [1, 2, 3, 8])
    func shares(count: Int) {
        var users = Array(repeating: 0, count: count)
        for number in 0..<24_000 {
            let share = Array("user-\(number)".utf8).withUnsafeBytes { bytes in
                ReplayDecoder.share(of: ByteView(bytes).hash64, among: count)
            }
            users[share] += 1
        }
        for share in users { #expect(abs(share - 24_000 / count) < 600, "\(users)") }
    }

    @Test("files: the same rows, and refusals with file and line, whatever the length of lines and pieces")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("replay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = PlainSettings()
        let stream = EdgeStream(seed: 5, events: 4_000, horizon: 20 * 86_400, settings: settings)
        var expected: [String] = []
        var paths: [String] = []
        for (number, name) in ["a", "b"].enumerated() {
            var bytes: [UInt8] = []
            for (line, event) in stream.events.enumerated() where line % 2 == number {
                bytes += event.json(.flatWithType) + (line % 3 == 0 ? [0x0D, 0x0A] : [0x0A])
                // Longer than a piece, but a sound event; then one that is not.
                guard line % 1_600 == number else { continue }
                var long = event
                long.id = "long-\(line)"
                let json = long.json(.flatWithType)
                bytes += json.dropLast() + Array(",\"more\":\"".utf8)
                bytes += Array(repeating: UInt8(ascii: "x"), count: RecordPiece.size + line) + Array("\"}\n\n[\n".utf8)
                let place = bytes.count { $0 == 0x0A }
                expected.append("\(folder.path)/\(name):\(place)")
            }
            // The last line has no end.
            bytes.removeLast()
            paths.append(folder.appendingPathComponent(name).path)
            try Data(bytes).write(to: URL(fileURLWithPath: paths[number]))
        }
        var results: [ReplayResult] = []
        for sink in sinks(settings, threads: 2) {
            try ReplayFiles(paths, recordTime: .max / 4).read(into: sink)
            results.append(try ReplayResult(finishing: sink))
        }
        #expect(results[0] == results[1])
        #expect(results[1].refusals.map { String($0.prefix { $0 != " " }.dropLast()) } == expected)
        #expect(results[1].eventCount == stream.events.count + 2 * expected.count)
    }

    @Test("users are shared out evenly among any number of threads")
    func shares() {
        var random = SplitMix64(seed: 1)
        let hashes = (0..<30_000).map { _ in SampleUsers.uuid(&random) }.map { id in
            var id = id
            return id.withUTF8 { ByteView(UnsafeRawBufferPointer($0)).hash64 }
        }
        for count in [1, 2, 3, 7, 64] {
            var users = [Int](repeating: 0, count: count)
            for hash in hashes { users[ReplayDecoder.share(of: hash, among: count)] += 1 }
            #expect(users.allSatisfy { abs($0 - 30_000 / count) < 40 + 3_000 / count }, "\(users)")
        }
    }

    @Test("one that is given up leaves no thread behind")
    func givenUp() throws {
        weak var abandoned: ParallelReplay?
        do {
            let sink = try #require(sinks(PlainSettings(), threads: 3)[1] as? ParallelReplay)
            abandoned = sink
            try ReplayLines.feed([Array("{}".utf8)], time: 0, cuts: [], to: sink)
        }
        #expect(abandoned == nil)
    }
}
