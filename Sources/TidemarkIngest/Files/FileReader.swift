internal import CXXHash
internal import TidemarkEvents
internal import TidemarkProcessor

/// Reads the JSON records of a file, decompressed, one after the other. Memory is bounded by the longest record.
final class FileReader {
    /// How much is read at a time.
    private static let piece = 1 << 20
    /// What no record of a file is longer than.
    private static let longest = 256 << 20

    private let file: PlainFile
    private let source: any ByteSource
    /// Of what was handed out.
    private let hash: UnsafeMutableRawPointer
    private var buffer: UnsafeMutableRawPointer
    private var capacity = FileReader.piece
    /// What is in the buffer and not handed out.
    private var (start, end) = (0, 0)
    private var isAtEnd = false

    /// Where the record that was handed out last ends, in the decompressed content.
    private(set) var position: Int64 = 0

    /// Opens a file.
    ///
    /// - Throws: when it cannot be opened or is of another kind.
    init(_ path: String) throws(LineFile.Failure) {
        file = try PlainFile(path: path)
        guard try file.peek(4) != [0x4F, 0x62, 0x6A, 0x01] else {
            throw LineFile.Failure(
                description: "\(path) is an Avro container file, which this version does not bring in")
        }
        source = try file.content()
        guard let hash = tidemark_xxh3_start() else { fatalError("out of memory: cannot start a hash") }
        self.hash = hash
        buffer = .allocate(byteCount: FileReader.piece + BatchSplitter.padding, alignment: 64)
    }

    deinit {
        tidemark_xxh3_end(hash)
        buffer.deallocate()
    }

    /// How many bytes of the file were read.
    var byteCount: Int64 { file.byteCount }

    /// A hash of the content up to `position`.
    var digest: String { String(tidemark_xxh3_digest(hash), radix: 16) }

    /// The next record with readable bytes behind it, valid until the next call; `nil` after the last one.
    ///
    /// - Throws: where the file is damaged or ends in the middle of a record. What came before is good.
    func next() throws(LineFile.Failure) -> ByteView? {
        while true {
            let bytes = UnsafeRawBufferPointer(start: buffer + start, count: end - start)
            switch RecordScanner.step(bytes, isAtEnd: isAtEnd) {
            case .record(let range):
                let record = UnsafeRawBufferPointer(rebasing: bytes[range])
                take(range.upperBound)
                return ByteView(record)
            case .more: try fill()
            case .end: return nil
            case .truncated(let place):
                throw LineFile.Failure(
                    description:
                        "\(file.name) ends in the middle of the record at byte \(position + Int64(place)) of its content"
                )
            }
        }
    }

    /// Passes over what was handed out at another time.
    ///
    /// - Returns: whether the content begins with the same bytes; if not, the reader is of no further use.
    func skip(to place: Int64, digest expected: String) throws(LineFile.Failure) -> Bool {
        while position < place {
            if start == end {
                try fill()
                if start == end { return false }
            }
            take(Int(min(Int64(end - start), place - position)))
        }
        return digest == expected
    }

    private func take(_ count: Int) {
        tidemark_xxh3_add(hash, buffer + start, count)
        start += count
        position += Int64(count)
    }

    /// Reads on, behind what is left.
    private func fill() throws(LineFile.Failure) {
        if start > 0 {
            buffer.copyMemory(from: buffer + start, byteCount: end - start)
            (start, end) = (0, end - start)
        }
        if end == capacity {
            guard capacity < FileReader.longest else {
                throw LineFile.Failure(
                    description:
                        "\(file.name) has a record of more than \(FileReader.longest) bytes at byte \(position) of its content"
                )
            }
            let larger = UnsafeMutableRawPointer.allocate(
                byteCount: capacity * 2 + BatchSplitter.padding, alignment: 64)
            larger.copyMemory(from: buffer, byteCount: end)
            buffer.deallocate()
            (buffer, capacity) = (larger, capacity * 2)
        }
        let count = try source.read(into: buffer + end, count: capacity - end)
        isAtEnd = count == 0
        end += count
    }
}
