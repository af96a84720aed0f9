internal import CSnappy
internal import CZlib
internal import CZstd

/// Decompresses the blocks of container files, one after the other, into memory that it keeps.
///
/// Each block is whole in memory, and so is what comes of it, up to a limit: a few bytes of a bomb can ask for gigabytes.
final class BlockDecompressor {
    /// Why a block cannot be decompressed.
    struct Failure: Error {
        let reason: String
    }

    /// The greatest content of a block, bytes.
    private let limit: Int
    private static let firstCapacity = 64 << 10
    /// Memory beyond this is given back before the next block.
    private static let keptCapacity = 8 << 20

    private var output = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var inflater: UnsafeMutablePointer<z_stream>?
    private var zstd: OpaquePointer?

    init(limit: Int = 256 << 20) { self.limit = limit }

    deinit {
        output.deallocate()
        if let inflater {
            inflateEnd(inflater)
            inflater.deallocate()
        }
        ZSTD_freeDCtx(zstd)
    }

    /// The content of a block, valid until the next call and as long as the data.
    func content(_ data: ByteView, _ codec: ContainerCodec) throws(Failure) -> ByteView {
        guard codec != .null else { return data }
        if output.count > BlockDecompressor.keptCapacity { reserve(0) }
        switch codec {
        case .deflate: return try inflate(data)
        case .snappy: return try unsnap(data)
        default: return try unzstd(data)
        }
    }

    /// Makes the output as large as this, keeping what is in it where it grows.
    private func reserve(_ size: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(size, BlockDecompressor.firstCapacity), alignment: 16)
        if size > output.count, output.count > 0 { larger.copyMemory(from: UnsafeRawBufferPointer(output)) }
        output.deallocate()
        output = larger
    }

    private func grow() throws(Failure) {
        guard output.count < limit else { throw tooLarge }
        reserve(min(output.count * 2, limit))
    }

    private func view(_ count: Int) -> ByteView { ByteView(UnsafeRawBufferPointer(rebasing: output[..<count])) }

    private var tooLarge: Failure {
        Failure(reason: "it decompresses to more than \(limit >> 20) MiB")
    }

    // MARK: Codecs

    private func inflate(_ data: ByteView) throws(Failure) -> ByteView {
        let stream = startedInflater()
        if output.count == 0 { reserve(0) }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: data.start)
        stream.pointee.avail_in = uInt(data.count)
        var written = 0
        while true {
            let room = output.count - written
            stream.pointee.next_out = output.baseAddress.map { ($0 + written).assumingMemoryBound(to: UInt8.self) }
            stream.pointee.avail_out = uInt(room)
            let code = CZlib.inflate(stream, Z_NO_FLUSH)
            written += room - Int(stream.pointee.avail_out)
            switch code {
            case Z_STREAM_END:
                // Some writers, that of Python for one, leave parts of zlib's checksum behind the data.
                return view(written)
            case Z_OK, Z_BUF_ERROR:
                guard stream.pointee.avail_out == 0 else {
                    throw Failure(reason: "its deflate data ends in the middle")
                }
                try grow()
            default:
                let words = stream.pointee.msg.map { String(cString: $0) } ?? "zlib says \(code)"
                throw Failure(reason: "its deflate data is damaged: \(words)")
            }
        }
    }

    private func startedInflater() -> UnsafeMutablePointer<z_stream> {
        if let inflater {
            inflateReset(inflater)
            return inflater
        }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // Negative: 15 bits of window, and neither header nor checksum.
        let code = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(code == Z_OK, "out of memory: cannot start zlib")
        inflater = stream
        return stream
    }

    private func unsnap(_ data: ByteView) throws(Failure) -> ByteView {
        let checksumSize = 4
        guard let start = data.start, data.count > checksumSize else {
            throw Failure(reason: "its snappy data ends in the middle")
        }
        var size = 0
        let stored = data.count - checksumSize
        let input = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
        guard snappy_uncompressed_length(input, stored, &size) == SNAPPY_OK else {
            throw Failure(reason: "its snappy data is damaged")
        }
        guard size <= limit else { throw tooLarge }
        if size > output.count || output.count == 0 { reserve(size) }
        guard let target = output.baseAddress?.assumingMemoryBound(to: CChar.self),
            snappy_uncompress(input, stored, target, &size) == SNAPPY_OK
        else { throw Failure(reason: "its snappy data is damaged") }
        let content = view(size)
        let expected = UInt32(bigEndian: UnsafeRawPointer(start + stored).loadUnaligned(as: UInt32.self))
        guard crc32(0, content.start, uInt(size)) == uLong(expected) else {
            throw Failure(reason: "the checksum of its content does not match")
        }
        return content
    }

    private func unzstd(_ data: ByteView) throws(Failure) -> ByteView {
        if zstd == nil { zstd = ZSTD_createDCtx() }
        guard let zstd else { fatalError("out of memory: cannot start Zstandard") }
        ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only)
        if output.count == 0 { reserve(0) }
        var input = ZSTD_inBuffer(src: data.start, size: data.count, pos: 0)
        var written = 0
        while true {
            var piece = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: written)
            let left = ZSTD_decompressStream(zstd, &piece, &input)
            guard ZSTD_isError(left) == 0 else {
                throw Failure(reason: "its Zstandard data is damaged: \(String(cString: ZSTD_getErrorName(left)))")
            }
            let isFull = piece.pos == output.count
            written = piece.pos
            // A frame has ended; there may be more of them.
            if left == 0, input.pos == input.size { return view(written) }
            if isFull {
                try grow()
            } else if input.pos == input.size {
                throw Failure(reason: "its Zstandard data ends in the middle")
            }
        }
    }
}
