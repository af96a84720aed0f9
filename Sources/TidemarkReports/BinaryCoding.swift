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

    /// Reads one byte.
    public mutating func byte() throws(Damaged) -> UInt8 {
        guard left > 0, let here = place else { throw Damaged() }
        place = here + 1
        left -= 1
        return here.pointee
    }

    /// Reads a number.
    public mutating func unsigned() throws(Damaged) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64 {
            let next = try byte()
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
        throw Damaged()
    }

    /// Reads a number that fits another type.
    public mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(Damaged) -> Number
    {
        guard let value = Number(exactly: try unsigned()) else { throw Damaged() }
        return value
    }

    /// Reads a number whose absolute value is mostly small.
    public mutating func signed() throws(Damaged) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads a number of eight bytes.
    public mutating func fixed() throws(Damaged) -> UInt64 {
        guard left >= 8, let here = place else { throw Damaged() }
        place = here + 8
        left -= 8
        return UInt64(littleEndian: UnsafeRawPointer(here).loadUnaligned(as: UInt64.self))
    }

    /// Reads a text; valid as long as the bytes.
    public mutating func text() throws(Damaged) -> ByteView {
        let count: Int = try number()
        guard count <= left else { throw Damaged() }
        let view = ByteView(start: count == 0 ? nil : place, count: count)
        place = place.map { $0 + count }
        left -= count
        return view
    }
}
