internal import TidemarkEvents

/// Ids as most sources spell them, in half their bytes: hexadecimal digits in lower case, or a UUID of such digits.
///
/// A text is packed only where unpacking gives the very same bytes; whatever else stays as it is.
enum PackedText {
    /// The length of a UUID, and of its packed form.
    static let uuidLength = 36
    static let uuidBytes = 16
    /// Digits that are packed at a time: hexadecimal texts are so long, or a multiple of it.
    static let wordLength = 8
    static let wordBytes = 4

    private static let dash = UInt8(ascii: "-")

    /// Packs a UUID; `false` where the text, of the length of one, does not look like one.
    static func packUUID(_ text: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>) -> Bool {
        guard text[8] == dash, text[13] == dash, text[18] == dash, text[23] == dash else { return false }
        let words = (
            load(text), UInt64(half(text + 9)) | UInt64(half(text + 14)) << 32,
            UInt64(half(text + 19)) | UInt64(half(text + 24)) << 32, load(text + 28)
        )
        let packed = (pack(words.0), pack(words.1), pack(words.2), pack(words.3))
        guard unpack(packed.0) == words.0, unpack(packed.1) == words.1, unpack(packed.2) == words.2,
            unpack(packed.3) == words.3
        else { return false }
        store(packed.0, target)
        store(packed.1, target + 4)
        store(packed.2, target + 8)
        store(packed.3, target + 12)
        return true
    }

    /// Writes the text of a packed UUID.
    @inline(__always)
    static func unpackUUID(_ bytes: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>) {
        let second = unpack(half(bytes + 4))
        let third = unpack(half(bytes + 8))
        store(unpack(half(bytes)), target)
        target[8] = dash
        store(UInt32(truncatingIfNeeded: second), target + 9)
        target[13] = dash
        store(UInt32(truncatingIfNeeded: second >> 32), target + 14)
        target[18] = dash
        store(UInt32(truncatingIfNeeded: third), target + 19)
        target[23] = dash
        store(UInt32(truncatingIfNeeded: third >> 32), target + 24)
        store(unpack(half(bytes + 12)), target + 28)
    }

    /// Packs words of digits; `false` where the text has other characters.
    static func packDigits(
        _ text: UnsafePointer<UInt8>, words: Int, into target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        for word in 0..<words {
            let digits = load(text + word * wordLength)
            let packed = pack(digits)
            guard unpack(packed) == digits else { return false }
            store(packed, target + word * wordBytes)
        }
        return true
    }

    /// Writes the text of packed words.
    @inline(__always)
    static func unpackDigits(
        _ bytes: UnsafePointer<UInt8>, words: Int, into target: UnsafeMutablePointer<UInt8>
    ) {
        for word in 0..<words { store(unpack(half(bytes + word * wordBytes)), target + word * wordLength) }
    }

    /// Four bytes from eight digits, the first in the lowest byte; means nothing where they are no digits.
    private static func pack(_ digits: UInt64) -> UInt32 {
        let letters = digits >> 6 & 0x0101_0101_0101_0101
        let values = (digits & 0x0F0F_0F0F_0F0F_0F0F &+ letters &* 9) & 0x0F0F_0F0F_0F0F_0F0F
        var bytes = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        bytes = (bytes | bytes >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: bytes | bytes >> 16)
    }

    /// Eight digits from four bytes.
    @inline(__always)
    private static func unpack(_ bytes: UInt32) -> UInt64 {
        var spread = UInt64(bytes)
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        let values = spread >> 4 & 0x000F_000F_000F_000F | (spread & 0x000F_000F_000F_000F) << 8
        // Those above nine are moved on from `:` to `a`.
        let letters = (values &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return values &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }

    @inline(__always)
    private static func load(_ place: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    private static func half(_ place: UnsafePointer<UInt8>) -> UInt32 {
        UInt32(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt32.self))
    }

    @inline(__always)
    private static func store(_ value: some FixedWidthInteger, _ place: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(place).storeBytes(of: value.littleEndian, as: type(of: value))
    }
}

/// A text of a chunk, as it is there.
struct PackedView {
    private let bytes: UnsafePointer<UInt8>
    private let head: Int
    /// How long the text is, in bytes; at most what two bytes can say.
    let length: Int

    /// Reads a text of any form (`PackedHead`).
    @inline(__always)
    init(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        head = try reader.number()
        if head & 1 == 0 {
            length = head >> 1
            bytes = try reader.take(length)
        } else if head == Int(PackedHead.uuid) {
            length = PackedText.uuidLength
            bytes = try reader.take(PackedText.uuidBytes)
        } else {
            guard head >> 1 <= PackedHead.maxWords else { throw BinaryReader.Damaged() }
            length = (head >> 1) * PackedText.wordLength
            bytes = try reader.take((head >> 1) * PackedText.wordBytes)
        }
        guard length <= Int(UInt16.max) else { throw BinaryReader.Damaged() }
    }

    /// Reads a UUID that has no number before it.
    @inline(__always)
    init(uuid reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        head = Int(PackedHead.uuid)
        length = PackedText.uuidLength
        bytes = try reader.take(PackedText.uuidBytes)
    }

    /// Writes the text, `length` bytes.
    @inline(__always)
    func unpack(into target: UnsafeMutablePointer<UInt8>) {
        if head == Int(PackedHead.uuid) {
            PackedText.unpackUUID(bytes, into: target)
        } else if head & 1 != 0 {
            PackedText.unpackDigits(bytes, words: head >> 1, into: target)
        } else {
            target.update(from: bytes, count: length)
        }
    }
}
