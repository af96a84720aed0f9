public import TidemarkConfiguration
public import TidemarkEvents

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The writer schemas that the settings name: read once at start, and shared by all decoders.
public struct InputSchemas: Sendable {
    /// A schema that cannot be used.
    public struct Failure: Error, CustomStringConvertible {
        /// Which setting and file, and what is wrong.
        public let description: String
    }

    /// Schemas of bare Avro values, by topic.
    public let ofTopics: [String: AvroSchema]
    /// All schemas, by which values in single-object encoding are read.
    public let all: [AvroSchema]

    /// No schemas.
    public init() {
        ofTopics = [:]
        all = []
    }

    /// Reads the files.
    ///
    /// - Throws: `Failure` at the first one that cannot be read or holds no schema of events.
    public init(_ input: Configuration.Input) throws(Failure) {
        var ofTopics: [String: AvroSchema] = [:]
        var known: [String: AvroSchema] = [:]
        func schema(_ path: String, _ setting: String) throws(Failure) -> AvroSchema {
            if let schema = known[path] { return schema }
            let schema = try InputSchemas.read(path, setting)
            known[path] = schema
            return schema
        }
        for (topic, path) in input.avroSchemas.sorted(by: { $0.key < $1.key }) {
            ofTopics[topic] = try schema(path, "input.avro_schemas.\(topic)")
        }
        for path in input.avroSchemaFiles { _ = try schema(path, "input.avro_schema_files") }
        self.ofTopics = ofTopics
        all = known.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func read(_ path: String, _ setting: String) throws(Failure) -> AvroSchema {
        guard let text = contents(of: path) else {
            throw Failure(description: "\(setting): cannot read \(path): \(String(cString: strerror(errno)))")
        }
        let schema: AvroSchema
        do { schema = try AvroSchema(json: text) } catch { throw Failure(description: "\(setting): \(path): \(error)") }
        guard schema.holdsRecords else {
            throw Failure(
                description:
                    "\(setting): \(path): the schema is \(schema.name), and events are records: give the schema of their record"
            )
        }
        return schema
    }

    private static func contents(of path: String) -> String? {
        guard let file = fopen(path, "rbe") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            guard count > 0 else { return ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
            bytes += piece[..<count]
        }
    }
}
