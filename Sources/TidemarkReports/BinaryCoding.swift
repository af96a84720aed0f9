public import TidemarkEvents

/// Writes numbers of variable length and texts: what records between our own parts are made of.
public struct BinaryWriter {
    /// What was written so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer.
    public init() {}

    /// Writes one byte.
    public mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Writes a number in 7-bit groups, the lowest first.
    public mutating func unsigned(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    /// Writes a number whose absolute value is mostly small.
    public mutating func signed(_ value: Int64) {
        unsigned(UInt64(bitPattern: value << 1) ^ UInt64(bitPattern: value >> 63))
    }

    /// Writes a number in eight bytes.
    public mutating func fixed(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes a text with its length.
    public mutating func text(_ view: ByteView) {
        unsigned(UInt64(view.count))
        bytes.append(contentsOf: UnsafeBufferPointer(start: view.start, count: view.count))
    }
}

/// Reads what `BinaryWriter` wrote.
public struct BinaryReader {
    /// The record ended early or holds what no writer writes.
    public struct Damaged: Error {}

    private var place: UnsafePointer<UInt8>?
    private var left: Int

    /// A reader of bytes that must stay in place while it is in use.
    public init(_ bytes: UnsafeRawBufferPointer) {
        place = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        left = bytes.count
    }

    /// Whether everything was read.
    public var isAtEnd: Bool { left == 0 }

    /// How many bytes are left.
    var remaining: Int { left }

    /// Takes bytes; valid as long as those of the reader.
    @inline(__always)
    mutating func take(_ count: Int) throws(Damaged) -> UnsafePointer<UInt8> {
        guard count >= 0, count <= left, let here = place else { throw Damaged() }
        place = here + count
        left -= count
        return here
    }

    /// Reads one byte.
    @inline(__always)
    public mutating func byte() throws(Damaged) -> UInt8 { try take(1).pointee }

    /// Reads a number.
    @inline(__always)
    public mutating func unsigned() throws(Damaged) -> UInt64 {
        let first = try byte()
        return first < 0x80 ? UInt64(first) : try continued(UInt64(first & 0x7F))
    }

    private mutating func continued(_ lowest: UInt64) throws(Damaged) -> UInt64 {
        var value = lowest
        var shift: UInt64 = 7
        while shift < 64 {
            let next = try byte()
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
        throw Damaged()
    }

    /// Reads a number that fits another type.
    @inline(__always)
    public mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(Damaged) -> Number
    {
        guard let value = Number(exactly: try unsigned()) else { throw Damaged() }
        return value
    }

    /// Reads a number whose absolute value is mostly small.
    @inline(__always)
    public mutating func signed() throws(Damaged) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads a number of eight bytes.
    @inline(__always)
    public mutating func fixed() throws(Damaged) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(try take(8)).loadUnaligned(as: UInt64.self))
    }

    /// Reads a text; valid as long as the bytes.
    public mutating func text() throws(Damaged) -> ByteView {
        let count: Int = try number()
        return count == 0 ? .null : ByteView(start: try take(count), count: count)
    }
}
