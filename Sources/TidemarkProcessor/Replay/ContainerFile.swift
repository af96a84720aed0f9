#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import TidemarkEvents

/// Reads an Avro object container file block by block. What is damaged is noted in the pieces, and reading goes on behind the next sync marker.
/// Memory is bounded by the piece and the largest block.
final class ContainerFile {
    /// The largest block that is taken for one, bytes: a head that says more is damaged.
    private static let maxBlockSize: Int64 = 256 << 20
    private static let readSize = 256 << 10

    private let file: PlainFile
    private let source: any ByteSource
    private var header: ContainerHeader?
    /// What was read and not handed on yet.
    private var window: Window
    private var isAtEnd = false

    init(_ file: PlainFile, _ source: any ByteSource, head: [UInt8]) {
        self.file = file
        self.source = source
        window = Window(head)
    }

    /// How many bytes of the file were read.
    var byteCount: Int64 { file.byteCount }

    /// Reads on into a piece.
    ///
    /// - Parameters:
    ///   - origin: the file, for messages.
    ///   - time: the wall clock, milliseconds since the epoch.
    /// - Returns: whether there was anything left.
    func fill(_ piece: RecordPiece, of origin: RecordPiece.Source, time: Int64) throws(LineFile.Failure) -> Bool {
        piece.beginBlocks(of: origin, header: header)
        if header == nil {
            guard window.count > 0 || !isAtEnd else { return false }
            guard let header = try readHeader(piece) else { return true }
            self.header = header
            piece.beginBlocks(of: origin, header: header)
        }
        guard let header else { return false }
        while !isFull(piece, header), try want(1) { try takeBlock(header, into: piece, time: time) }
        return !piece.isEmpty
    }

    /// What is compressed becomes several times as much in the hands of the thread that decodes it.
    private func isFull(_ piece: RecordPiece, _ header: ContainerHeader) -> Bool {
        piece.isFull || (header.codec != .null && piece.count >= RecordPiece.size / 4)
    }

    // MARK: Header

    /// The header; `nil` where there is none that can be used, which the piece then says. Nothing of the file is read then.
    private func readHeader(_ piece: RecordPiece) throws(LineFile.Failure) -> ContainerHeader? {
        while true {
            do throws(ContainerHeader.Failure) {
                if let header = try ContainerHeader.read(window.view) {
                    window.drop(header.size)
                    return header
                }
            } catch {
                return giveUp(piece, error.isSchema ? .unknownSchema : .malformed, error.description)
            }
            guard window.count < ContainerHeader.maxSize, try want(window.count + 1) else {
                return giveUp(piece, .malformed, "its header ends in the middle")
            }
        }
    }

    private func giveUp(_ piece: RecordPiece, _ code: RejectionCode, _ reason: String) -> ContainerHeader? {
        piece.append(damage: Rejection(code: code, message: "nothing of the file can be read: \(reason)"), offset: 0)
        window.drop(window.count)
        isAtEnd = true
        return nil
    }

    // MARK: Blocks

    private func takeBlock(_ header: ContainerHeader, into piece: RecordPiece, time: Int64) throws(LineFile.Failure) {
        _ = try want(ContainerBlockHead.maxSize)
        guard let head = ContainerBlockHead(window.view), head.dataSize <= ContainerFile.maxBlockSize else {
            return try lose(header, piece, "it does not begin as a block does")
        }
        let end = head.size + Int(head.dataSize)
        guard try want(end + ContainerHeader.syncSize) else {
            return try lose(header, piece, "the file ends within it; it should hold \(head.valueCount) events")
        }
        guard let start = window.view.start, header.isSync(start + end) else {
            return try lose(
                header, piece, "its sync marker is not where it ends; it should hold \(head.valueCount) events")
        }
        let data = UnsafeRawBufferPointer(start: start + head.size, count: Int(head.dataSize))
        piece.append(block: data, valueCount: head.valueCount, time: time, offset: window.offset)
        window.drop(end + ContainerHeader.syncSize)
    }

    /// Passes over everything up to the end of the next marker.
    private func lose(_ header: ContainerHeader, _ piece: RecordPiece, _ reason: String) throws(LineFile.Failure) {
        let start = window.offset
        while true {
            if let marker = header.findSync(in: window.view) {
                window.drop(marker + ContainerHeader.syncSize)
                break
            }
            // A marker may have begun.
            window.drop(max(0, window.count - ContainerHeader.syncSize + 1))
            guard try want(window.count + 1) else {
                window.drop(window.count)
                break
            }
        }
        piece.append(
            damage: Rejection(
                code: .malformed,
                message:
                    "the block is damaged: \(reason). \(window.offset - start) bytes are passed over; copy the file again"
            ),
            offset: start)
    }

    // MARK: Reading

    /// Reads on until there are so many bytes; false if the file ends before.
    private func want(_ count: Int) throws(LineFile.Failure) -> Bool {
        while window.count < count, !isAtEnd {
            let room = window.room(for: max(ContainerFile.readSize, count - window.count))
            let got = try source.read(into: room.baseAddress!, count: room.count)
            isAtEnd = got == 0
            window.grew(got)
        }
        return window.count >= count
    }
}

/// The bytes between what was used and what was read.
private struct Window: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end: Int
    /// Where it begins in the file, decompressed.
    private(set) var offset: Int64 = 0

    init(_ head: [UInt8]) {
        memory = .allocate(byteCount: max(head.count, 64 << 10), alignment: 16)
        memory.copyBytes(from: head)
        end = head.count
    }

    deinit { memory.deallocate() }

    var count: Int { end - start }

    var view: ByteView { ByteView(UnsafeRawBufferPointer(rebasing: memory[start..<end])) }

    mutating func drop(_ count: Int) {
        start += count
        offset += Int64(count)
    }

    /// Memory behind the bytes, of that size.
    mutating func room(for size: Int) -> UnsafeMutableRawBufferPointer {
        if end + size > memory.count {
            let isSmall = count + size > memory.count
            let target = isSmall ? .allocate(byteCount: 2 * (count + size), alignment: 16) : memory
            memmove(target.baseAddress!, memory.baseAddress! + start, count)
            if isSmall { memory.deallocate() }
            (memory, start, end) = (target, 0, count)
        }
        return UnsafeMutableRawBufferPointer(rebasing: memory[end..<(end + size)])
    }

    mutating func grew(_ count: Int) { end += count }
}

/// A file of a replay, read as what it is: known by how it begins, compressed or not.
enum InputFile {
    case lines(LineFile)
    case container(ContainerFile)

    /// Opens a file; `-` is standard input.
    static func open(path: String) throws(LineFile.Failure) -> InputFile {
        let file = try PlainFile(path: path)
        let source = try file.content()
        var head = [UInt8](repeating: 0, count: ContainerHeader.magic.count)
        var got = 0
        while got < head.count {
            let count = try source.read(into: &head[got], count: head.count - got)
            if count == 0 { break }
            got += count
        }
        head.removeLast(head.count - got)
        return head == ContainerHeader.magic
            ? .container(ContainerFile(file, source, head: head)) : .lines(LineFile(file, source, head: head))
    }

    /// How many bytes of the file were read.
    var byteCount: Int64 {
        switch self {
        case .lines(let file): file.byteCount
        case .container(let file): file.byteCount
        }
    }

    /// Reads on into a piece.
    ///
    /// - Parameters:
    ///   - source: the file, for messages, and what it says about types.
    ///   - time: the wall clock at the start, milliseconds since the epoch.
    ///   - isFirst: whether the piece begins the file.
    /// - Returns: whether there was anything left.
    func fill(
        _ piece: RecordPiece, of source: RecordPiece.Source, time: Int64, isFirst: Bool
    ) throws(LineFile.Failure) -> Bool {
        switch self {
        case .lines(let file):
            piece.beginLines(of: source, time: time, isFirst: isFirst)
            return try file.fill(piece)
        case .container(let file):
            return try file.fill(piece, of: source, time: time)
        }
    }
}
