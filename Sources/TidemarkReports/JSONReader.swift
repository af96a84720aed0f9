public import TidemarkEvents

/// Reads JSON forward, piece by piece: the counterpart of `JSONWriter`.
///
/// Our own reader, because a library that builds a tree of objects costs some 20 to 50 µs and 2 kB a record, and a restart reads
/// every row. It takes all valid JSON; texts come without their escapes.
///
/// - Important: The texts it hands out are valid during the call of `read` only.
public struct JSONReader {
    /// The bytes are not JSON, or not what was asked for.
    public struct Broken: Error {
        /// An error.
        public init() {}
    }

    /// What a value is.
    public enum Kind: Sendable {
        case object, array, text, number, other
    }

    /// A place to come back to.
    public struct Mark {
        fileprivate let position: Int
    }

    /// How many objects and arrays may be nested.
    private static let maxDepth = 128

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// Whether nothing of the innermost object or array was read yet.
    private var isFirst = true
    /// For texts that have escapes: they get shorter without, so that as much as the document has is enough for all of them.
    private let scratch: UnsafeMutablePointer<UInt8>
    private var scratchUsed = 0

    private init(_ bytes: UnsafeRawBufferPointer, scratch: UnsafeMutablePointer<UInt8>) {
        self.bytes = UnsafeBufferPointer(
            start: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        self.scratch = scratch
    }

    /// Calls `body` with a reader at the beginning of a document.
    public static func read<Value, Failure: Error>(
        _ bytes: UnsafeRawBufferPointer, _ body: (inout JSONReader) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let outcome: Result<Value, Failure> = withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: max(1, bytes.count)
        ) { scratch in
            var reader = JSONReader(bytes, scratch: scratch.baseAddress!)
            do throws(Failure) { return .success(try body(&reader)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// What the value at the position is.
    public mutating func kind() -> Kind {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .text
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): return .number
        default: return .other
        }
    }

    /// Steps into an object.
    public mutating func openObject() throws(Broken) { try open("{") }

    /// Steps into an array.
    public mutating func openArray() throws(Broken) { try open("[") }

    /// The key of the next member of an object, whose value comes next; `nil` at the object's end, which is stepped over.
    public mutating func nextKey() throws(Broken) -> ByteView? {
        guard try next(closing: "}") else { return nil }
        let key = try text()
        try take(":")
        return key
    }

    /// Whether an array has one more element, which comes next; its end is stepped over.
    public mutating func nextElement() throws(Broken) -> Bool { try next(closing: "]") }

    /// A text, without its escapes.
    public mutating func text() throws(Broken) -> ByteView {
        try take("\"")
        let start = position
        var union: UInt8 = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let view = slice(start..<position)
                position += 1
                if union >= 0x80 { try requireUTF8(view) }
                return view
            }
            if byte == UInt8(ascii: "\\") { return try escapedText(from: start) }
            guard byte >= 0x20 else { throw Broken() }
            union |= byte
            position += 1
        }
        throw Broken()
    }

    /// A number; `nil` where it has a fraction or an exponent, or does not fit.
    public mutating func integer() throws(Broken) -> Int64? {
        skipSpace()
        let isNegative = current == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let start = position
        var value: Int64? = 0
        while let digit = digit() {
            value = value.flatMap { JSONReader.appending(digit, to: $0, isNegative: isNegative) }
            position += 1
        }
        guard position > start, bytes[start] != UInt8(ascii: "0") || position == start + 1 else { throw Broken() }
        if current == UInt8(ascii: ".") {
            value = nil
            position += 1
            try skipDigits()
        }
        if current | 0x20 == UInt8(ascii: "e") {
            value = nil
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
        return value
    }

    /// Steps over a value, which must be valid.
    public mutating func skip() throws(Broken) { try skip(depth: 0) }

    /// Steps over a value, which must be valid, and gives its bytes as they stand.
    public mutating func raw() throws(Broken) -> ByteView {
        skipSpace()
        let start = position
        try skip()
        return ByteView(start: bytes.baseAddress.map { $0 + start }, count: position - start)
    }

    /// `true` or `false`; `nil` where something else comes, which is left there.
    package mutating func flag() -> Bool? { skipWord("true") ? true : skipWord("false") ? false : nil }

    /// Steps over `null`, if it is there.
    public mutating func skipNull() -> Bool { skipWord("null") }

    /// The place of the value that comes next.
    public var mark: Mark { Mark(position: position) }

    /// Goes back to a value that was skipped.
    public mutating func goBack(to mark: Mark) { position = mark.position }

    /// Whether nothing but space is left.
    public mutating func isAtEnd() -> Bool {
        skipSpace()
        return position == bytes.count
    }
}

// MARK: - Parts

extension JSONReader {
    /// The byte at the position, or 0 at the end: a NUL is valid nowhere.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: Unicode.Scalar) throws(Broken) {
        skipSpace()
        guard current == UInt8(ascii: byte) else { throw Broken() }
        position += 1
    }

    private mutating func open(_ byte: Unicode.Scalar) throws(Broken) {
        try take(byte)
        isFirst = true
    }

    private mutating func next(closing end: Unicode.Scalar) throws(Broken) -> Bool {
        skipSpace()
        if current == UInt8(ascii: end) {
            position += 1
            isFirst = false
            return false
        }
        if !isFirst { try take(",") }
        isFirst = false
        return true
    }

    private mutating func skip(depth: Int) throws(Broken) {
        guard depth < JSONReader.maxDepth else { throw Broken() }
        switch kind() {
        case .object:
            try openObject()
            while try nextKey() != nil { try skip(depth: depth + 1) }
        case .array:
            try openArray()
            while try nextElement() { try skip(depth: depth + 1) }
        case .text: _ = try text()
        case .number: _ = try integer()
        case .other: guard skipWord("null") || skipWord("true") || skipWord("false") else { throw Broken() }
        }
    }

    private mutating func skipWord(_ word: StaticString) -> Bool {
        skipSpace()
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, slice(position..<end).holds(word) else { return false }
        position = end
        return true
    }

    private func digit() -> UInt8? {
        let digit = current &- UInt8(ascii: "0")
        return digit <= 9 ? digit : nil
    }

    private mutating func skipDigits() throws(Broken) {
        guard digit() != nil else { throw Broken() }
        while digit() != nil { position += 1 }
    }

    private static func appending(_ digit: UInt8, to value: Int64, isNegative: Bool) -> Int64? {
        let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflows) =
            isNegative
            ? product.subtractingReportingOverflow(Int64(digit)) : product.addingReportingOverflow(Int64(digit))
        return isTooLarge || overflows ? nil : sum
    }

    private func slice(_ range: Range<Int>) -> ByteView {
        ByteView(start: bytes.baseAddress.map { $0 + range.lowerBound }, count: range.count)
    }

    private func requireUTF8(_ view: ByteView) throws(Broken) {
        let text = UnsafeBufferPointer(start: view.start, count: view.count)
        guard String(validating: text, as: UTF8.self) != nil else { throw Broken() }
    }
}

// MARK: - Escapes

extension JSONReader {
    /// The rest of a text from its first escape on, with what came before.
    private mutating func escapedText(from start: Int) throws(Broken) -> ByteView {
        let target = scratch + scratchUsed
        let plain = position - start
        var count = plain
        if plain > 0, let base = bytes.baseAddress { target.update(from: base + start, count: plain) }
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                scratchUsed += count
                let view = ByteView(start: target, count: count)
                try requireUTF8(view)
                return view
            case UInt8(ascii: "\\"): count += try unescape(into: target + count)
            case 0..<0x20: throw Broken()
            default:
                target[count] = byte
                count += 1
            }
        }
        throw Broken()
    }

    /// Reads what follows a backslash.
    ///
    /// - Returns: how many bytes it stands for.
    private mutating func unescape(into target: UnsafeMutablePointer<UInt8>) throws(Broken) -> Int {
        let byte = current
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): target.pointee = byte
        case UInt8(ascii: "b"): target.pointee = 0x08
        case UInt8(ascii: "t"): target.pointee = 0x09
        case UInt8(ascii: "n"): target.pointee = 0x0A
        case UInt8(ascii: "f"): target.pointee = 0x0C
        case UInt8(ascii: "r"): target.pointee = 0x0D
        case UInt8(ascii: "u"): return encode(try scalar(), into: target)
        default: throw Broken()
        }
        return 1
    }

    /// Reads what follows `\u`, with the second half of a pair.
    private mutating func scalar() throws(Broken) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, current == UInt8(ascii: "\\") else { throw Broken() }
        position += 1
        guard current == UInt8(ascii: "u") else { throw Broken() }
        position += 1
        let second = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw Broken() }
        return scalar
    }

    private mutating func hexadecimal() throws(Broken) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch current {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = current - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = current - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = current - UInt8(ascii: "A") + 10
            default: throw Broken()
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private func encode(_ scalar: Unicode.Scalar, into target: UnsafeMutablePointer<UInt8>) -> Int {
        var count = 0
        for unit in UTF8.encode(scalar)! {
            target[count] = unit
            count += 1
        }
        return count
    }
}

extension ByteView {
    /// Whether these are the bytes of a text.
    @inline(__always)
    package func holds(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        return self.count == count
            && self == ByteView(start: text.utf8Start, count: count)
    }
}
