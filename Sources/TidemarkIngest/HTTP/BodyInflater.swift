internal import CZlib

/// Decompresses a body that was sent with gzip, up to a limit: a body of a few bytes can stand for any number of them.
enum BodyInflater {
    /// What came out.
    enum Result {
        case bytes(UnsafeRawBufferPointer)
        /// More than the limit.
        case tooLarge
        /// No memory is to be had for it.
        case noRoom
        /// No gzip, or damaged, or cut off.
        case damaged(String)
    }

    /// Room is asked for in steps of at least this.
    private static let step = 64 << 10

    /// Decompresses all members of a body.
    ///
    /// - Parameters:
    ///   - limit: the most that may come out, bytes.
    ///   - reserve: gives memory for so many bytes, with what it gave before at its beginning; `nil` where there is none.
    static func inflate(
        _ body: UnsafeRawBufferPointer, limit: Int, reserve: (_ size: Int) -> UnsafeMutablePointer<UInt8>?
    ) -> Result {
        var stream = z_stream()
        // 15 bits of window, and 16 for gzip's own header.
        guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return .noRoom
        }
        defer { inflateEnd(&stream) }
        stream.next_in = UnsafeMutablePointer(mutating: body.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = uInt(body.count)
        var room = min(limit, max(step, body.count * 4))
        guard var output = reserve(room) else { return .noRoom }
        var size = 0
        while true {
            stream.next_out = output + size
            stream.avail_out = uInt(room - size)
            let code = CZlib.inflate(&stream, Z_NO_FLUSH)
            size = room - Int(stream.avail_out)
            switch code {
            case Z_STREAM_END where size > limit: return .tooLarge
            case Z_STREAM_END where stream.avail_in == 0:
                return .bytes(UnsafeRawBufferPointer(start: output, count: size))
            case Z_STREAM_END: inflateReset(&stream)
            case Z_OK where stream.avail_out > 0 && stream.avail_in == 0, Z_BUF_ERROR where stream.avail_out > 0:
                return .damaged("the gzip data ends in the middle")
            case Z_OK, Z_BUF_ERROR: break
            default:
                return .damaged(
                    "the gzip data is damaged: " + (stream.msg.map { String(cString: $0) } ?? "zlib says \(code)"))
            }
            guard stream.avail_out == 0 else { continue }
            // Just as large as the limit is fine, if nothing follows; one byte more tells.
            guard room <= limit else { return .tooLarge }
            room = min(limit + 1, room * 2)
            guard let more = reserve(room) else { return .noRoom }
            output = more
        }
    }
}
