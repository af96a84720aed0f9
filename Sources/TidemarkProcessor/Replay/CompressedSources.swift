internal import CZlib
internal import CZstd

/// The input of a decompressor, in memory that it reads from.
struct CompressedInput: ~Copyable {
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

    /// The next bytes, `count` of them unless the file ends before; they stay to be decompressed.
    mutating func peek(_ count: Int) throws(LineFile.Failure) -> UnsafeRawBufferPointer {
        if end - start < count {
            buffer.copyMemory(from: buffer + start, byteCount: end - start)
            (start, end) = (0, end - start)
            while end < count {
                let got = try file.read(into: buffer + end, count: CompressedInput.size - end)
                guard got > 0 else { break }
                end += got
            }
        }
        return UnsafeRawBufferPointer(start: buffer + start, count: min(count, end - start))
    }

    /// Where the next byte is in the file.
    var place: Int64 { file.byteCount - Int64(end - start) }

    /// Notes that bytes were decompressed.
    mutating func took(_ count: Int) { start += count }

    func truncated(_ format: String) -> LineFile.Failure {
        LineFile.Failure(
            description:
                "cannot read \(file.name): its \(format) data ends in the middle, at byte \(file.byteCount): it was cut off. Copy "
                + "it again")
    }

    func followed(_ format: String, at place: Int64) -> LineFile.Failure {
        LineFile.Failure(
            description:
                "cannot read \(file.name): its \(format) data ends at byte \(place), and what follows is something else: cut it "
                + "off, for example with `head -c \(place)`, if it does not belong there")
    }

    func damaged(_ format: String, _ reason: String) -> LineFile.Failure {
        LineFile.Failure(
            description:
                "cannot read \(file.name): its \(format) data is damaged, near byte \(place): \(reason)"
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
            if !isInsideMember, try !hasMember() { return 0 }
            // Without more input there may still be output.
            let bytes = try input.bytes()
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

    /// Whether a member begins here, or the file ends. Zeros at the end are what tapes and block devices fill up with.
    private func hasMember() throws(LineFile.Failure) -> Bool {
        let next = try input.peek(GzipSource.magic.count)
        if GzipSource.magic.starts(with: next) || next.starts(with: GzipSource.magic) { return next.count > 0 }
        let end = input.place
        while true {
            let bytes = try input.bytes()
            if bytes.count == 0 { return false }
            let zeros = bytes.prefix { $0 == 0 }.count
            guard zeros == bytes.count else { throw input.followed("gzip", at: end) }
            input.took(zeros)
        }
    }
}

/// What a Zstandard file holds, of any number of frames.
final class ZstdSource: ByteSource {
    /// How such a file begins.
    static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// How a frame with something else in it begins, behind one of 16 bytes.
    private static let skipped: [UInt8] = [0x2A, 0x4D, 0x18]

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
            if !isInsideFrame, try !hasFrame() { return 0 }
            // Without more input there may still be output.
            let bytes = try input.bytes()
            var piece = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
            let left = ZSTD_decompressStream(stream, &output, &piece)
            if ZSTD_isError(left) != 0 { throw input.damaged("Zstandard", String(cString: ZSTD_getErrorName(left))) }
            if bytes.count == 0, output.pos == 0 { throw input.truncated("Zstandard") }
            input.took(piece.pos)
            isInsideFrame = left != 0
        }
        return output.pos
    }

    /// Whether a frame begins here, of data or to be skipped, or the file ends.
    private func hasFrame() throws(LineFile.Failure) -> Bool {
        let next = try input.peek(ZstdSource.magic.count)
        if ZstdSource.magic.starts(with: next) { return next.count > 0 }
        guard next.count == ZstdSource.magic.count, next[0] & 0xF0 == 0x50, next[1...].elementsEqual(ZstdSource.skipped)
        else { throw input.followed("Zstandard", at: input.place) }
        return true
    }
}
