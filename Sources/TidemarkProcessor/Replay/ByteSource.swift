internal import CZlib
internal import CZstd

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Bytes that come one after another, of a file or of what a file holds in compressed form.
package protocol ByteSource: AnyObject {
    /// Reads up to `count` bytes, 1 at least; 0 is the end.
    func read(into start: UnsafeMutableRawPointer, count: Int) throws(LineFile.Failure) -> Int
}

extension PlainFile {
    /// What the file holds once it is decompressed, by how it begins; the file itself where it is not compressed.
    package func content() throws(LineFile.Failure) -> any ByteSource {
        let head = try peek(4)
        if head.starts(with: GzipSource.magic) { return GzipSource(self) }
        return head == ZstdSource.magic ? ZstdSource(self) : self
    }
}

/// A file, a pipe or a terminal as it is.
package final class PlainFile: ByteSource {
    /// What messages call it.
    package let name: String
    private let descriptor: Int32
    /// What was looked at and not read yet.
    private var peeked: [UInt8] = []
    /// How many bytes were read.
    package private(set) var byteCount: Int64 = 0
    /// Size of the file, bytes; 0 where it is not a file.
    package private(set) var fileSize: Int64 = 0

    /// Opens a file; `-` is standard input.
    package init(path: String) throws(LineFile.Failure) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LineFile.Failure(description: "cannot open \(name): \(String(cString: strerror(errno)))")
        }
        var status = stat()
        if fstat(descriptor, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR {
                throw LineFile.Failure(
                    description: "cannot read \(name): it is a directory; name its files, as in \(name)/*.ndjson")
            }
            if status.st_mode & S_IFMT == S_IFREG { fileSize = Int64(status.st_size) }
        }
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    /// The first bytes, up to `count` of them, which are read again.
    package func peek(_ count: Int) throws(LineFile.Failure) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: count)
        while peeked.count < count {
            let wanted = count - peeked.count
            let got = try readOn(&piece, wanted)
            guard got > 0 else { break }
            peeked += piece[..<got]
        }
        return peeked
    }

    package func read(into start: UnsafeMutableRawPointer, count: Int) throws(LineFile.Failure) -> Int {
        guard peeked.isEmpty else {
            let size = min(count, peeked.count)
            start.copyMemory(from: peeked, byteCount: size)
            peeked.removeFirst(size)
            return size
        }
        return try readOn(start, count)
    }

    private func readOn(_ start: UnsafeMutableRawPointer, _ count: Int) throws(LineFile.Failure) -> Int {
        var got = systemRead(descriptor, start, count)
        while got < 0, errno == EINTR { got = systemRead(descriptor, start, count) }
        guard got >= 0 else {
            throw LineFile.Failure(
                description: "cannot read \(name) at byte \(byteCount): \(String(cString: strerror(errno)))")
        }
        byteCount += Int64(got)
        return got
    }
}

private func systemRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, start, count)
}

/// The input of a decompressor, in memory that it reads from.
private struct CompressedInput: ~Copyable {
    private static let size = 256 << 10
    private let file: PlainFile
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: CompressedInput.size, alignment: 64)
    private var start = 0
    private var end = 0

    init(_ file: PlainFile) { self.file = file }

    deinit { buffer.deallocate() }

    /// What there is to decompress; nothing at the end of the file.
    mutating func bytes() throws(LineFile.Failure) -> UnsafeMutableRawBufferPointer {
        if start == end {
            start = 0
            end = try file.read(into: buffer, count: CompressedInput.size)
        }
        return UnsafeMutableRawBufferPointer(start: buffer + start, count: end - start)
    }

    /// Notes that bytes were decompressed.
    mutating func took(_ count: Int) { start += count }

    func truncated(_ format: String) -> LineFile.Failure {
        LineFile.Failure(
            description:
                "cannot read \(file.name): its \(format) data ends in the middle, at byte \(file.byteCount): it was cut off. Copy "
                + "it again")
    }

    func damaged(_ format: String, _ reason: String) -> LineFile.Failure {
        LineFile.Failure(
            description:
                "cannot read \(file.name): its \(format) data is damaged, near byte \(file.byteCount - Int64(end - start)): \(reason)"
        )
    }
}

/// What a gzip file holds, of any number of members.
final class GzipSource: ByteSource {
    /// How such a file begins.
    static let magic: [UInt8] = [0x1F, 0x8B]

    private var input: CompressedInput
    private var stream = z_stream()
    private var isInsideMember = false

    init(_ file: PlainFile) {
        input = CompressedInput(file)
        // 15 bits of window, and 16 for gzip's own header.
        let code = inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(code == Z_OK, "out of memory: cannot start zlib")
    }

    deinit { inflateEnd(&stream) }

    func read(into start: UnsafeMutableRawPointer, count: Int) throws(LineFile.Failure) -> Int {
        stream.next_out = start.assumingMemoryBound(to: UInt8.self)
        stream.avail_out = uInt(count)
        while stream.avail_out == uInt(count) {
            let bytes = try input.bytes()
            // Without more input there may still be output.
            if bytes.count == 0, !isInsideMember { return 0 }
            stream.next_in = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.avail_in = uInt(bytes.count)
            isInsideMember = true
            let code = inflate(&stream, Z_NO_FLUSH)
            if bytes.count == 0, stream.avail_out == uInt(count) { throw input.truncated("gzip") }
            input.took(bytes.count - Int(stream.avail_in))
            switch code {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END:
                isInsideMember = false
                inflateReset(&stream)
            default:
                throw input.damaged("gzip", stream.msg.map { String(cString: $0) } ?? "zlib says \(code)")
            }
        }
        return count - Int(stream.avail_out)
    }
}

/// What a Zstandard file holds, of any number of frames.
final class ZstdSource: ByteSource {
    /// How such a file begins.
    static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    private var input: CompressedInput
    private let stream: OpaquePointer
    private var isInsideFrame = false

    init(_ file: PlainFile) {
        input = CompressedInput(file)
        guard let stream = ZSTD_createDCtx() else { fatalError("out of memory: cannot start Zstandard") }
        self.stream = stream
    }

    deinit { ZSTD_freeDCtx(stream) }

    func read(into start: UnsafeMutableRawPointer, count: Int) throws(LineFile.Failure) -> Int {
        var output = ZSTD_outBuffer(dst: start, size: count, pos: 0)
        while output.pos == 0 {
            let bytes = try input.bytes()
            // Without more input there may still be output.
            if bytes.count == 0, !isInsideFrame { return 0 }
            var piece = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
            let left = ZSTD_decompressStream(stream, &output, &piece)
            if ZSTD_isError(left) != 0 { throw input.damaged("Zstandard", String(cString: ZSTD_getErrorName(left))) }
            if bytes.count == 0, output.pos == 0 { throw input.truncated("Zstandard") }
            input.took(piece.pos)
            isInsideFrame = left != 0
        }
        return output.pos
    }
}
