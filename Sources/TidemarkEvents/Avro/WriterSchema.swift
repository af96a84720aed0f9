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
        case .avro(let schema): schemas.set(.avro(AvroReader(schema)), for: id)
        case .json: schemas.set(.json, for: id)
        }
    }

    /// Tells the decoder that there is no usable schema of an id: its values are refused as `unknown_schema` from then on, and `begin` does
    /// not ask for it any more.
    ///
    /// - Parameter reason: why, as what follows "schema id 7: " in the message of the refusal.
    public func refuse(schemaID id: UInt32, reason: String) { schemas.set(.refused(reason), for: id) }

    /// Forgets what the decoder was told about an id, so that `begin` asks for it again.
    public func forget(schemaID id: UInt32) { schemas.set(nil, for: id) }

    /// Starts on a value that is not plain JSON.
    func begin(_ framing: Framing, padded: Bool) -> RecordShape {
        switch framing {
        case .short: return fail(.shortFrame(value.count))
        case .registry(let id):
            let content = value.dropping(Framing.registrySize)
            switch schemas.find(id) {
            case .avro(let reader): return begin(content, of: reader)
            case .json: return beginJSON(content, padded: padded)
            case .refused(let reason): return fail(.unknownSchema(id: id, reason))
            case nil: return need(id, Rejection.noRegistry)
            }
        }
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
