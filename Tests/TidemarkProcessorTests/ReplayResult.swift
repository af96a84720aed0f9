import TidemarkEvents
import TidemarkProcessor
import TidemarkReports
import TidemarkWorkload

@testable import TidemarkProcessor

/// All that a replay ends in.
struct ReplayResult: Equatable {
    var rows: [UInt8]
    var counts: VerdictCounts
    var eventCount: Int
    var userCount: Int
    var refusals: [String]

    init(finishing sink: any ReplaySink) throws {
        var json = JSONWriter()
        try sink.finish().writeLines(to: &json)
        let figures = sink.figures
        rows = json.bytes
        counts = figures.counts
        eventCount = figures.eventCount
        userCount = figures.userCount
        refusals = figures.refusals.map { "\($0.place): \($0.rejection)" }
    }

    /// The same without the files and lines of refusals, which depend on the pieces that were fed.
    var withoutPlaces: ReplayResult {
        var result = self
        result.refusals = refusals.map { String($0.drop { $0 != " " }) }
        return result
    }
}

/// Lines of files, as a replay gets them.
enum ReplayLines {
    /// Lines of a stream: some come twice, the second time with another message, some cannot be read, some are blank.
    static func make(_ stream: EdgeStream, _ random: inout SplitMix64) -> [[UInt8]] {
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

    /// Feeds lines in pieces that end at `cuts`, as if they were two files.
    static func feed(_ lines: [[UInt8]], time: Int64, cuts: [Int], to sink: any ReplaySink) throws {
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
            piece = try sink.take(piece)
        }
    }
}
