import TidemarkReports

/// Shows the bytes of a record to a person, with the part marked that an error is about.
struct PayloadText {
    /// How many lines are shown around the mark.
    private static let shownLines = 24
    private static let indent = "    "
    private static let bytesPerLine = 16

    let value: [UInt8]
    /// The bytes to mark; an empty range marks the place where something lacks.
    let mark: Range<Int>?
    /// Columns.
    let width: Int
    /// Whether all lines are shown, however many they are.
    let isFull: Bool

    /// A line, and the bytes that it shows.
    private struct Line {
        var text: String
        var bytes: Range<Int>
        /// The marker below it; empty for none.
        var marker = ""
    }

    /// The payload, each line ended.
    var text: String {
        if value.isEmpty { return Self.indent + "(no bytes)\n" }
        let lines = textLines ?? hexLines
        let marked = lines.firstIndex { !$0.marker.isEmpty } ?? 0
        let half = Self.shownLines / 2
        let first =
            isFull || lines.count <= Self.shownLines ? 0 : max(0, min(marked - half, lines.count - Self.shownLines))
        let end = isFull ? lines.count : min(lines.count, first + Self.shownLines)
        var text = ""
        if first > 0 { text += "\(Self.indent)… \(NumberText.count(lines[first].bytes.lowerBound, "byte")) before\n" }
        for line in lines[first..<end] {
            text += Self.indent + line.text + "\n"
            if !line.marker.isEmpty { text += Self.indent + line.marker + "\n" }
        }
        if end < lines.count {
            text +=
                "\(Self.indent)… \(NumberText.count(value.count - lines[end].bytes.lowerBound, "byte")) more (--full)\n"
        }
        return text
    }

    // MARK: Text

    /// The value as lines of text; `nil` where it is not text.
    private var textLines: [Line]? {
        guard let whole = String(validating: value, as: UTF8.self),
            !whole.unicodeScalars.contains(where: {
                $0.properties.generalCategory == .control && !"\n\r\t".unicodeScalars.contains($0)
            })
        else { return nil }
        let columns = max(20, width - Self.indent.count - 1)
        var lines: [Line] = []
        var line = Line(text: "", bytes: 0..<0)
        var markColumns: Range<Int>?
        var column = 0
        var place = 0
        func end(at place: Int) {
            if let columns = markColumns { line.marker = Self.marker(columns) }
            lines.append(line)
            line = Line(text: "", bytes: place..<place)
            (column, markColumns) = (0, nil)
        }
        for character in whole {
            let size = character.utf8.count
            let isBreak = character.isNewline
            let shown = isBreak ? "" : DisplayText.safe(String(character))
            let shownWidth = DisplayText.width(shown)
            if column + shownWidth > columns { end(at: place) }
            if isMarked(place, size) {
                markColumns = (markColumns?.lowerBound ?? column)..<max(column + max(shownWidth, 1), column + 1)
            }
            line.text += shown
            column += shownWidth
            place += size
            line.bytes = line.bytes.lowerBound..<place
            if isBreak { end(at: place) }
        }
        // What lacks at the end has no character of its own.
        if let mark, mark.lowerBound >= value.count { markColumns = column..<column + 1 }
        if !line.text.isEmpty || markColumns != nil || lines.isEmpty { end(at: place) }
        return lines
    }

    private func isMarked(_ place: Int, _ size: Int) -> Bool {
        guard let mark else { return false }
        return mark.isEmpty
            ? (place..<place + size).contains(mark.lowerBound) : mark.overlaps(place..<place + size)
    }

    private static func marker(_ columns: Range<Int>) -> String {
        String(repeating: " ", count: columns.lowerBound) + "^"
            + String(repeating: "~", count: max(0, columns.count - 1))
    }

    // MARK: Bytes

    /// The value as offset, hexadecimal digits and what of it is ASCII.
    private var hexLines: [Line] {
        stride(from: 0, to: value.count, by: Self.bytesPerLine).map { start in
            let bytes = start..<min(start + Self.bytesPerLine, value.count)
            let digits = value[bytes].map { Self.padded(String($0, radix: 16), 2) }.joined(separator: " ")
            let space = String(repeating: " ", count: Self.bytesPerLine * 3 - 1 - digits.count)
            let ascii = String(
                String.UnicodeScalarView(value[bytes].map { (0x20..<0x7F).contains($0) ? Unicode.Scalar($0) : "." }))
            var line = Line(
                text: "\(Self.padded(String(start, radix: 16), 8))  \(digits)\(space)  |\(ascii)|", bytes: bytes)
            if let mark {
                let end = max(mark.upperBound, mark.lowerBound + 1)
                let isEnd = mark.lowerBound == value.count && bytes.upperBound == value.count
                let shown = mark.lowerBound..<end
                let here = isEnd ? shown : shown.clamped(to: bytes)
                if !here.isEmpty {
                    let column = 10 + (here.lowerBound - start) * 3
                    line.marker =
                        String(repeating: " ", count: column) + String(repeating: "^", count: here.count * 3 - 1)
                }
            }
            return line
        }
    }

    private static func padded(_ digits: String, _ count: Int) -> String {
        String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
