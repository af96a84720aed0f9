#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// How the blocks of an object container file are compressed.
public enum ContainerCodec: String, CaseIterable, Sendable {
    /// Not at all.
    case null
    /// Raw deflate, without a checksum.
    case deflate
    /// Snappy, with a CRC-32 of the content behind it.
    case snappy
    /// Zstandard.
    case zstandard
}

/// What an object container file says about itself at its beginning.
public final class ContainerHeader: Sendable {
    /// Why a file cannot be read at all.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// What is wrong with its header.
        public let description: String
        /// Whether the schema is what is wrong.
        public let isSchema: Bool

        init(_ description: String, isSchema: Bool = false) {
            self.description = description
            self.isSchema = isSchema
        }
    }

    /// How every such file begins: `Obj` and a byte 1.
    public static let magic: [UInt8] = [0x4F, 0x62, 0x6A, 0x01]
    /// Bytes of the marker behind the header and behind each block.
    public static let syncSize = 16
    /// The longest header, bytes: a schema, and what its writer adds.
    public static let maxSize = 2 << 20

    /// The schema by which all its values were written.
    public let schema: AvroSchema
    /// How its blocks are compressed.
    public let codec: ContainerCodec
    /// The marker that stands behind each block.
    public let sync: [UInt8]
    /// Bytes that the header takes, its marker included.
    public let size: Int

    private init(schema: AvroSchema, codec: ContainerCodec, sync: [UInt8], size: Int) {
        self.schema = schema
        self.codec = codec
        self.sync = sync
        self.size = size
    }

    /// Reads a header.
    ///
    /// - Parameters:
    ///   - bytes: the beginning of the file, as much of it as there is.
    ///   - schemaOf: parses a schema, or finds one that was parsed before.
    /// - Returns: `nil` if the bytes end before the header does.
    /// - Throws: `Failure`.
    public static func read(
        _ bytes: ByteView, schemaOf: (String) throws(AvroSchema.Failure) -> AvroSchema = ContainerHeader.parse
    ) throws(Failure) -> ContainerHeader? {
        var cursor = AvroCursor(UnsafeBufferPointer(start: bytes.start, count: bytes.count))
        guard let begin = bytes.start, cursor.advance(magic.count) else { return nil }
        guard (0..<magic.count).allSatisfy({ begin[$0] == magic[$0] }) else {
            throw Failure("it does not begin as an object container file")
        }
        guard let metadata = try metadata(&cursor) else { return nil }
        let syncStart = cursor.place
        guard cursor.advance(syncSize) else { return nil }
        guard let text = metadata["avro.schema"] else { throw Failure("its header has no avro.schema") }
        let codecName = metadata["avro.codec"] ?? ContainerCodec.null.rawValue
        guard let codec = ContainerCodec(rawValue: codecName) else {
            let names = ContainerCodec.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure("its blocks are compressed with `\(codecName)`; Tidemark reads \(names)")
        }
        do {
            return ContainerHeader(
                schema: try schemaOf(text), codec: codec,
                sync: Array(UnsafeBufferPointer(start: syncStart, count: syncSize)), size: cursor.place - begin)
        } catch {
            throw Failure("the schema in its header cannot be used: \(error)", isSchema: true)
        }
    }

    /// Parses a schema of a header.
    public static func parse(_ text: String) throws(AvroSchema.Failure) -> AvroSchema { try AvroSchema(json: text) }

    /// The map of the header; `nil` if it is not all there.
    private static func metadata(_ cursor: inout AvroCursor) throws(Failure) -> [String: String]? {
        let broken = Failure("its header is damaged")
        var pairs: [String: String] = [:]
        while true {
            guard var count = cursor.long() else {
                if cursor.fault == .truncated { return nil }
                throw broken
            }
            if count == 0 { return pairs }
            if count < 0 {
                guard cursor.long() != nil, count > .min else { throw broken }
                count = -count
            }
            for _ in 0..<count {
                guard let key = cursor.length() else { return try missing(cursor, broken) }
                let name = ByteView(start: cursor.place, count: key).text ?? ""
                _ = cursor.advance(key)
                guard let length = cursor.length() else { return try missing(cursor, broken) }
                pairs[name] = ByteView(start: cursor.place, count: length).text ?? ""
                _ = cursor.advance(length)
            }
        }
    }

    /// A length that is not there yet, or one that never will be.
    private static func missing(_ cursor: AvroCursor, _ broken: Failure) throws(Failure) -> [String: String]? {
        guard cursor.fault == .truncated || cursor.fault == .beyondEnd else { throw broken }
        return nil
    }

    /// Where the next marker begins; `nil` if there is none.
    public func findSync(in bytes: ByteView) -> Int? {
        guard let start = bytes.start else { return nil }
        var at = 0
        while let hit = memchr(start + at, Int32(sync[0]), bytes.count - at) {
            at = UnsafeRawPointer(hit) - UnsafeRawPointer(start)
            guard at + ContainerHeader.syncSize <= bytes.count else { return nil }
            if isSync(start + at) { return at }
            at += 1
        }
        return nil
    }

    /// Whether the marker stands here, where at least its size can be read.
    public func isSync(_ place: UnsafePointer<UInt8>) -> Bool {
        sync.withUnsafeBufferPointer { marker in
            ByteView(start: place, count: marker.count) == ByteView(start: marker.baseAddress, count: marker.count)
        }
    }
}

/// How a block of a container file begins: how many values there are, and how many bytes.
public struct ContainerBlockHead: Equatable, Sendable {
    /// Bytes of the longest head.
    public static let maxSize = 20

    /// Values in the block.
    public let valueCount: Int64
    /// Bytes of its data as they are stored.
    public let dataSize: Int64
    /// Bytes of the head itself.
    public let size: Int

    /// Reads a head; `nil` where there is none.
    public init?(_ bytes: ByteView) {
        var cursor = AvroCursor(UnsafeBufferPointer(start: bytes.start, count: bytes.count))
        guard let start = bytes.start, let count = cursor.long(), let data = cursor.long(), count >= 0, data >= 0 else {
            return nil
        }
        (valueCount, dataSize, size) = (count, data, cursor.place - start)
    }
}

/// A block of a container file, as it is stored there.
public struct ContainerBlock {
    /// The header of its file.
    public var header: ContainerHeader
    /// Its data, compressed as the header says; without head and marker.
    public var data: ByteView
    /// How many values it holds, by its head.
    public var valueCount: Int64

    /// A block of a file.
    public init(header: ContainerHeader, data: ByteView, valueCount: Int64) {
        self.header = header
        self.data = data
        self.valueCount = valueCount
    }
}
