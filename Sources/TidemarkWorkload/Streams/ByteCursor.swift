/// A place in memory to which bytes are written one after the other.
///
/// It checks no bounds: whoever makes one knows how much will be written, and that some bytes more (``slack``) are there.
struct ByteCursor {
    /// How many bytes behind what is written may be overwritten.
    static let slack = 8

    /// Where the next byte goes.
    private(set) var end: UnsafeMutableRawPointer

    init(at start: UnsafeMutableRawPointer) { end = start }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        end.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        end += text.utf8CodeUnitCount
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        end.copyMemory(from: start, byteCount: bytes.count)
        end += bytes.count
    }

    /// Appends a text that needs no escapes in quotes, or `null`.
    mutating func append(optional text: StaticString?) {
        guard let text else { return append("null") }
        append("\"")
        append(text)
        append("\"")
    }

    /// Replaces the last byte.
    @inline(__always)
    mutating func replaceLast(with byte: UInt8) {
        (end - 1).storeBytes(of: byte, as: UInt8.self)
    }

    /// Eight hexadecimal digits, in lower case; the first is the highest byte.
    @inline(__always)
    private static func digits(_ number: UInt32) -> UInt64 {
        // Each half byte gets a byte of its own; those above nine are moved on from `:` to `a`.
        var spread = UInt64(number)
        spread = (spread | (spread << 16)) & 0x0000_FFFF_0000_FFFF
        spread = (spread | (spread << 8)) & 0x00FF_00FF_00FF_00FF
        spread = (spread | (spread << 4)) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = ((spread &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return spread &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }

    @inline(__always)
    private func put(_ digits: UInt64, at place: Int) {
        end.storeBytes(of: digits.bigEndian, toByteOffset: place, as: UInt64.self)
    }

    @inline(__always)
    private func put(_ digits: UInt32, at place: Int) {
        end.storeBytes(of: digits.bigEndian, toByteOffset: place, as: UInt32.self)
    }

    @inline(__always)
    private func put(_ byte: UInt8, at place: Int) {
        end.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
    }

    /// Appends eight hexadecimal digits, in lower case.
    @inline(__always)
    mutating func append(hex number: UInt32) {
        put(ByteCursor.digits(number), at: 0)
        end += 8
    }

    /// Appends 16 hexadecimal digits.
    @inline(__always)
    mutating func append(hex number: UInt64) {
        append(hex: UInt32(truncatingIfNeeded: number >> 32))
        append(hex: UInt32(truncatingIfNeeded: number))
    }

    /// Appends 24 hexadecimal digits made of a number, as profile and dispatch ids look.
    @inline(__always)
    mutating func append(objectID number: UInt64) {
        append(hex: UInt32(truncatingIfNeeded: SplitMix64.mix(number)))
        append(hex: number)
    }

    /// Appends an id in the shape of a UUID made of a number.
    @inline(__always)
    mutating func append(uuid number: UInt64) {
        let other = SplitMix64.mix(number)
        let second = ByteCursor.digits(UInt32(truncatingIfNeeded: number))
        let third = ByteCursor.digits(UInt32(truncatingIfNeeded: other >> 32))
        put(ByteCursor.digits(UInt32(truncatingIfNeeded: number >> 32)), at: 0)
        put(UInt32(truncatingIfNeeded: second >> 32), at: 9)
        put(UInt32(truncatingIfNeeded: second), at: 14)
        put(UInt32(truncatingIfNeeded: third >> 32), at: 19)
        put(UInt32(truncatingIfNeeded: third), at: 24)
        put(ByteCursor.digits(UInt32(truncatingIfNeeded: other)), at: 28)
        put(UInt8(ascii: "-"), at: 8)
        put(UInt8(ascii: "-"), at: 13)
        put(UInt8(ascii: "-"), at: 18)
        put(UInt8(ascii: "-"), at: 23)
        end += 36
    }

    /// Appends a number that is not negative in decimal digits, with zeros in front up to a width.
    mutating func append(decimal number: Int, width: Int = 1) {
        var digits: UInt64 = 0
        var length = 0
        var rest = UInt(number)
        // Eight digits at a time fit into one number; longer ones take a second round.
        while length < 8 && (rest > 0 || length < width) {
            digits = digits << 8 | UInt64(0x30 + rest % 10)
            rest /= 10
            length += 1
        }
        if rest > 0 || length < width {
            append(decimal: Int(rest), width: max(1, width - 8))
        }
        end.storeBytes(of: digits.littleEndian, as: UInt64.self)
        end += length
    }
}

extension String {
    /// A text of at most 64 bytes that a cursor writes.
    init(written write: (inout ByteCursor) -> Void) {
        self = withUnsafeTemporaryAllocation(byteCount: 64 + ByteCursor.slack, alignment: 8) { memory in
            guard let start = memory.baseAddress else { return "" }
            var cursor = ByteCursor(at: start)
            write(&cursor)
            return String(decoding: UnsafeRawBufferPointer(start: start, count: cursor.end - start), as: UTF8.self)
        }
    }
}
