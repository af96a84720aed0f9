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
    private struct Result: Equatable {
        var rows: [UInt8]
        var counts: VerdictCounts
        var eventCount: Int
        var userCount: Int
        var refusals: [String]
    }

    private func finish(_ sink: any ReplaySink) -> Result {
        var json = JSONWriter()
        sink.finish().writeLines(to: &json)
        let figures = sink.figures
        return Result(
            rows: json.bytes, counts: figures.counts, eventCount: figures.eventCount, userCount: figures.userCount,
            refusals: figures.refusals.map { "\($0.place): \($0.rejection)" })
    }

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

    /// Lines of a stream: some come twice, the second time with another message, some cannot be read, some are blank.
    private func lines(_ stream: EdgeStream, _ random: inout SplitMix64) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for event in stream.events {
            lines.append(event.json(.flatWithType))
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                var copy = event
                copy.campaignID = "another"
                lines.append(copy.json(.flatWithType))
            case 1: lines.append(Array("{\"id\": \(lines.count)".utf8))
            case 2: lines.append([])
            case 3:
                var far = event
                far.time += 1_000_000_000
                lines.append(far.json(.flatWithType))
            default: break
            }
        }
        return lines
    }

    private func feed(_ lines: [[UInt8]], time: Int64, cuts: [Int], to sink: any ReplaySink) {
        var piece = RecordPiece()
        for (start, end) in zip([0] + cuts, cuts + [lines.count]) {
            // Two files, so that line numbers begin anew.
            let isSecond = start >= lines.count / 2
            let isFirst = start == 0 || isSecond && (cuts.last { $0 < start } ?? 0) < lines.count / 2
            piece.beginLines(
                of: RecordPiece.Source(name: isSecond ? "b" : "a", type: .none), time: time, isFirst: isFirst)
            for line in lines[start..<end] {
                piece.reserve(line.count + 1)
                for (place, byte) in (line + [0x0A]).enumerated() {
                    piece.base.storeBytes(of: byte, toByteOffset: piece.count + place, as: UInt8.self)
                }
                piece.wrote(line.count + 1)
            }
            piece = sink.take(piece)
        }
    }

    @Test("any cut into pieces, any number of threads: rows, counts and refusals are those of one thread")
    func equalToOneThread() {
        let settings = PlainSettings()
        for seed in UInt64(1)...60 {
            var random = SplitMix64(seed: seed)
            let stream = EdgeStream(seed: seed, events: 150, horizon: 20 * 86_400, settings: settings)
            let lines = lines(stream, &random)
            let now = Int64(stream.events.map(\.time).max() ?? 0) * 1_000
            var results: [Result] = []
            for sink in sinks(settings, threads: Int(seed % 4) + 1) {
                let cuts = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                    Int.random(in: 0...lines.count, using: &random)
                }
                feed(lines, time: now, cuts: cuts.sorted(), to: sink)
                results.append(finish(sink))
            }
            // Line numbers depend on where the files meet, hence not compared for different cuts.
            results = results.map { result in
                var result = result
                result.refusals = result.refusals.map { String($0.drop { $0 != " " }) }
                return result
            }
            #expect(results[0] == results[1], "seed \(seed)")
            #expect(results[0].counts.deadLetterTotal > 0 && results[0].counts.duplicates > 0, "seed \(seed)")
        }
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
        var results: [Result] = []
        for sink in sinks(settings, threads: 2) {
            try ReplayFiles(paths, recordTime: .max / 4).read(into: sink)
            results.append(finish(sink))
        }
        #expect(results[0] == results[1])
        #expect(results[1].refusals.map { String($0.prefix { $0 != " " }.dropLast()) } == expected)
        #expect(results[1].eventCount == stream.events.count + 2 * expected.count)
    }

    @Test("one that is given up leaves no thread behind")
    func givenUp() throws {
        weak var abandoned: ParallelReplay?
        do {
            let sink = try #require(sinks(PlainSettings(), threads: 3)[1] as? ParallelReplay)
            abandoned = sink
            feed([Array("{}".utf8)], time: 0, cuts: [], to: sink)
        }
        #expect(abandoned == nil)
    }
}
