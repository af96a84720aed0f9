/// A writer schema: parsed, checked, and compiled into the steps by which the decoder reads a record of it.
///
/// Accepted is what the Avro specification describes, and both spellings of a primitive, `"string"` and `{"type": "string"}`. The schema of an
/// event is a record, or a union of records of which each value names one. Make one of each writer schema and share it among decoders.
///
/// The parser is Tidemark's own, because libavro has neither aliases nor the canonical form that fingerprints are made of.
public final class AvroSchema: Sendable {
    /// Why a schema cannot be used.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// What is wrong, and where in the schema.
        public let description: String
    }

    /// The schema as it was given, as JSON.
    public let text: String
    /// The full name of its record; the type in words for anything else.
    public let name: String
    /// The event type of its records, as the name of the record tells: what comes before `users.`, `campaigns.` and the like does not matter.
    public let eventType: TopicType
    /// CRC-64-AVRO of the parsing canonical form: what single-object encoding names a schema by.
    public let fingerprint: UInt64

    let program: AvroProgram

    /// Whether its values are records, or some of them, as events are.
    public var holdsRecords: Bool { !program.records.isEmpty }

    /// Parses a schema.
    ///
    /// - Parameters:
    ///   - text: the schema, as JSON.
    ///   - references: schemas that define types which it names, each after those that it needs itself.
    /// - Throws: `Failure`, if it is no schema or one by which no value could ever be read.
    public convenience init(json text: String, references: [String] = []) throws(Failure) {
        try self.init(json: text, references: references, hasFastPaths: true)
    }

    /// - Parameter hasFastPaths: whether the steps may be the short ones for the common types. Without them the same comes out.
    init(json text: String, references: [String] = [], hasFastPaths: Bool) throws(Failure) {
        var parser = AvroSchemaParser()
        for reference in references { _ = try parser.parse(reference) }
        let root = try parser.parse(text)
        self.text = text
        let types = parser.types
        name = types[root].describedName
        program = try AvroCompiler.compile(types, root: root, hasFastPaths: hasFastPaths)
        eventType = program.records.count == 1 ? program.records[0].eventType : .none
        fingerprint = AvroFingerprint.of(AvroCanonicalForm.text(of: root, in: types))
    }
}

/// A type of a schema; other types are named by their place in the list of all types, so that a type may hold itself.
struct AvroType {
    enum Kind: UInt8, Sendable {
        case null, boolean, int, long, float, double, bytes, string
        case record, enumeration, array, map, union, fixed
    }

    struct Field {
        var name: String
        var aliases: [String]
        var type: Int
    }

    var kind: Kind
    /// The full name of a record, an enum or a fixed.
    var name = ""
    var aliases: [String] = []
    var logicalType: String?
    /// The fields of a record.
    var fields: [Field] = []
    /// The branches of a union, the type of the items of an array or of the values of a map.
    var children: [Int] = []
    /// The symbols of an enum.
    var symbols: [String] = []
    /// The size of a fixed, bytes.
    var size = 0

    /// What it is called in messages.
    var describedName: String { name.isEmpty ? kind.word : name }
}

extension AvroType.Kind {
    /// The word for it in a schema.
    var word: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .int: "int"
        case .long: "long"
        case .float: "float"
        case .double: "double"
        case .bytes: "bytes"
        case .string: "string"
        case .record: "record"
        case .enumeration: "enum"
        case .array: "array"
        case .map: "map"
        case .union: "union"
        case .fixed: "fixed"
        }
    }

    /// The primitive type of this name, or `nil`.
    static func primitive(_ word: String) -> AvroType.Kind? {
        switch word {
        case "null": .null
        case "boolean": .boolean
        case "int": .int
        case "long": .long
        case "float": .float
        case "double": .double
        case "bytes": .bytes
        case "string": .string
        default: nil
        }
    }
}
