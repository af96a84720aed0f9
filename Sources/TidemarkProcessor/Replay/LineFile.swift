/// Reads a file, a pipe or a terminal in large pieces that end with lines; gzip and Zstandard are decompressed on the way, known by how they
/// begin. Memory is bounded by the piece and the longest line.
public final class LineFile {
    /// Why a file cannot be read.
    public struct Failure: Error, CustomStringConvertible {
        /// What, where, and the system's reason.
        public let description: String

        package init(description: String) { self.description = description }
    }

    private let file: PlainFile
    private let source: any ByteSource
    /// The beginning of a line whose end was not read yet.
    private var rest: [UInt8] = []
    private var isAtEnd = false

    /// Opens a file; `-` is standard input.
    public convenience init(path: String) throws(Failure) {
        let file = try PlainFile(path: path)
        self.init(file, try file.content())
    }

    /// - Parameter head: what was read of the source already.
    init(_ file: PlainFile, _ source: any ByteSource, head: [UInt8] = []) {
        self.file = file
        self.source = source
        rest = head
    }

    /// How many bytes of the file were read.
    public var byteCount: Int64 { file.byteCount }

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
                rest.append(
                    contentsOf: UnsafeRawBufferPointer(start: piece.base + length, count: piece.count - length))
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
        let count = try source.read(into: piece.base + piece.count, count: wanted)
        isAtEnd = count == 0
        piece.wrote(count)
    }
}
