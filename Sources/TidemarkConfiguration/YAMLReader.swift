import CYaml

/// One key of a configuration and what was written for it.
struct Setting: Equatable {
    let key: String
    let value: RawValue
    let origin: Origin
}

/// Reads a YAML document into settings with dotted keys; nested maps and dotted keys mean the same.
struct YAMLReader {
    private let name: String
    private(set) var settings: [Setting] = []
    private(set) var problems: [String] = []
    private var lines: [String: Int] = [:]
    /// Aliases can repeat a node without end; no honest configuration comes near this many.
    private var nodesLeft = 20_000
    private static let deepest = 16

    /// - Parameters:
    ///   - text: the document.
    ///   - name: name of the file, for messages.
    init(text: String, name: String) {
        self.name = name
        var text = text
        text.withUTF8 { bytes in
            var parser = yaml_parser_t()
            guard yaml_parser_initialize(&parser) == 1 else { return problems.append("\(name): out of memory") }
            defer { yaml_parser_delete(&parser) }
            yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
            readStream(&parser)
        }
    }

    private mutating func readStream(_ parser: inout yaml_parser_t) {
        var document = yaml_document_t()
        guard yaml_parser_load(&parser, &document) == 1 else { return problems.append(syntaxError(parser)) }
        let isEmpty = yaml_document_get_root_node(&document) == nil
        readRoot(&document)
        yaml_document_delete(&document)
        if isEmpty { return }

        guard yaml_parser_load(&parser, &document) == 1 else { return problems.append(syntaxError(parser)) }
        if let second = yaml_document_get_root_node(&document) {
            problems.append("\(name):\(second.pointee.line): a second document; only one is allowed")
        }
        yaml_document_delete(&document)
    }

    private func syntaxError(_ parser: yaml_parser_t) -> String {
        let problem = parser.problem.map { String(cString: $0) } ?? "unreadable"
        // Errors of the byte reader have no mark, only an offset.
        let line = parser.error == YAML_READER_ERROR ? Int(parser.mark.line) + 1 : Int(parser.problem_mark.line) + 1
        return "\(name):\(line): not valid YAML: \(problem)"
    }

    private mutating func readRoot(_ document: inout yaml_document_t) {
        guard let root = yaml_document_get_root_node(&document)?.pointee else { return }
        if root.type == YAML_SCALAR_NODE, root.isNull { return }
        guard root.type == YAML_MAPPING_NODE else {
            return problems.append("\(name):\(root.line): the file must hold `key: value` lines")
        }
        readMap(root, prefix: "", depth: 0, &document)
    }

    private mutating func readMap(_ map: yaml_node_t, prefix: String, depth: Int, _ document: inout yaml_document_t) {
        let pairs = UnsafeBufferPointer(
            start: map.data.mapping.pairs.start, count: map.data.mapping.pairs.top - map.data.mapping.pairs.start)
        if pairs.isEmpty, !prefix.isEmpty { add(prefix, .empty, line: map.line) }
        for pair in pairs {
            nodesLeft -= 1
            guard nodesLeft > 0, depth < Self.deepest else { return giveUp(line: map.line) }
            guard let key = yaml_document_get_node(&document, pair.key)?.pointee,
                let value = yaml_document_get_node(&document, pair.value)?.pointee
            else { continue }
            guard key.type == YAML_SCALAR_NODE else {
                problems.append("\(name):\(key.line): a key must be plain text")
                continue
            }
            let path = prefix.isEmpty ? key.text : "\(prefix).\(key.text)"
            switch value.type {
            case YAML_MAPPING_NODE: readMap(value, prefix: path, depth: depth + 1, &document)
            case YAML_SEQUENCE_NODE: readList(value, key: path, line: key.line, &document)
            default: add(path, value.isNull ? .empty : .text(value.text), line: key.line)
            }
        }
    }

    /// Ends the reading of a document that no one can have meant; what was read of it means nothing, either.
    private mutating func giveUp(line: Int) {
        if nodesLeft >= 0 { problems.append("\(name):\(line): nested too deeply or repeated too often") }
        nodesLeft = -1
        settings = []
    }

    private mutating func readList(_ list: yaml_node_t, key: String, line: Int, _ document: inout yaml_document_t) {
        let items = UnsafeBufferPointer(
            start: list.data.sequence.items.start, count: list.data.sequence.items.top - list.data.sequence.items.start)
        var texts: [String] = []
        for item in items {
            nodesLeft -= 1
            guard let node = yaml_document_get_node(&document, item)?.pointee, nodesLeft > 0 else { continue }
            guard node.type == YAML_SCALAR_NODE else {
                return problems.append("\(name):\(node.line): `\(key)`: the items of a list must be plain text")
            }
            texts.append(node.text)
        }
        add(key, .list(texts), line: line)
    }

    private mutating func add(_ key: String, _ value: RawValue, line: Int) {
        if nodesLeft < 0 { return }
        if let first = lines[key] {
            return problems.append("\(name):\(line): `\(key)` is set twice, first on line \(first); remove one")
        }
        lines[key] = line
        settings.append(Setting(key: key, value: value, origin: .file(name: name, line: line)))
    }
}

extension yaml_node_t {
    fileprivate var line: Int { Int(start_mark.line) + 1 }

    /// The text of a scalar.
    fileprivate var text: String {
        String(decoding: UnsafeBufferPointer(start: data.scalar.value, count: data.scalar.length), as: UTF8.self)
    }

    /// Whether a scalar was left out or written as YAML's null.
    fileprivate var isNull: Bool {
        data.scalar.style == YAML_PLAIN_SCALAR_STYLE && ["", "~", "null"].contains(text)
    }
}
