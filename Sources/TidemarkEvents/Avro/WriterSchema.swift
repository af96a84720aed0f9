/// What a schema registry holds under an id, as far as the decoder can read values of it.
///
/// A value that begins with byte 0 and a four-byte id (big-endian) is read by the schema of that id, given to the decoder by
/// `EventDecoder.add(_:forID:)`.
public enum WriterSchema: Sendable {
    /// Avro in its binary encoding.
    case avro(AvroSchema)
    /// JSON, which needs no schema to be read.
    case json
}

/// The writer schemas that a decoder knows by the ids of a registry.
struct RegisteredSchemas {
    enum Entry {
        case avro(AvroReader)
        case json
        /// There is none, for this reason.
        case refused(String)
    }

    private var entries: [UInt32: Entry] = [:]
    /// The entry that was used last: most values in a row are of the same schema.
    private var last: (id: UInt32, entry: Entry)?

    mutating func find(_ id: UInt32) -> Entry? {
        if let last, last.id == id { return last.entry }
        guard let entry = entries[id] else { return nil }
        last = (id, entry)
        return entry
    }

    mutating func set(_ entry: Entry?, for id: UInt32) {
        entries[id] = entry
        last = nil
    }
}

extension EventDecoder {
    /// Gives the decoder the schema that a registry has under an id. Values of the id can be decoded from then on; a record for which
    /// `begin` asked for it can be begun again.
    public func add(_ schema: WriterSchema, forID id: UInt32) {
        switch schema {
        case .avro(let schema): registered.set(.avro(AvroReader(schema)), for: id)
        case .json: registered.set(.json, for: id)
        }
    }

    /// Tells the decoder that there is no usable schema of an id: its values are refused as `unknown_schema` from then on, and `begin` does
    /// not ask for it any more.
    ///
    /// - Parameter reason: why, as what follows "schema id 7: " in the message of the refusal.
    public func refuse(schemaID id: UInt32, reason: String) { registered.set(.refused(reason), for: id) }

    /// Forgets what the decoder was told about an id, so that `begin` asks for it again.
    public func forget(schemaID id: UInt32) { registered.set(nil, for: id) }

    /// Starts on a value that is not plain JSON.
    func begin(_ framing: Framing, padded: Bool) -> RecordShape {
        switch framing {
        case .cutOff: return fail(.shortFrame(value.count))
        case .registry(let id):
            let content = value.dropping(Framing.registrySize)
            switch registered.find(id) {
            case .avro(let reader): return begin(content, of: reader)
            case .json: return beginJSON(content, padded: padded)
            case .refused(let reason): return fail(.unknownSchema(id: id, reason))
            case nil: return need(id, Rejection.noRegistry)
            }
        case .fingerprint(let fingerprint):
            guard let schema = configured[fingerprint] else { return fail(.unknownSchema(fingerprint: fingerprint)) }
            return begin(value.dropping(Framing.fingerprintSize), of: readers.reader(of: schema))
        case .container:
            return beginContainer()
        }
    }

    /// Starts on a value that is bare Avro unless it begins as bare Avro by this schema cannot.
    func begin(bare schema: AvroSchema, padded: Bool) -> RecordShape {
        let reader = readers.reader(of: schema)
        if let start = value.start, start[0] & 1 == 1, !reader.mayBeginOdd {
            if let framing = Framing.of(start, value.count) { return begin(framing, padded: padded) }
            if start[0] == UInt8(ascii: "{") || start[0] == UInt8(ascii: "[") {
                return beginJSON(value, padded: padded)
            }
        }
        return begin(value, of: reader)
    }

    /// Starts on one value of a schema.
    private func begin(_ datum: ByteView, of reader: AvroReader) -> RecordShape {
        guard reader.holdsRecords else { return fail(.notARecordSchema(reader.schema)) }
        self.datum = datum
        self.reader = reader
        encoding = .avro
        return .event
    }

    /// As `next(into:)`, for Avro.
    @inline(__always)
    func nextOfAvro(into event: inout Event, hint: () -> TypeHint) -> DecodedEvent? {
        guard index < 0, let reader else { return nil }
        index = 0
        if let rejection = read(datum, by: reader) { return .rejected(rejection) }
        return judge(reader.extracted, into: &event, schemaType: reader.eventType, .avro, hint: hint)
    }

    /// Reads a value that the bytes hold and nothing else.
    private func read(_ bytes: ByteView, by reader: AvroReader) -> Rejection? {
        guard let start = value.start else { return nil }
        var cursor = AvroCursor(UnsafeBufferPointer(start: bytes.start, count: bytes.count))
        if reader.read(&cursor), cursor.place == cursor.end || cursor.fail(.bytesLeft) { return nil }
        return reader.explain(cursor, from: start, "")
    }
}

extension ByteView {
    /// The bytes without the first `count`.
    func dropping(_ count: Int) -> ByteView {
        ByteView(start: start.map { $0 + count }, count: self.count - count)
    }
}

/// The readers of schemas that are known by themselves, and the schemas that container files have brought along.
struct SchemaReaders {
    /// How many schemas of container files are kept, and how many bytes of them; then all are forgotten.
    private static let mostSchemas = 512
    private static let mostBytes = 8 << 20

    private var parsed: [String: Result<AvroSchema, AvroSchema.Failure>] = [:]
    private var parsedBytes = 0
    private var readers: [ObjectIdentifier: AvroReader] = [:]
    private var last: AvroReader?

    /// The schema of a container file.
    mutating func schema(_ text: String) throws(AvroSchema.Failure) -> AvroSchema {
        if let known = parsed[text] { return try known.get() }
        if parsed.count >= SchemaReaders.mostSchemas || parsedBytes > SchemaReaders.mostBytes {
            parsed.removeAll()
            readers.removeAll()
            parsedBytes = 0
        }
        let result: Result<AvroSchema, AvroSchema.Failure>
        do { result = .success(try AvroSchema(json: text)) } catch { result = .failure(error) }
        parsed[text] = result
        parsedBytes += text.utf8.count
        return try result.get()
    }

    /// The reader of a schema, which keeps the schema too, so that no other one can be taken for it.
    mutating func reader(of schema: AvroSchema) -> AvroReader {
        if let last, last.schema === schema { return last }
        let reader = readers[ObjectIdentifier(schema)] ?? AvroReader(schema)
        readers[ObjectIdentifier(schema)] = reader
        last = reader
        return reader
    }
}
