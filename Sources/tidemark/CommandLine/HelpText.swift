/// Writes help texts of at most 100 columns.
enum HelpText {
    static let width = 100

    /// Help of one command.
    static func command(_ spec: CommandSpec) -> String {
        var text = "\(spec.summary)\n\nUsage: tidemark \(spec.title) \(spec.usage)\n"
        let paragraphs = spec.details.split(separator: "\n\n").map { wrap(String($0), indent: 0) }
        for paragraph in paragraphs { text += "\n" + paragraph }
        text += "\nOptions:\n"
        text += columns((spec.options + [.help]).map { (heading($0), $0.summary) })
        text += "\nExample:\n" + spec.example.split(separator: "\n").map { "  \($0)\n" }.joined()
        return text
    }

    /// Help of a group, or of the whole program if `group` is `nil`.
    static func overview(_ specs: [CommandSpec], group: String?) -> String {
        let prefix = group.map { "\($0) " } ?? ""
        let intro =
            group == nil
            ? "Tidemark turns message-engagement events from Kafka into campaign reports: direct and influenced opens."
            : ""
        var text = wrap(intro, indent: 0)
        if !text.isEmpty { text += "\n" }
        text += "Usage: tidemark \(prefix)COMMAND [options]\n\nCommands:\n"
        text += columns(specs.map { ($0.title, $0.summary) })
        text += "\n`tidemark \(prefix)COMMAND --help` shows the options of a command and an example.\n"
        if let first = specs.first { text += "\nExample:\n" + "  \(first.example.split(separator: "\n")[0])\n" }
        return text
    }

    private static func heading(_ option: OptionSpec) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        return short + "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
    }

    /// Two columns; the right one is wrapped.
    private static func columns(_ rows: [(left: String, right: String)]) -> String {
        let leftWidth = min(34, rows.map(\.left.count).max() ?? 0)
        let indent = leftWidth + 4
        return rows.map { row in
            let right = wrap(row.right, indent: indent)
            guard row.left.count <= leftWidth else { return "  \(row.left)\n\(right)" }
            let gap = String(repeating: " ", count: leftWidth - row.left.count + 2)
            return "  \(row.left)\(gap)\(right.dropFirst(indent))"
        }.joined()
    }

    /// Breaks a text into indented lines, between words only.
    static func wrap(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = margin
        for word in text.split(whereSeparator: \.isWhitespace) {
            if line.count > indent, line.count + 1 + word.count > width {
                lines.append(line)
                line = margin
            }
            line += (line.count > indent ? " " : "") + word
        }
        if line.count > indent { lines.append(line) }
        return lines.map { $0 + "\n" }.joined()
    }
}
