public import TidemarkEvents

/// How published records are encoded.
public enum RecordEncoding: Equatable, Sendable {
    /// One JSON object.
    case json
    /// Avro behind the id that the schema has in a registry: a zero, four bytes of id, the fields.
    case avro(schemaID: UInt32)
}

/// Writes Avro's binary encoding into bytes, field by field: the caller keeps to the order of the schema.
public struct AvroRecordWriter {
    /// What was written so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer.
    public init() {}

    /// Forgets what was written and keeps the memory.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Writes what stands before the fields in a Kafka record.
    package mutating func begin(schemaID: UInt32) {
        bytes.append(0)
        withUnsafeBytes(of: schemaID.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes an int or a long: small numbers of either sign take few bytes.
    package mutating func integer(_ value: Int64) {
        var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Writes a boolean.
    package mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// Writes a double.
    package mutating func number(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes a string.
    package mutating func string(_ view: ByteView) {
        integer(Int64(view.count))
        bytes.append(contentsOf: UnsafeBufferPointer(start: view.start, count: view.count))
    }

    /// Writes a string.
    package mutating func string(_ text: String) {
        integer(Int64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a string.
    package mutating func string(_ text: StaticString) {
        string(ByteView(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes the first branch of a union with null.
    package mutating func null() { bytes.append(0) }

    /// Writes that the second branch of a union with null comes.
    package mutating func present() { bytes.append(2) }

    /// Writes a string or null; an empty view is null, as in JSON.
    package mutating func optional(_ view: ByteView) {
        guard view.count > 0 else { return null() }
        present()
        string(view)
    }
}

/// Reads Avro's binary encoding forward: the counterpart of `AvroRecordWriter`.
///
/// - Important: The texts it hands out are views of the bytes.
public struct AvroRecordReader {
    /// The bytes are not what was asked for.
    public struct Broken: Error {
        /// An error.
        public init() {}
    }

    private let bytes: UnsafeRawBufferPointer
    /// Where the next field begins; a place to come back to.
    public var position = 0

    /// A reader at the beginning of a record.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Whether a record is Avro behind a schema id; JSON never begins so.
    public static func isFramed(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.first == 0 }

    /// Whether nothing is left.
    public var isAtEnd: Bool { position == bytes.count }

    /// Reads what stands before the fields.
    ///
    /// - Returns: the id of the schema.
    @discardableResult public mutating func begin() throws(Broken) -> UInt32 {
        guard position == 0, bytes.count >= 5, bytes[0] == 0 else { throw Broken() }
        position = 5
        return UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
    }

    /// Reads an int or a long.
    public mutating func integer() throws(Broken) -> Int64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            guard shift < 63 || byte < 2 else { throw Broken() }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
            shift += 7
        }
        throw Broken()
    }

    /// Reads a double.
    public mutating func number() throws(Broken) -> Double {
        guard bytes.count - position >= 8 else { throw Broken() }
        defer { position += 8 }
        return Double(
            bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
    }

    /// Reads a string.
    public mutating func text() throws(Broken) -> ByteView {
        let count = try integer()
        guard count >= 0, count <= bytes.count - position, let start = bytes.baseAddress else { throw Broken() }
        let view = ByteView(UnsafeRawBufferPointer(start: start + position, count: Int(count)))
        let buffer = UnsafeBufferPointer(start: view.start, count: view.count)
        guard String(validating: buffer, as: UTF8.self) != nil else { throw Broken() }
        position += Int(count)
        return view
    }

    /// Reads which branch of a union with null comes.
    ///
    /// - Returns: whether it is not null.
    public mutating func isPresent() throws(Broken) -> Bool {
        switch try integer() {
        case 0: return false
        case 1: return true
        default: throw Broken()
        }
    }

    /// Reads a map of whole numbers.
    public mutating func map(_ take: (ByteView, Int64) -> Void) throws(Broken) {
        while true {
            var count = try integer()
            if count == 0 { return }
            // A negative count is followed by the size of the block.
            if count < 0, count != Int64.min, try integer() >= 0 { count = -count }
            guard count > 0, count <= bytes.count else { throw Broken() }
            for _ in 0..<count { take(try text(), try integer()) }
        }
    }
}
