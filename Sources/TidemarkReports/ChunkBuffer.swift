internal import TidemarkEvents

/// Bytes of a chunk that is being written: what `BinaryWriter` writes, and packed texts, without an array's bookkeeping per byte.
struct ChunkBuffer: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        start = .allocate(capacity: capacity)
    }

    deinit { start.deallocate() }

    /// What was written so far; valid until the next write.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    /// Forgets what was written and keeps the memory.
    mutating func removeAll() { count = 0 }

    @inline(__always)
    mutating func byte(_ value: UInt8) {
        reserve(1)
        start[count] = value
        count += 1
    }

    /// Puts another byte where one was written.
    func replaceByte(at place: Int, by value: UInt8) { start[place] = value }

    @inline(__always)
    mutating func unsigned(_ value: UInt64) {
        reserve(10)
        var value = value
        while value >= 0x80 {
            start[count] = UInt8(truncatingIfNeeded: value) | 0x80
            count += 1
            value >>= 7
        }
        start[count] = UInt8(truncatingIfNeeded: value)
        count += 1
    }

    @inline(__always)
    mutating func signed(_ value: Int64) {
        unsigned(UInt64(bitPattern: value << 1) ^ UInt64(bitPattern: value >> 63))
    }

    @inline(__always)
    mutating func fixed(_ value: UInt64) {
        reserve(8)
        UnsafeMutableRawPointer(start + count).storeBytes(of: value.littleEndian, as: UInt64.self)
        count += 8
    }

    /// Writes bytes as they are.
    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        guard let source = bytes.baseAddress else { return }
        UnsafeMutableRawPointer(start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Writes a UUID without anything before it; `false`, and nothing is written, where the text is none.
    mutating func uuid(_ view: ByteView) -> Bool {
        guard view.count == PackedText.uuidLength, let text = view.start else { return false }
        reserve(PackedText.uuidBytes)
        guard PackedText.packUUID(text, into: start + count) else { return false }
        count += PackedText.uuidBytes
        return true
    }

    /// Writes a text, packed where that is possible (`PackedHead`).
    mutating func text(_ view: ByteView) {
        reserve(view.count + 10)
        guard let text = view.start, view.count > 0 else { return unsigned(0) }
        let words = view.count / PackedText.wordLength
        if view.count == PackedText.uuidLength, PackedText.packUUID(text, into: start + count + 1) {
            start[count] = PackedHead.uuid
            count += 1 + PackedText.uuidBytes
        } else if view.count % PackedText.wordLength == 0, words <= PackedHead.maxWords,
            PackedText.packDigits(text, words: words, into: start + count + 1)
        {
            start[count] = UInt8(words << 1 | 1)
            count += 1 + words * PackedText.wordBytes
        } else {
            unsigned(UInt64(view.count) << 1)
            (start + count).update(from: text, count: view.count)
            count += view.count
        }
    }

    @inline(__always)
    private mutating func reserve(_ additional: Int) {
        if count + additional > capacity { grow(count + additional) }
    }

    @inline(never)
    private mutating func grow(_ needed: Int) {
        capacity = max(needed, capacity * 2)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }
}

/// The number before a text: twice its length where it stands as it is; else an odd number, twice the words of digits and one.
enum PackedHead {
    /// No words: a UUID.
    static let uuid: UInt8 = 1
    /// Words at most, so that the number takes one byte.
    static let maxWords = 63
}
