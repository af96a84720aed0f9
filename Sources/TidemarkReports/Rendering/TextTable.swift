/// A table of text: one column of labels, then columns of numbers, right-aligned, some of them under a common heading.
struct TextTable {
    /// A column of numbers.
    struct Column {
        /// What stands above it.
        var heading: String
        /// What stands above it and its neighbours with the same group; empty for none.
        var group = ""
    }

    /// A line of the table.
    struct Line {
        var label: String
        var cells: [String]
    }

    /// The narrowest that a column of labels gets before labels move to lines of their own.
    private static let narrowestLabel = 16
    private static let gap = "  "

    let labelHeading: String
    let columns: [Column]
    var lines: [Line] = []
    /// A line below the others, set apart.
    var total: Line?

    init(labelHeading: String, columns: [Column]) {
        self.labelHeading = labelHeading
        self.columns = columns
    }

    /// The table, each line ended; no line is wider than `width` where the numbers allow it.
    ///
    /// Labels that do not fit are cut. Where hardly any room is left for them, they go above their numbers instead.
    func text(width: Int) -> String {
        let widths = columnWidths()
        let numbersWidth = widths.reduce(0) { $0 + $1 + Self.gap.count }
        let natural = allLines.map { DisplayText.width($0.label) }.max() ?? 0
        let room = width - numbersWidth
        let isStacked = room < min(Self.narrowestLabel, natural)
        let labelWidth = isStacked ? 0 : max(min(natural, room), DisplayText.width(labelHeading))
        var text = ""
        func append(_ line: Line) {
            let label = DisplayText.cut(line.label, to: isStacked ? width : labelWidth)
            if isStacked, !label.isEmpty { text += label + "\n" }
            text += Self.trimmed(
                Self.padded(isStacked ? "" : label, to: labelWidth)
                    + zip(line.cells, widths).map { Self.gap + Self.aligned($0, to: $1) }.joined())
        }
        if columns.contains(where: { !$0.group.isEmpty }) {
            text += Self.trimmed(Self.padded("", to: labelWidth) + groupLine(widths))
        }
        append(Line(label: labelHeading, cells: columns.map(\.heading)))
        for line in lines { append(line) }
        if let total {
            text += String(repeating: "-", count: min(width, labelWidth + numbersWidth)) + "\n"
            append(total)
        }
        return text
    }

    private var allLines: [Line] { lines + (total.map { [$0] } ?? []) }

    private func columnWidth(_ column: Int) -> Int {
        let widest = allLines.map { DisplayText.width($0.cells[column]) }.max() ?? 0
        return max(widest, DisplayText.width(columns[column].heading))
    }

    /// The widths of all columns; those under a common heading are together at least as wide as it.
    private func columnWidths() -> [Int] {
        var widths = columns.indices.map(columnWidth)
        for (name, places) in groups {
            let lacking = DisplayText.width(name) - span(places, widths)
            if lacking > 0 { widths[places.upperBound] += lacking }
        }
        return widths
    }

    /// Neighbours under a common heading; a column without one is by itself.
    private var groups: [(name: String, places: ClosedRange<Int>)] {
        var groups: [(name: String, places: ClosedRange<Int>)] = []
        for (place, column) in columns.enumerated() {
            if let last = groups.last, !last.name.isEmpty, last.name == column.group {
                groups[groups.count - 1].places = last.places.lowerBound...place
            } else {
                groups.append((column.group, place...place))
            }
        }
        return groups
    }

    private func span(_ places: ClosedRange<Int>, _ widths: [Int]) -> Int {
        widths[places].reduce(0, +) + (places.count - 1) * Self.gap.count
    }

    /// The line of common headings, each centred over its columns.
    private func groupLine(_ widths: [Int]) -> String {
        groups.map { name, places in
            let span = span(places, widths)
            return Self.gap + (name.isEmpty ? String(repeating: " ", count: span) : Self.centred(name, in: span))
        }.joined()
    }

    private static func centred(_ text: String, in width: Int) -> String {
        let free = width - DisplayText.width(text) - 2
        guard free >= 2 else { return aligned(text, to: width) }
        let left = String(repeating: "-", count: free / 2)
        let right = String(repeating: "-", count: free - free / 2)
        return "\(left) \(text) \(right)"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - DisplayText.width(text)))
    }

    private static func aligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - DisplayText.width(text))) + text
    }

    private static func trimmed(_ line: String) -> String {
        var rest = line[...]
        while rest.last == " " { rest = rest.dropLast() }
        return rest + "\n"
    }
}
