/// How many columns text takes in a terminal, and how to make it take fewer.
package enum DisplayText {
    /// Columns of a text: two for East Asian wide characters and emoji, none for what combines with its neighbour.
    package static func width(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + width($1) } }

    /// A text of at most so many columns: a longer one loses its middle to `…`, because names often differ at their ends.
    static func cut(_ text: String, to limit: Int) -> String {
        guard width(text) > limit else { return text }
        let tailRoom = max(0, limit - 1) * 2 / 5
        let tail = String(prefix(of: text.reversed(), columns: tailRoom).reversed())
        let head = String(prefix(of: text, columns: max(0, limit - 1 - width(tail))))
        return head + "…" + tail
    }

    private static func prefix(of text: some Sequence<Character>, columns: Int) -> [Character] {
        var used = 0
        return text.prefix { character in
            used += width(character)
            return used <= columns
        }
    }

    /// A text from outside without what could move the cursor, break the line or turn the direction of what follows.
    package static func safe(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: safe.append(" ")
            case .format where scalar.value != zeroWidthJoiner: continue
            default: safe.append(scalar)
            }
        }
        return String(safe)
    }

    /// A count with commas between thousands.
    static func count(_ value: Int64) -> String {
        let digits = Array(String(value.magnitude))
        var text = value < 0 ? "-" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// A share in per cent with one decimal, rounded half up; empty where the whole is not positive.
    static func rate(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0 else { return "" }
        let tenths = (Double(part) * 1_000 / Double(whole)).rounded(.toNearestOrAwayFromZero)
        let magnitude = Int64(tenths.magnitude)
        return (tenths < 0 ? "-" : "") + count(magnitude / 10) + ".\(magnitude % 10)%"
    }

    /// Keeps the parts of one emoji together.
    private static let zeroWidthJoiner: UInt32 = 0x200D
    /// Asks for the emoji form of the character before it.
    private static let emojiSelector: UInt32 = 0xFE0F

    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if isWide(first) || character.unicodeScalars.contains(where: { $0.value == emojiSelector }) { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return 1
        }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x1100 { return false }
        return scalar.properties.isEmojiPresentation || wideRanges.contains { $0.contains(scalar.value) }
    }

    /// The blocks whose characters are wide in every terminal: Hangul, kana, Han and its forms, wide punctuation, pictographs.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x1F1E6...0x1F1FF, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
