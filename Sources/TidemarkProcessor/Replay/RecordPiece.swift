public import TidemarkEvents

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A run of records that were read together: what a reader hands on, and what one thread decodes at a time.
///
/// It holds lines of a file, blocks of a container file or records of topics, in memory of its own, with the readable bytes behind them that the
/// decoder wants.
public final class RecordPiece {
    /// Where records come from.
    public struct Source: Sendable {
        /// A file, or a partition of a topic: how messages call it.
        public var name: String
        /// What it says about the types of its records.
        public var type: TopicType
        /// The number of the stream that has the watermark of its records.
        public var stream: Int32
        /// The writer schema of Avro values that do not name theirs.
        public var schema: AvroSchema?

        /// A source of records.
        public init(name: String, type: TopicType, stream: Int32 = 0, schema: AvroSchema? = nil) {
            self.name = name
            self.type = type
            self.stream = stream
            self.schema = schema
        }
    }

    /// A record as it is handed out.
    struct Record {
        /// `nil` for a tombstone.
        var value: ByteView?
        var hint: TypeHint
        /// Milliseconds since the epoch.
        var time: Int64
        var stream: Int32
        /// Number of the line in the piece, from 1 on, or of the record, from 0 on.
        var number: Int
        /// The writer schema of values that do not name theirs.
        var schema: AvroSchema?
        /// What to read instead of a value: a block of a container file.
        var block: ContainerBlock?
        /// Why there is nothing to read: a part of a file that is damaged.
        var damage: Rejection?
    }

    private struct Entry {
        var start: Int
        /// Bytes of the value; negative for a tombstone.
        var count: Int
        /// Bytes of the type header, right behind the value.
        var headerCount: Int
        var time: Int64
        var offset: Int64
        var source: Int32
        /// Values of a block.
        var valueCount: Int64 = 0
        var damage: Rejection?
    }

    /// About how many bytes are read at a time.
    static let size = 1 << 20
    /// Records of topics in a piece at most: small ones should not wait for long.
    private static let maximumRecords = 8_192

    private(set) var base: UnsafeMutableRawPointer
    private var capacity: Int
    /// Bytes in use.
    private(set) var count = 0
    private var entries: [Entry] = []
    /// Where the records are from: the file, or the partitions by the number that records name.
    private(set) var sources: [Source] = []
    private var lineTime: Int64?
    /// The header of the container file whose blocks it holds.
    private var header: ContainerHeader?
    /// Whether it begins with the first line of its file.
    private(set) var isFirstOfFile = false

    init() {
        capacity = RecordPiece.size + RecordPiece.size / 4
        base = .allocate(byteCount: capacity + EventDecoder.padding, alignment: 64)
    }

    deinit { base.deallocate() }

    /// Whether there is nothing in it.
    var isEmpty: Bool { count == 0 && entries.isEmpty }

    /// Makes room for `additional` bytes behind those in use.
    func reserve(_ additional: Int) {
        guard count + additional > capacity else { return }
        let larger = max(count + additional, capacity * 2)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: larger + EventDecoder.padding, alignment: 64)
        memory.copyMemory(from: base, byteCount: count)
        base.deallocate()
        (base, capacity) = (memory, larger)
    }

    // MARK: Lines

    /// Empties it for lines of a file.
    ///
    /// - Parameters:
    ///   - time: what future-dating is judged by, milliseconds since the epoch.
    ///   - isFirst: whether they are the first of the file.
    func beginLines(of source: Source, time: Int64, isFirst: Bool) {
        removeAll()
        isFirstOfFile = isFirst
        sources = [source]
        lineTime = time
    }

    /// Notes that bytes were written behind those in use.
    func wrote(_ bytes: Int) { count += bytes }

    /// Gives up the bytes from `length` on.
    func truncate(to length: Int) { count = length }

    // MARK: Records

    /// Empties it for records of topics.
    func beginRecords(of sources: [Source]) {
        removeAll()
        self.sources = sources
        isFirstOfFile = false
    }

    private func removeAll() {
        count = 0
        header = nil
        lineTime = nil
        entries.removeAll(keepingCapacity: true)
    }

    /// Copies a record in.
    func append(
        _ value: UnsafeRawBufferPointer?, header: UnsafeRawBufferPointer?, time: Int64, offset: Int64, source: Int
    ) {
        reserve((value?.count ?? 0) + (header?.count ?? 0))
        let start = count
        for bytes in [value, header] {
            guard let bytes, let first = bytes.baseAddress else { continue }
            (base + count).copyMemory(from: first, byteCount: bytes.count)
            count += bytes.count
        }
        entries.append(
            Entry(
                start: start, count: value?.count ?? -1, headerCount: header?.count ?? 0, time: time, offset: offset,
                source: Int32(source)))
    }

    // MARK: Blocks

    /// Empties it for blocks of a container file.
    func beginBlocks(of source: Source, header: ContainerHeader?) {
        beginRecords(of: [source])
        self.header = header
    }

    /// Copies a block in.
    ///
    /// - Parameters:
    ///   - data: the block as it is stored.
    ///   - time: what future-dating is judged by, milliseconds since the epoch.
    ///   - offset: where it begins in its file.
    func append(block data: UnsafeRawBufferPointer, valueCount: Int64, time: Int64, offset: Int64) {
        append(data, header: nil, time: time, offset: offset, source: 0)
        entries[entries.count - 1].valueCount = valueCount
    }

    /// Notes a part of a file that cannot be read.
    func append(damage: Rejection, offset: Int64) {
        append(nil, header: nil, time: 0, offset: offset, source: 0)
        entries[entries.count - 1].damage = damage
    }

    /// Whether it should be handed on.
    var isFull: Bool { count >= RecordPiece.size || entries.count >= RecordPiece.maximumRecords }

    // MARK: Reading

    /// Calls `body` for each record, blank lines excepted.
    ///
    /// - Returns: how many lines there are; 0 for records of topics.
    func forEach(_ body: (Record) -> Void) -> Int {
        if let lineTime { return forEachLine(lineTime, body) }
        for (number, entry) in entries.enumerated() {
            let source = sources[Int(entry.source)]
            let size = max(entry.count, 0)
            let typeHeader = view(entry.start + size, entry.headerCount)
            let value = entry.count < 0 ? nil : view(entry.start, entry.count)
            var record = Record(
                value: value, hint: TypeHint(header: typeHeader, topic: source.type), time: entry.time,
                stream: source.stream, number: number)
            record.schema = source.schema
            record.damage = entry.damage
            if let header, let value {
                record.block = ContainerBlock(header: header, data: value, valueCount: entry.valueCount)
            }
            body(record)
        }
        return 0
    }

    private func forEachLine(_ time: Int64, _ body: (Record) -> Void) -> Int {
        let hint = TypeHint(topic: sources[0].type)
        let stream = sources[0].stream
        var (start, number) = (0, 0)
        while start < count {
            let newline = memchr(base + start, 0x0A, count - start)
            let end = newline.map { UnsafeRawPointer($0) - UnsafeRawPointer(base) } ?? count
            number += 1
            let line = view(start, contentLength(from: start, to: end))
            start = end + 1
            guard !line.isNull else { continue }
            body(Record(value: line, hint: hint, time: time, stream: stream, number: number))
        }
        return number
    }

    /// The length of a line without the white space at its end.
    private func contentLength(from start: Int, to end: Int) -> Int {
        let line = base.assumingMemoryBound(to: UInt8.self)
        var last = end
        while last > start, line[last - 1] == 0x0D || line[last - 1] == 0x20 || line[last - 1] == 0x09 { last -= 1 }
        return last - start
    }

    private func view(_ start: Int, _ length: Int) -> ByteView {
        guard length > 0 else { return .null }
        return ByteView(start: UnsafePointer((base + start).assumingMemoryBound(to: UInt8.self)), count: length)
    }

    /// Where a record is, for messages.
    ///
    /// - Parameter linesBefore: lines of the file before this piece.
    func place(of number: Int, linesBefore: Int) -> String {
        guard lineTime == nil else { return "\(sources[0].name):\(linesBefore + number)" }
        let entry = entries[number]
        return "\(sources[Int(entry.source)].name) \(header == nil ? "offset" : "block at byte") \(entry.offset)"
    }
}
