#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
public import TidemarkEvents

/// Reads a file, a pipe or a terminal in large pieces and hands out its lines, each with the readable bytes behind it that the decoder
/// wants. Memory is bounded by the piece and the longest line.
public final class LineReader {
    /// Why a file cannot be read.
    public struct Failure: Error, CustomStringConvertible {
        /// What, where, and the system's reason.
        public let description: String
    }

    private static let pieceSize = 256 << 10
    private let name: String
    private let descriptor: Int32
    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int
    private var start = 0
    private var end = 0
    private var isAtEnd = false
    /// How many lines were handed out.
    public private(set) var lineNumber = 0
    /// How many bytes were read.
    public private(set) var byteCount: Int64 = 0
    /// Size of the file, bytes; 0 where it is not a file.
    public private(set) var fileSize: Int64 = 0

    /// Opens a file; `-` is standard input.
    public init(path: String) throws(Failure) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        capacity = LineReader.pieceSize * 2
        buffer = .allocate(byteCount: capacity + EventDecoder.padding, alignment: 64)
        guard descriptor >= 0 else {
            throw Failure(description: "cannot open \(name): \(String(cString: strerror(errno)))")
        }
        var status = stat()
        if fstat(descriptor, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR {
                throw Failure(
                    description: "cannot read \(name): it is a directory; name its files, as in \(name)/*.ndjson")
            }
            if status.st_mode & S_IFMT == S_IFREG { fileSize = Int64(status.st_size) }
        }
    }

    deinit {
        buffer.deallocate()
        if descriptor > STDIN_FILENO { close(descriptor) }
    }

    /// The next line that is not blank, without its end; valid until the next call. `nil` at the end.
    public func next() throws(Failure) -> ByteView? {
        while true {
            let available = end - start
            if let newline = memchr(buffer + start, 0x0A, available) {
                let length = UnsafeRawPointer(newline) - UnsafeRawPointer(buffer + start)
                let line = take(length, skipping: 1)
                if !line.isNull { return line }
            } else if isAtEnd {
                let line = take(available, skipping: 0)
                return line.isNull ? nil : line
            } else {
                try fill()
            }
        }
    }

    private func take(_ length: Int, skipping: Int) -> ByteView {
        let line = UnsafeRawPointer(buffer + start).assumingMemoryBound(to: UInt8.self)
        start += length + skipping
        if length > 0 || skipping > 0 { lineNumber += 1 }
        var count = length
        while count > 0, line[count - 1] == 0x0D || line[count - 1] == 0x20 || line[count - 1] == 0x09 { count -= 1 }
        return ByteView(start: count == 0 ? nil : line, count: count)
    }

    private func fill() throws(Failure) {
        if start > 0 {
            memmove(buffer, buffer + start, end - start)
            end -= start
            start = 0
        }
        if capacity - end < LineReader.pieceSize { enlarge() }
        var count = read(descriptor, buffer + end, LineReader.pieceSize)
        while count < 0, errno == EINTR { count = read(descriptor, buffer + end, LineReader.pieceSize) }
        guard count >= 0 else {
            throw Failure(description: "cannot read \(name) at byte \(byteCount): \(String(cString: strerror(errno)))")
        }
        isAtEnd = count == 0
        end += count
        byteCount += Int64(count)
    }

    private func enlarge() {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity * 2 + EventDecoder.padding, alignment: 64)
        larger.copyMemory(from: buffer, byteCount: end)
        buffer.deallocate()
        buffer = larger
        capacity *= 2
    }
}
