import CZlib
import CZstd
import Foundation
import Testing
import TidemarkEvents

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
}
