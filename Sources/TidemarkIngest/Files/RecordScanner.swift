/// Finds where JSON records begin and end in a file: one a line, or printed over many lines, or all in one array. It looks at brackets
/// and quotes alone; whether a record is sound is for the decoder to say.
enum RecordScanner {
    /// What comes next.
    enum Step: Equatable {
        /// A record.
        case record(Range<Int>)
        /// More bytes are needed to tell.
        case more
        /// Nothing but space is left.
        case end
        /// The bytes end inside a record that begins here.
        case truncated(Int)
    }

    /// Looks for the next record.
    ///
    /// - Parameters:
    ///   - bytes: what was read and not handed out yet.
    ///   - isAtEnd: whether nothing follows them.
    static func step(_ bytes: UnsafeRawBufferPointer, isAtEnd: Bool) -> Step {
        guard let start = bytes.firstIndex(where: { !isSpace($0) }) else { return isAtEnd ? .end : .more }
        let first = bytes[start]
        let lineEnd = bytes[start...].firstIndex(of: newline) ?? (isAtEnd ? bytes.count : nil)
        if let lineEnd, isWholeLine(bytes, start, lineEnd) { return .record(start..<trimmed(bytes, start, lineEnd)) }
        guard first == openBrace || first == openBracket else {
            guard let lineEnd else { return .more }
            return .record(start..<trimmed(bytes, start, lineEnd))
        }
        return closing(bytes, start, isAtEnd: isAtEnd)
    }

    private static let newline = UInt8(ascii: "\n")
    private static let openBrace = UInt8(ascii: "{")
    private static let openBracket = UInt8(ascii: "[")

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> Int {
        var end = end
        while end > start, isSpace(bytes[end - 1]) { end -= 1 }
        return end
    }

    /// A line that begins and ends with a brace is taken for a record without looking inside: nobody prints an object over several lines so
    /// that the first of them ends like that, and looking would cost as much as decoding.
    private static func isWholeLine(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ lineEnd: Int) -> Bool {
        let end = trimmed(bytes, start, lineEnd)
        return bytes[start] == openBrace && end > start + 1 && bytes[end - 1] == UInt8(ascii: "}")
    }

    /// Looks for the bracket that closes the one at `start`.
    ///
    /// A line that begins with a brace while an object is still open begins a new record: the one before is broken, and must not swallow what
    /// follows. Inside an array such lines are its elements.
    private static func closing(_ bytes: UnsafeRawBufferPointer, _ start: Int, isAtEnd: Bool) -> Step {
        let isObject = bytes[start] == openBrace
        var (depth, isInString, place) = (0, false, start)
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "\\") where isInString: place += 1
            case openBrace where isObject && place > start && bytes[place - 1] == newline:
                return .record(start..<trimmed(bytes, start, place))
            case openBrace where !isInString, openBracket where !isInString: depth += 1
            case UInt8(ascii: "}") where !isInString, UInt8(ascii: "]") where !isInString:
                depth -= 1
                if depth == 0 { return .record(start..<place + 1) }
            default: break
            }
            place += 1
        }
        return isAtEnd ? .truncated(start) : .more
    }
}
