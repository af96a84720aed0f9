extension [UInt8] {
    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends eight hexadecimal digits, in lower case.
    @inline(__always)
    mutating func append(hex number: UInt32) {
        // Each half byte gets a byte of its own; those above nine are moved on from `:` to `a`.
        var spread = UInt64(number)
        spread = (spread | (spread << 16)) & 0x0000_FFFF_0000_FFFF
        spread = (spread | (spread << 8)) & 0x00FF_00FF_00FF_00FF
        spread = (spread | (spread << 4)) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = ((spread &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        let digits = spread &+ 0x3030_3030_3030_3030 &+ letters &* 39
        Swift.withUnsafeBytes(of: digits.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends 16 hexadecimal digits.
    mutating func append(hex number: UInt64) {
        append(hex: UInt32(truncatingIfNeeded: number >> 32))
        append(hex: UInt32(truncatingIfNeeded: number))
    }

    /// Appends 24 hexadecimal digits made of a number, as profile and dispatch ids look.
    mutating func append(objectID number: UInt64) {
        append(hex: UInt32(truncatingIfNeeded: SplitMix64.mix(number)))
        append(hex: number)
    }

    /// Appends an id in the shape of a UUID made of a number.
    mutating func append(uuid number: UInt64) {
        let other = SplitMix64.mix(number)
        append(hex: UInt32(truncatingIfNeeded: number >> 32))
        let begin = count
        append("-")
        append(hex: UInt32(truncatingIfNeeded: number))
        append(hex: UInt32(truncatingIfNeeded: other >> 32))
        append(hex: UInt32(truncatingIfNeeded: other))
        // The 24 digits make groups of 4, 4, 4 and 12: move the last groups on and put the dashes between.
        append("---")
        withUnsafeMutableBufferPointer { bytes in
            for place in stride(from: 11, through: 0, by: -1) {
                bytes[begin + 16 + place] = bytes[begin + 13 + place]
            }
            bytes[begin + 15] = UInt8(ascii: "-")
            for place in stride(from: 3, through: 0, by: -1) {
                bytes[begin + 11 + place] = bytes[begin + 9 + place]
            }
            bytes[begin + 10] = UInt8(ascii: "-")
            for place in stride(from: 3, through: 0, by: -1) {
                bytes[begin + 6 + place] = bytes[begin + 5 + place]
            }
            bytes[begin + 5] = UInt8(ascii: "-")
        }
    }

    /// Appends a number in decimal digits, with zeros in front up to a width.
    mutating func append(decimal number: Int, width: Int = 1) {
        var digits: UInt64 = 0
        var length = 0
        var rest = number
        // Eight digits at a time fit into one number; longer ones take a second round.
        while length < 8 && (rest > 0 || length < width) {
            digits = digits << 8 | UInt64(0x30 + rest % 10)
            rest /= 10
            length += 1
        }
        if rest > 0 || length < width {
            append(decimal: rest, width: Swift.max(1, width - 8))
        }
        Swift.withUnsafeBytes(of: digits.littleEndian) { append(contentsOf: $0.prefix(length)) }
    }
}

extension String {
    /// The text that a writer of bytes appends.
    init(bytes write: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        write(&bytes)
        self.init(decoding: bytes, as: UTF8.self)
    }
}
