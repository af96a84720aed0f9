#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Reads a file, a pipe or a terminal in large pieces that end with lines. Memory is bounded by the piece and the longest line.
public final class LineFile {
    /// Why a file cannot be read.
    public struct Failure: Error, CustomStringConvertible {
        /// What, where, and the system's reason.
        public let description: String
    }

    private let name: String
    private let descriptor: Int32
    /// The beginning of a line whose end was not read yet.
    private var rest: [UInt8] = []
    private var isAtEnd = false
    /// How many bytes were read.
    public private(set) var byteCount: Int64 = 0
    /// Size of the file, bytes; 0 where it is not a file.
    public private(set) var fileSize: Int64 = 0

    /// Opens a file; `-` is standard input.
    public init(path: String) throws(Failure) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
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

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    /// Reads on into an empty piece, up to the end of some line.
    ///
    /// - Returns: whether there was anything left.
    func fill(_ piece: RecordPiece) throws(Failure) -> Bool {
        piece.reserve(rest.count)
        rest.withUnsafeBytes {
            if let start = $0.baseAddress { piece.base.copyMemory(from: start, byteCount: $0.count) }
        }
        piece.wrote(rest.count)
        rest.removeAll(keepingCapacity: true)
        // A piece without any end of a line grows until it has one.
        var searched = 0
        while !isAtEnd {
            while !isAtEnd, piece.count < max(RecordPiece.size, searched + 1) { try read(into: piece) }
            if isAtEnd { break }
            if let length = LineFile.endOfLastLine(in: piece, from: searched) {
                rest.append(contentsOf: UnsafeRawBufferPointer(start: piece.base + length, count: piece.count - length))
                piece.truncate(to: length)
                return true
            }
            searched = piece.count
        }
        return piece.count > 0
    }

    private static func endOfLastLine(in piece: RecordPiece, from searched: Int) -> Int? {
        let bytes = UnsafeRawBufferPointer(start: piece.base, count: piece.count)
        return bytes[searched...].lastIndex(of: 0x0A).map { $0 + 1 }
    }

    private func read(into piece: RecordPiece) throws(Failure) {
        let wanted = RecordPiece.size / 4
        piece.reserve(wanted)
        var count = Self.read(descriptor, piece.base + piece.count, wanted)
        while count < 0, errno == EINTR { count = Self.read(descriptor, piece.base + piece.count, wanted) }
        guard count >= 0 else {
            throw Failure(description: "cannot read \(name) at byte \(byteCount): \(String(cString: strerror(errno)))")
        }
        isAtEnd = count == 0
        piece.wrote(count)
        byteCount += Int64(count)
    }

    private static func read(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.read(descriptor, start, count)
        #elseif canImport(Musl)
            Musl.read(descriptor, start, count)
        #endif
    }
}
