extension Configuration {
    /// The effective configuration as YAML, which `load` reads again to the same effect.
    ///
    /// Settings that a layer has set carry their origin as a comment; secrets are replaced by stars.
    public func render() -> String {
        let defaults = Configuration()
        var writer = YAMLWriter()
        for key in Configuration.keys {
            switch key.access {
            case .value(_, let read):
                let isDefault = read(self) == read(defaults)
                let value = isDefault ? key.defaultValue : shown(read(self), key: key.name)
                writer.add(key.name, value.yaml, comment: originComment(key.name))
            case .entries(_, let read):
                let entries = read(self)
                if entries.isEmpty, key.name != "kafka" { writer.add(key.name, "{}", comment: nil) }
                for (entry, text) in entries.sorted(by: { $0.key < $1.key }) {
                    let name = "\(key.name).\(entry)"
                    writer.add(
                        section: key.name, leaf: entry, shown(.text(text), key: name).yaml,
                        comment: originComment(name))
                }
            }
        }
        return writer.text
    }

    /// The reference configuration: every key with its meaning, what it takes, and its default.
    public static func reference() -> String {
        var writer = YAMLWriter()
        writer.text = """
            # Every setting of Tidemark with its default. A file needs only the lines that differ.
            #
            # Layers: defaults < this file < TIDEMARK_… environment < --set key=value.
            # The variable of a key is its name in capitals with _ for dots: TIDEMARK_ATTRIBUTION_WINDOW_FIXED=45m.
            # Nested and dotted keys mean the same: `attribution.window.fixed: 45m` works at the top level, too.

            """
        for key in keys {
            switch key.access {
            case .value:
                writer.addComment(key, text: "\(key.summary).\nTakes \(key.allowed).")
                writer.add(key.name, key.defaultValue.yaml, comment: nil)
            case .entries:
                writer.addComment(key, text: "\(key.summary).\nTakes \(key.allowed).")
                if key.name != "kafka" { writer.add(key.name, "{}", comment: nil) }
            }
        }
        return writer.text
    }

    private func originComment(_ key: String) -> String? {
        guard let origin = origins[key]?.text else { return nil }
        return references[key].map { "\(origin), \($0)" } ?? origin
    }

    /// A value as it may be shown: secrets as stars, what came by reference as the reference.
    private func shown(_ value: RawValue, key: String) -> RawValue {
        let isSecret =
            key.hasPrefix("kafka.")
            ? KafkaProperties.isSecret(String(key.dropFirst(6))) : ConfigurationKey.owning(key)?.isSecret == true
        if isSecret { return .text(KafkaProperties.stars) }
        return references[key].map { .text($0) } ?? value
    }
}

extension ConfigurationKey {
    /// The default as a value of the key's kind.
    fileprivate var defaultValue: RawValue {
        kind == .list ? .list(listItems(.text(defaultText))) : .text(defaultText)
    }
}

extension RawValue {
    /// As it stands after the colon of a YAML line.
    fileprivate var yaml: String {
        switch self {
        case .text(let text): yamlScalar(text)
        case .list(let items): "[" + items.map(yamlScalar).joined(separator: ", ") + "]"
        case .empty: ""
        }
    }
}

/// A text as a YAML scalar that is read back as the same text; quoted only where needed.
private func yamlScalar(_ text: String) -> String {
    let first = text.unicodeScalars.first
    let isPlain =
        text.unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || "._/-:+".unicodeScalars.contains(scalar)
        } && first != "-" && first != ":" && text.last != ":" && !text.isEmpty && text != "null"
    if isPlain { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": quoted += "\\\""
        case "\\": quoted += "\\\\"
        case "\n": quoted += "\\n"
        case "\t": quoted += "\\t"
        case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
            let digits = String(scalar.value, radix: 16, uppercase: true)
            quoted += "\\x" + (digits.count == 1 ? "0" : "") + digits
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}

/// Writes nested YAML maps, opening a section when the first of its keys comes.
private struct YAMLWriter {
    var text = ""
    private var open: [String] = []

    /// Adds a dotted key; Kafka properties keep their dots.
    mutating func add(_ key: String, _ value: String, comment: String?) {
        let (section, leaf) = Self.split(key)
        add(section: section, leaf: leaf, value, comment: comment)
    }

    mutating func add(section: String, leaf: String, _ value: String, comment: String?) {
        enter(section)
        let indent = String(repeating: "  ", count: open.count)
        text += "\(indent)\(yamlScalar(leaf)): \(value)" + (comment.map { "  # \($0)" } ?? "") + "\n"
    }

    /// Adds what a reader should know about the key that follows.
    mutating func addComment(_ key: ConfigurationKey, text comment: String) {
        let section = key.kind == .map && key.name == "kafka" ? "kafka" : Self.split(key.name).section
        let isFirst = section != open.joined(separator: ".")
        if !text.isEmpty, isFirst || section.isEmpty { text += "\n" }
        enter(section)
        let indent = String(repeating: "  ", count: open.count)
        for line in comment.split(separator: "\n") { text += "\(indent)# \(line)\n" }
    }

    private mutating func enter(_ section: String) {
        let parts = section.split(separator: ".").map(String.init)
        let common = zip(parts, open).prefix { $0 == $1 }.count
        open = Array(parts.prefix(common))
        for part in parts.dropFirst(common) {
            text += String(repeating: "  ", count: open.count) + "\(part):\n"
            open.append(part)
        }
    }

    private static func split(_ key: String) -> (section: String, leaf: String) {
        if key.hasPrefix("kafka.") { return ("kafka", String(key.dropFirst(6))) }
        guard let dot = key.lastIndex(of: ".") else { return ("", key) }
        return (String(key[..<dot]), String(key[key.index(after: dot)...]))
    }
}
