import CZlib
import CZstd
import Foundation
import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkReports

@testable import TidemarkProcessor

/// Files of lines, as they are and compressed.
@Suite("Compressed files")
struct CompressedFileTests {
    private let folder: URL
    private let lines: [UInt8]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("lines-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Some pieces long, and not too easy to compress.
        var text = ""
        for number in 0..<60_000 { text += "line \(number) \(UInt64(number) &* 0x9E37_79B9_7F4A_7C15)\n" }
        lines = Array(text.utf8)
    }

    private func file(_ bytes: [UInt8]) throws -> String {
        let url = folder.appendingPathComponent(UUID().uuidString)
        try Data(bytes).write(to: url)
        return url.path
    }

    private func read(_ path: String) throws -> [UInt8] {
        let file = try LineFile(path: path)
        let piece = RecordPiece()
        var found: [UInt8] = []
        let source = RecordPiece.Source(name: path, type: .none)
        piece.beginLines(of: source, time: 0, isFirst: true)
        while try file.fill(piece) {
            found += UnsafeRawBufferPointer(start: piece.base, count: piece.count)
            piece.beginLines(of: source, time: 0, isFirst: false)
        }
        #expect(file.byteCount == (try PlainFile(path: path).fileSize))
        return found
    }

    private func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(&stream, 6, Z_DEFLATED, 15 + 16, 8, 0, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count + 1_000)
        let size = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                #expect(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(output[..<size])
    }

    private func zstd(_ bytes: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        let size = ZSTD_compress(&output, output.count, bytes, bytes.count, 3)
        return Array(output[..<size])
    }

    @Test("gzip and Zstandard, of one piece or several, give what was compressed")
    func sound() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try read(file(lines)) == lines)
        // Where members and frames meet, a line may go on.
        let (first, second) = (Array(lines[..<700_001]), Array(lines[700_001...]))
        for compress in [gzip, zstd] {
            #expect(try read(file(compress(lines))) == lines)
            #expect(try read(file(compress(first) + compress(second))) == lines)
            // Far more than a piece out of a few bytes of input.
            let blank = [UInt8](repeating: UInt8(ascii: "x"), count: 5 << 20)
            #expect(try read(file(compress(blank))) == blank)
            #expect(try read(file(compress([]))) == [])
        }
        #expect(try read(file([])) == [])
        #expect(try read(file([0x1F])) == [0x1F])
    }

    @Test("what was cut off or damaged is refused, with file and place")
    func unsound() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (format, bytes) in [("gzip", gzip(lines)), ("Zstandard", zstd(lines))] {
            for length in [8, 40, bytes.count / 2, bytes.count - 1] {
                let path = try file(Array(bytes[..<length]))
                let failure = #expect(throws: LineFile.Failure.self) { try read(path) }
                #expect(
                    failure?.description
                        == "cannot read \(path): its \(format) data ends in the middle, at byte \(length): it was cut off. Copy it again"
                )
            }
            var damaged = bytes
            for place in bytes.count / 2..<bytes.count / 2 + 200 { damaged[place] ^= 0x5A }
            let path = try file(damaged)
            let failure = #expect(throws: LineFile.Failure.self) { try read(path) }
            #expect(
                failure?.description.hasPrefix("cannot read \(path): its \(format) data is damaged, near byte ") == true
            )
        }
    }

    @Test(
        "what follows the data is refused, with file and place; zeros behind gzip and frames to be skipped are nothing")
    func followed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (format, bytes) in [("gzip", gzip(lines)), ("Zstandard", zstd(lines))] {
            for more in [[0x0A], Array("{\"id\": \"e-1\"}\n".utf8), [UInt8](repeating: 7, count: 1 << 20)] {
                let path = try file(bytes + bytes + more)
                let failure = #expect(throws: LineFile.Failure.self) { try read(path) }
                #expect(
                    failure?.description
                        == "cannot read \(path): its \(format) data ends at byte \(2 * bytes.count), and what follows is something else: "
                        + "cut it off, for example with `head -c \(2 * bytes.count)`, if it does not belong there")
            }
        }
        let (gzip, zstd) = (gzip(lines), zstd(lines))
        for zeros in [1, 512, 1 << 20] { #expect(try read(file(gzip + Array(repeating: 0, count: zeros))) == lines) }
        let skipped: [UInt8] = [0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
        #expect(try read(file(zstd + skipped + zstd + skipped)) == lines + lines)
        // A member or frame that is cut off so early is one all the same.
        for (format, bytes) in [("gzip", gzip + [0x1F]), ("Zstandard", zstd + [0x28, 0xB5])] {
            let path = try file(bytes)
            let failure = #expect(throws: LineFile.Failure.self) { try read(path) }
            #expect(
                failure?.description.hasPrefix("cannot read \(path): its \(format) data ends in the middle") == true)
        }
        // Zeros that something follows.
        let late = try file(gzip + Array(repeating: 0, count: 1 << 20) + [1])
        let failure = #expect(throws: LineFile.Failure.self) { try read(late) }
        #expect(failure?.description.contains("its gzip data ends at byte \(gzip.count), and") == true)
    }

    @Test("progress is by bytes of the compressed file, grows, and ends at the size of all files")
    func progress() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let events = Array(String(repeating: "{}\n", count: 2_000_000).utf8)
        let paths = [try file(gzip(events)), try file(zstd(events)), try file(events)]
        let sizes = try paths.map { try PlainFile(path: $0).fileSize }
        let sink = ParallelReplay(
            rules: AttributionRules.unlimited, settings: ReportSettings(), days: .utc, limits: DecoderLimits(),
            threadCount: 1)
        var told: [ReplayFiles.Progress] = []
        try ReplayFiles(paths, recordTime: 0).read(into: sink) { told.append($0) }
        #expect(told.allSatisfy { $0.bytesInAll == sizes.reduce(0, +) })
        #expect(zip(told, told.dropFirst()).allSatisfy { $0.bytesRead <= $1.bytesRead })
        #expect(told.first { $0.filesRead == 1 }?.bytesRead == sizes[0])
        #expect(told.first { $0.filesRead == 2 }?.bytesRead == sizes[0] + sizes[1])
        #expect(told.last?.bytesRead == sizes.reduce(0, +) && told.last?.filesRead == 3)
        _ = try sink.finish()
        #expect(sink.figures.eventCount == 6_000_000)
    }
}

extension AttributionRules {
    fileprivate static var unlimited: AttributionRules {
        var rules = AttributionRules()
        rules.allowedLateness = nil
        return rules
    }
}
