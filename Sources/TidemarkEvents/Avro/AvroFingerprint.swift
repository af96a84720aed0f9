/// The parsing canonical form of a schema: what is left when all that does not matter for reading values is taken away.
enum AvroCanonicalForm {
    /// The form of a type, as the Avro specification describes it.
    static func text(of root: Int, in types: [AvroType]) -> String {
        var writer = Writer(types: types)
        writer.write(root)
        return writer.text
    }

    private struct Writer {
        let types: [AvroType]
        var text = ""
        /// Types that were written in full: they go by their names from then on.
        var written: Set<Int> = []

        mutating func write(_ place: Int) {
            let type = types[place]
            guard written.insert(place).inserted || type.name.isEmpty else { return text += quoted(type.name) }
            switch type.kind {
            case .record:
                text += "{\"name\":\(quoted(type.name)),\"type\":\"record\",\"fields\":["
                list(type.fields) { writer, field in
                    writer.text += "{\"name\":\(writer.quoted(field.name)),\"type\":"
                    writer.write(field.type)
                    writer.text += "}"
                }
                text += "]}"
            case .enumeration:
                text += "{\"name\":\(quoted(type.name)),\"type\":\"enum\",\"symbols\":["
                list(type.symbols) { writer, symbol in writer.text += writer.quoted(symbol) }
                text += "]}"
            case .fixed:
                text += "{\"name\":\(quoted(type.name)),\"type\":\"fixed\",\"size\":\(type.size)}"
            case .array, .map:
                text += type.kind == .array ? "{\"type\":\"array\",\"items\":" : "{\"type\":\"map\",\"values\":"
                write(type.children[0])
                text += "}"
            case .union:
                text += "["
                list(type.children) { writer, branch in writer.write(branch) }
                text += "]"
            default:
                text += quoted(type.kind.word)
            }
        }

        private mutating func list<Item>(_ items: [Item], _ body: (inout Writer, Item) -> Void) {
            for (index, item) in items.enumerated() {
                if index > 0 { text += "," }
                body(&self, item)
            }
        }

        private func quoted(_ name: String) -> String { "\"\(name)\"" }
    }
}

/// CRC-64-AVRO, the fingerprint by which single-object encoding names a schema.
enum AvroFingerprint {
    private static let empty: UInt64 = 0xC15D_213A_A4D7_A795

    private static let table: [UInt64] = (0..<256).map { byte in
        (0..<8).reduce(UInt64(byte)) { crc, _ in (crc >> 1) ^ (crc & 1 == 0 ? 0 : empty) }
    }

    static func of(_ text: String) -> UInt64 {
        text.utf8.reduce(empty) { crc, byte in (crc >> 8) ^ table[Int((crc ^ UInt64(byte)) & 0xFF)] }
    }
}
