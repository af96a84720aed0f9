extension JSONScanner {
    private enum Expectation {
        case value, valueOrEnd, key, keyOrEnd, separatorOrEnd
    }

    /// Where a document stops being JSON in UTF-8: the offset of the first byte that does not belong, or the length if the
    /// end comes too soon; `nil` if all is well.
    static func firstError(in value: ByteView) -> Int? {
        var scanner = JSONScanner(value)
        return firstEncodingError(in: value) ?? scanner.firstSyntaxError()
    }

    /// Where text stops being UTF-8; `nil` if all of it is.
    static func firstEncodingError(in value: ByteView) -> Int? {
        let bytes = JSONScanner(value).bytes
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded): offset += encoded.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }

    private mutating func firstSyntaxError() -> Int? {
        var open: [UInt8] = []
        var expected = Expectation.value
        while true {
            skipSpace()
            guard position < bytes.count else { return open.isEmpty && expected == .separatorOrEnd ? nil : position }
            if expected == .separatorOrEnd, open.isEmpty { return position }
            let byte = bytes[position]
            switch expected {
            case .valueOrEnd where byte == UInt8(ascii: "]"), .keyOrEnd where byte == UInt8(ascii: "}"):
                open.removeLast()
                position += 1
                expected = .separatorOrEnd
            case .valueOrEnd where open.count >= Self.maxDepth, .keyOrEnd where open.count >= Self.maxDepth:
                // As in simdjson, only what holds something counts: an empty container may be one deeper.
                return position
            case .key, .keyOrEnd:
                guard takeString() else { return position }
                skipSpace()
                guard take(":") else { return position }
                expected = .value
            case .value, .valueOrEnd:
                if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                    open.append(byte)
                    position += 1
                    expected = byte == UInt8(ascii: "{") ? .keyOrEnd : .valueOrEnd
                } else {
                    guard takeScalar() else { return position }
                    expected = .separatorOrEnd
                }
            case .separatorOrEnd:
                guard let next = takeSeparator(in: &open) else { return position }
                expected = next
            }
        }
    }

    /// A comma or the end of the innermost container; `nil` if it is neither.
    private mutating func takeSeparator(in open: inout [UInt8]) -> Expectation? {
        let isObject = open.last == UInt8(ascii: "{")
        if take(",") { return isObject ? .key : .value }
        guard take(isObject ? "}" : "]") else { return nil }
        open.removeLast()
        return .separatorOrEnd
    }

    private mutating func takeScalar() -> Bool {
        switch current {
        case UInt8(ascii: "\""): takeString()
        case UInt8(ascii: "t"): takeWord("true")
        case UInt8(ascii: "f"): takeWord("false")
        case UInt8(ascii: "n"): takeWord("null")
        default: takeNumber()
        }
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        for offset in 0..<word.utf8CodeUnitCount {
            guard current == word.utf8Start[offset] else { return false }
            position += 1
        }
        return true
    }

    private mutating func takeString() -> Bool {
        guard take("\"") else { return false }
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return true
            case UInt8(ascii: "\\"):
                guard takeEscape() else { return false }
            case 0..<0x20:
                return false
            default:
                position += 1
            }
        }
        return false
    }

    /// A backslash and what it escapes; on failure the position is back at the backslash.
    private mutating func takeEscape() -> Bool {
        let start = position
        position += 1
        if "\"\\/bfnrt".utf8.contains(current) {
            position += 1
            return true
        }
        if let first = takeUnicodeEscape() {
            if !(0xD800..<0xE000).contains(first) { return true }
            if first < 0xDC00, take("\\"), let second = takeUnicodeEscape(), (0xDC00..<0xE000).contains(second) {
                return true
            }
        }
        position = start
        return false
    }

    /// `u` and four hexadecimal digits.
    private mutating func takeUnicodeEscape() -> UInt32? {
        guard take("u") else { return nil }
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(current)).hexDigitValue else { return nil }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }

    private mutating func takeNumber() -> Bool {
        let start = position
        _ = take("-")
        let isZero = current == UInt8(ascii: "0")
        guard takeDigits() else {
            position = start
            return false
        }
        if isZero, bytes[position - 1] != UInt8(ascii: "0") || isDigit(position - 2) {
            position = start
            return false
        }
        if take("."), !takeDigits() { return false }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            return takeDigits()
        }
        return true
    }

    private func isDigit(_ offset: Int) -> Bool {
        offset >= 0 && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset])
    }

    /// One digit or more.
    private mutating func takeDigits() -> Bool {
        let start = position
        while position < bytes.count, isDigit(position) { position += 1 }
        return position > start
    }
}
