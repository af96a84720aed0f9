internal import CTidemark

/// What is wrong with bytes that should be a value of some schema.
enum AvroFault: UInt8 {
    case none
    case truncated, negativeLength, beyondEnd, overlongNumber, tooLargeForInt, notBoolean, noSuchBranch, noSuchSymbol
    case notUTF8, tooDeep, tooManyItems, bytesLeft
}

/// A place in encoded data. It never goes beyond the end, whatever the data says; at a fault it stays at the first byte that is wrong.
struct AvroCursor {
    /// How deep values may be nested in one another.
    static let maxDepth = 200

    var place: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    private(set) var fault = AvroFault.none

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        // An empty buffer may have no address; then nothing is ever read.
        place = bytes.baseAddress ?? UnsafePointer(bitPattern: 1)!
        end = place + bytes.count
    }

    init(from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>) {
        place = start
        self.end = end
    }

    /// Notes a fault at the place, and gives false.
    @inline(never)
    mutating func fail(_ fault: AvroFault) -> Bool {
        self.fault = fault
        return false
    }

    /// Notes a fault at the place, and gives nothing.
    @inline(__always)
    private mutating func none<Value>(_ fault: AvroFault) -> Value? {
        _ = fail(fault)
        return nil
    }

    // MARK: Values

    /// A whole number; `nil` with a fault.
    @inline(__always)
    mutating func long() -> Int64? {
        guard place < end else { return none(.truncated) }
        let first = place.pointee
        guard first >= 0x80 else {
            place += 1
            return Int64(first >> 1) ^ -Int64(first & 1)
        }
        return longOfManyBytes()
    }

    @inline(never)
    private mutating func longOfManyBytes() -> Int64? {
        var value: UInt64 = 0
        var at = place
        var shift: UInt64 = 0
        while at < end {
            let byte = at.pointee
            // The tenth byte has room for the highest bit alone.
            if shift == 63, byte > 1 { return none(.overlongNumber) }
            value |= UInt64(byte & 0x7F) &<< shift
            at += 1
            if byte < 0x80 {
                place = at
                return Int64(bitPattern: value >> 1) ^ -Int64(value & 1)
            }
            shift += 7
        }
        place = end
        return none(.truncated)
    }

    /// A number of at most 32 bits.
    @inline(__always)
    mutating func int() -> Int64? {
        let start = place
        guard let value = long() else { return nil }
        guard value == Int64(Int32(truncatingIfNeeded: value)) else {
            place = start
            return none(.tooLargeForInt)
        }
        return value
    }

    /// The length of what follows, all of which is there.
    @inline(__always)
    mutating func length() -> Int? {
        let start = place
        guard let value = long() else { return nil }
        guard value >= 0, value <= Int64(end - place) else {
            place = start
            return none(value < 0 ? .negativeLength : .beyondEnd)
        }
        return Int(value)
    }

    /// Text in UTF-8.
    @inline(__always)
    mutating func text() -> ByteView? {
        guard let count = length() else { return nil }
        let start = place
        guard AvroCursor.isASCII(start, count) || isUTF8(start, count) else { return nil }
        place = start + count
        return ByteView(start: start, count: count)
    }

    /// The number of one of `count` branches or symbols.
    @inline(__always)
    mutating func choice(of count: Int32, otherwise fault: AvroFault) -> Int? {
        let start = place
        guard let value = long() else { return nil }
        guard value >= 0, value < Int64(count) else {
            place = start
            return none(fault)
        }
        return Int(value)
    }

    @inline(__always)
    mutating func boolean() -> Bool? {
        guard place < end else { return none(.truncated) }
        let byte = place.pointee
        guard byte < 2 else { return none(.notBoolean) }
        place += 1
        return byte == 1
    }

    /// Passes over bytes.
    @inline(__always)
    mutating func advance(_ count: Int) -> Bool {
        guard count <= end - place else {
            place = end
            return fail(.truncated)
        }
        place += count
        return true
    }

    // MARK: Text

    /// Whether no byte has its highest bit set: most texts, and quickly seen.
    @inline(__always)
    private static func isASCII(_ start: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let raw = UnsafeRawPointer(start)
        var bits: UInt64 = 0
        if count >= 8 {
            var at = 0
            let last = count - 8
            while at < last {
                bits |= (raw + at).loadUnaligned(as: UInt64.self)
                at += 8
            }
            bits |= (raw + last).loadUnaligned(as: UInt64.self)
        } else {
            for at in 0..<count { bits |= UInt64(start[at]) }
            bits &= 0x80
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    @inline(never)
    private mutating func isUTF8(_ start: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        if tidemark_is_utf8(start, count) { return true }
        place = start + (JSONScanner.firstEncodingError(in: ByteView(start: start, count: count)) ?? 0)
        return fail(.notUTF8)
    }
}

// MARK: - Passing over values

extension AvroCursor {
    /// Passes over a value of any type.
    mutating func skip(_ place: Int32, of program: AvroProgram, depth: Int = 0) -> Bool {
        guard depth < AvroCursor.maxDepth else { return fail(.tooDeep) }
        let node = program.nodes.start[Int(place)]
        switch node.shape {
        case .nothing: return true
        case .varint: return long() != nil
        case .int: return int() != nil
        case .boolean: return boolean() != nil
        case .fixed: return advance(Int(node.size))
        case .bytes: return length().map { advance($0) } ?? false
        case .text: return text() != nil
        case .symbol: return choice(of: node.count, otherwise: .noSuchSymbol) != nil
        case .record:
            for index in 0..<Int(node.count) {
                guard skip(program.children.start[Int(node.first) + index], of: program, depth: depth + 1) else {
                    return false
                }
            }
            return true
        case .union:
            guard let branch = choice(of: node.count, otherwise: .noSuchBranch) else { return false }
            return skip(program.children.start[Int(node.first) + branch], of: program, depth: depth + 1)
        case .array, .map: return skipBlocks(node, of: program, depth: depth)
        }
    }

    /// Passes over the items of an array or a map, which come in blocks.
    private mutating func skipBlocks(_ node: AvroNode, of program: AvroProgram, depth: Int) -> Bool {
        let item = program.children.start[Int(node.first)]
        let isMap = node.shape == .map
        let isEmpty = !isMap && program.nodes.start[Int(item)].shape == .nothing
        while true {
            let start = place
            guard var count = long() else { return false }
            if count == 0 { return true }
            if count < 0 {
                // A negative count is followed by the size of the block, bytes; the items are looked at all the same.
                guard length() != nil else { return false }
                count = count == .min ? .max : -count
            }
            // Items of no size are done with at once: any number of them may be said to follow.
            if isEmpty { continue }
            guard count <= Int64(end - place) else {
                place = start
                return fail(.tooManyItems)
            }
            for _ in 0..<count {
                if isMap, text() == nil { return false }
                guard skip(item, of: program, depth: depth + 1) else { return false }
            }
        }
    }
}
