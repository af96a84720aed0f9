extension JSONScanner {
    private enum Expectation {
        case value, valueOrEnd, key, keyOrEnd, separatorOrEnd
    }

    /// What is wrong at a place, in words that also say what to do.
    enum Mistake: String {
        case encoding = "this is not UTF-8; send UTF-8"
        case end = "the JSON ends too soon; it may have been cut off"
        case value = "a value is expected here"
        case key = "a key in double quotes is expected here"
        case colon = "a colon is expected after the key"
        case member = "a comma or } is expected here"
        case element = "a comma or ] is expected here"
        case second = "nothing may follow the JSON; send one object or array per record"
        case word = "this is none of true, false and null"
        case number = "this is no number as JSON has them"
        case control = "control characters in a string have to be escaped, as in \\n or \\u0000"
        case escape = "there is no such escape in JSON"
        case surrogate = "this is half of a surrogate pair; both halves are needed, or UTF-8 instead"
        case depth = "objects and arrays are nested too deeply; 1,024 levels are read"
    }

    /// Where a document stops being JSON in UTF-8: the offset of the first byte that does not belong, or the length if the
    /// end comes too soon; `nil` if all is well.
    static func firstError(in value: ByteView) -> Int? { firstMistake(in: value)?.offset }

    /// As `firstError`, with what is wrong there.
    static func firstMistake(in value: ByteView) -> (offset: Int, mistake: Mistake)? {
        var scanner = JSONScanner(value)
        if let offset = firstEncodingError(in: value) {
            // Cut within a character.
            return (offset, scanner.isCutCharacter(at: offset) ? .end : .encoding)
        }
        guard let offset = scanner.firstSyntaxError() else { return nil }
        return (offset, offset >= value.count ? .end : scanner.mistake)
    }

    /// Whether the bytes from an offset on are the beginning of a character, and nothing else.
    private func isCutCharacter(at offset: Int) -> Bool {
        let rest = bytes[offset...]
        guard let first = rest.first, rest.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return false }
        let length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0
        return first < 0xF5 && rest.count < length
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
            if expected == .separatorOrEnd, open.isEmpty { return fail(.second) }
            let byte = bytes[position]
            switch expected {
            case .valueOrEnd where byte == UInt8(ascii: "]"), .keyOrEnd where byte == UInt8(ascii: "}"):
                open.removeLast()
                position += 1
                expected = .separatorOrEnd
            case .valueOrEnd where open.count >= Self.maxDepth, .keyOrEnd where open.count >= Self.maxDepth:
                // As in simdjson, only what holds something counts: an empty container may be one deeper.
                return fail(.depth)
            case .key, .keyOrEnd:
                if byte != UInt8(ascii: "\"") { return fail(.key) }
                guard takeString() else { return position }
                skipSpace()
                guard take(":") else { return fail(.colon) }
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

    /// Notes what is wrong here.
    private mutating func fail(_ mistake: Mistake) -> Int {
        self.mistake = mistake
        return position
    }

    /// A comma or the end of the innermost container; `nil` if it is neither.
    private mutating func takeSeparator(in open: inout [UInt8]) -> Expectation? {
        let isObject = open.last == UInt8(ascii: "{")
        mistake = isObject ? .member : .element
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
        mistake = .word
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
                mistake = .control
                return false
            default:
                position += 1
            }
        }
        return false
    }

    /// A backslash and what it escapes; on failure the position is back at the backslash, unless the end came.
    private mutating func takeEscape() -> Bool {
        let start = position
        position += 1
        if "\"\\/bfnrt".utf8.contains(current) {
            position += 1
            return true
        }
        mistake = .escape
        if let first = takeUnicodeEscape() {
            mistake = .surrogate
            if !(0xD800..<0xE000).contains(first) { return true }
            if first < 0xDC00, take("\\"), let second = takeUnicodeEscape(), (0xDC00..<0xE000).contains(second) {
                return true
            }
        }
        if position < bytes.count { position = start }
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
        mistake = current == UInt8(ascii: "-") || isDigit(position) ? .number : .value
        _ = take("-")
        let isZero = current == UInt8(ascii: "0")
        guard takeDigits() else {
            if position < bytes.count { position = start }
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
