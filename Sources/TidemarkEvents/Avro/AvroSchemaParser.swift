internal import FoundationEssentials

/// Parses schemas into a list of types. Names defined by one schema are known to those parsed after it.
struct AvroSchemaParser {
    /// How deep types may be nested; real schemas have some five levels.
    private static let maxDepth = 64
    /// The greatest schema, bytes.
    private static let maxSize = 1 << 20

    private(set) var types: [AvroType] = []
    private var named: [String: Int] = [:]

    /// Parses a schema, and gives the place of its type.
    mutating func parse(_ text: String) throws(AvroSchema.Failure) -> Int {
        guard text.utf8.count <= Self.maxSize else {
            throw AvroSchema.Failure(
                description: "the schema has \(text.utf8.count) bytes, the limit is \(Self.maxSize)")
        }
        let json: SchemaJSON
        do {
            json = try JSONDecoder().decode(SchemaJSON.self, from: Data(text.utf8))
        } catch {
            // A bare name of a type is a schema too, which registries give out without its quotes now and then.
            guard AvroType.Kind.primitive(text) != nil || named[text] != nil else {
                throw AvroSchema.Failure(description: "the schema is not valid JSON")
            }
            json = .string(text)
        }
        return try type(json, in: "", at: Path())
    }

    /// Where in a schema something is, for messages.
    private struct Path {
        var depth = 0
        var text = "the schema"

        func inside(_ part: String) -> Path { Path(depth: depth + 1, text: part) }
    }

    private mutating func type(
        _ json: SchemaJSON, in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        guard path.depth <= Self.maxDepth else { throw failure(path, "types are nested deeper than \(Self.maxDepth)") }
        switch json {
        case .string(let name): return try reference(name, in: space, at: path)
        case .array(let branches): return try union(branches, in: space, at: path)
        case .object(let members): return try definition(members, in: space, at: path)
        default: throw failure(path, "a type must be a string, an object or an array")
        }
    }

    private mutating func reference(
        _ name: String, in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        if let kind = AvroType.Kind.primitive(name) { return add(AvroType(kind: kind)) }
        let qualified = name.contains(".") || space.isEmpty ? name : "\(space).\(name)"
        guard let type = named[qualified] ?? named[name] else {
            throw failure(path, "there is no type `\(name)`; it has to be defined before it is named")
        }
        return type
    }

    private mutating func union(
        _ branches: [SchemaJSON], in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        guard !branches.isEmpty else { throw failure(path, "a union must have a branch") }
        var union = AvroType(kind: .union)
        var seen: Set<String> = []
        for branch in branches {
            let type = try type(branch, in: space, at: path.inside(path.text))
            guard types[type].kind != .union else { throw failure(path, "a union cannot hold a union") }
            guard seen.insert(types[type].describedName).inserted else {
                throw failure(path, "a union cannot have `\(types[type].describedName)` twice")
            }
            union.children.append(type)
        }
        return add(union)
    }

    private mutating func definition(
        _ members: [String: SchemaJSON], in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        guard let inner = members["type"] else { throw failure(path, "an object that defines a type must have `type`") }
        guard case .string(let word) = inner else { return try type(inner, in: space, at: path.inside(path.text)) }
        if let kind = AvroType.Kind.primitive(word) {
            return add(AvroType(kind: kind, logicalType: members["logicalType"]?.string))
        }
        switch word {
        case "record", "error": return try record(members, in: space, at: path)
        case "enum": return try enumeration(members, in: space, at: path)
        case "fixed": return try fixed(members, in: space, at: path)
        case "array": return try container(.array, members["items"], in: space, at: path)
        case "map": return try container(.map, members["values"], in: space, at: path)
        default: return try reference(word, in: space, at: path)
        }
    }

    private mutating func container(
        _ kind: AvroType.Kind, _ inner: SchemaJSON?, in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        guard let inner else {
            throw failure(path, "the \(kind.word) must have `\(kind == .array ? "items" : "values")`")
        }
        let child = try type(inner, in: space, at: path.inside(path.text))
        return add(AvroType(kind: kind, children: [child]))
    }

    private mutating func record(
        _ members: [String: SchemaJSON], in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        let place = try define(.record, members, in: space, at: path)
        let name = types[place].name
        let ownSpace = Self.namespace(of: name)
        guard case .array(let list) = members["fields"] else {
            throw failure(path, "record `\(name)` must have an array `fields`")
        }
        var fields: [AvroType.Field] = []
        var seen: Set<String> = []
        for item in list {
            guard case .object(let field) = item, let fieldName = field["name"]?.string, !fieldName.isEmpty,
                let fieldType = field["type"]
            else { throw failure(path, "each field of record `\(name)` must be an object with `name` and `type`") }
            guard seen.insert(fieldName).inserted else {
                throw failure(path, "record `\(name)` has the field `\(fieldName)` twice")
            }
            let type = try type(fieldType, in: ownSpace, at: path.inside("field `\(fieldName)` of record `\(name)`"))
            let aliases = field["aliases"]?.strings ?? []
            fields.append(AvroType.Field(name: fieldName, aliases: aliases, type: type))
        }
        types[place].fields = fields
        return place
    }

    private mutating func enumeration(
        _ members: [String: SchemaJSON], in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        let place = try define(.enumeration, members, in: space, at: path)
        guard let symbols = members["symbols"]?.strings, !symbols.isEmpty else {
            throw failure(path, "enum `\(types[place].name)` must have `symbols`, an array of strings")
        }
        types[place].symbols = symbols
        return place
    }

    private mutating func fixed(
        _ members: [String: SchemaJSON], in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        let place = try define(.fixed, members, in: space, at: path)
        guard case .number(let number) = members["size"], let size = Int32(exactly: number), size >= 0 else {
            throw failure(path, "fixed `\(types[place].name)` must have `size`, a number of bytes")
        }
        types[place].size = Int(size)
        return place
    }

    /// Adds a type with a name, which its own definition may use already.
    private mutating func define(
        _ kind: AvroType.Kind, _ members: [String: SchemaJSON], in space: String, at path: Path
    ) throws(AvroSchema.Failure) -> Int {
        guard let given = members["name"]?.string, let last = given.split(separator: ".").last else {
            throw failure(path, "the \(kind.word) must have a `name`")
        }
        let outer = members["namespace"]?.string ?? space
        let name = given.contains(".") || outer.isEmpty ? given : "\(outer).\(given)"
        guard AvroType.Kind.primitive(String(last)) == nil || name != last else {
            throw failure(path, "`\(given)` is the name of a primitive type")
        }
        guard named[name] == nil else { throw failure(path, "the type `\(name)` is defined twice") }
        let ownSpace = Self.namespace(of: name)
        var type = AvroType(kind: kind, name: name, logicalType: members["logicalType"]?.string)
        type.aliases = (members["aliases"]?.strings ?? []).map {
            $0.contains(".") || ownSpace.isEmpty ? $0 : "\(ownSpace).\($0)"
        }
        let place = add(type)
        named[name] = place
        return place
    }

    private mutating func add(_ type: AvroType) -> Int {
        types.append(type)
        return types.count - 1
    }

    private static func namespace(of name: String) -> String {
        name.lastIndex(of: ".").map { String(name[..<$0]) } ?? ""
    }

    private func failure(_ path: Path, _ reason: String) -> AvroSchema.Failure {
        AvroSchema.Failure(description: "\(path.text): \(reason)")
    }
}

/// A JSON value, as far as schemas go.
private enum SchemaJSON: Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([SchemaJSON])
    case object([String: SchemaJSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let members = try? container.decode([String: SchemaJSON].self) {
            self = .object(members)
        } else if let items = try? container.decode([SchemaJSON].self) {
            self = .array(items)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .null
        }
    }

    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// An array of nothing but strings.
    var strings: [String]? {
        guard case .array(let items) = self else { return nil }
        let texts = items.compactMap(\.string)
        return texts.count == items.count ? texts : nil
    }
}
