internal import CTidemark

/// What a record turned out to be.
public enum RecordShape: Equatable, Sendable {
    /// One event, flat or in the HTTP shape.
    case event
    /// Many events: `{"events": […]}` or an array.
    case batch
    /// Avro by a writer schema with this id in a registry, which the decoder does not have. Give it the schema or the reason why there is
    /// none (`EventDecoder.add`, `EventDecoder.refuse`) and begin again; `next(into:)` refuses the record as `unknown_schema`.
    case schemaNeeded(UInt32)
    /// Nothing that could be read; `next(into:)` says why.
    case unreadable
}

/// Turns records of every shape and encoding into events, one record after the other.
///
/// ```swift
/// decoder.begin(value, hint: hint)
/// while let outcome = decoder.next(into: &event) { … }
/// ```
///
/// JSON: a flat record (bare, or with the one-key wrappers of Avro's JSON encoding), an HTTP event with its fields
/// under `user` and `properties`, `{"events": […]}`, and an array of events. Avro: see `WriterSchema`. They are told apart by their first
/// bytes. Fields that the rules do not use are ignored whatever they hold. Nothing is allocated per event unless it is refused.
///
/// - Important: The text fields of an event, and the bytes of `elementBytes()`, point into the decoder's buffers or the
///   record itself. They are valid until the next `begin`, and the record's bytes must stay in place until then too.
public final class EventDecoder {
    /// How many readable bytes must follow a record that is decoded with `padded: true`. Their content does not matter.
    public static var padding: Int { tidemark_json_padding() }

    /// The limits on sizes.
    public let limits: DecoderLimits

    /// What a record is encoded in.
    enum Encoding {
        case json
        /// One value of a schema.
        case avro
        /// A container file, or a block of one.
        case container
    }

    private let parser: OpaquePointer
    private let fields: ExtractedFields
    let typeNames = EventTypeNames.shared
    let shortestLimit: Int

    var value = ByteView.null
    /// The JSON of the record: all of it, or what follows a schema id.
    private var document = ByteView.null
    private var hint = TypeHint.none
    private var failure: Rejection?
    var encoding = Encoding.json
    private var isBatch = false
    var index = -1

    // Avro.
    var registered = RegisteredSchemas()
    let configured: [UInt64: AvroSchema]
    var readers = SchemaReaders()
    /// What reads the present value, and the bytes of that without what names its schema.
    var reader: AvroReader?
    var datum = ByteView.null
    var container: ContainerPosition?
    let decompressor = BlockDecompressor()
    var element: ElementFile?

    /// A decoder with its own buffers, for use by one thread at a time.
    ///
    /// - Parameter schemas: writer schemas that values in single-object encoding may name by their fingerprints.
    public init(limits: DecoderLimits = DecoderLimits(), schemas: [AvroSchema] = []) {
        self.limits = limits
        configured = Dictionary(schemas.map { ($0.fingerprint, $0) }, uniquingKeysWith: { first, _ in first })
        shortestLimit = min(limits.maxIdentifierBytes, limits.maxNameBytes)
        var forbidden = [UInt8](repeating: 0, count: Int(TIDEMARK_FIELD_ROOM))
        for field in EventField.allCases { forbidden[field.rawValue] = field.forbiddenKinds }
        guard let parser = tidemark_json_create(forbidden), let fields = tidemark_json_current(parser) else {
            fatalError("out of memory: cannot create a JSON parser")
        }
        self.parser = parser
        self.fields = ExtractedFields(fields)
    }

    deinit { tidemark_json_destroy(parser) }

    /// Starts on a record. Of JSON all is parsed and validated.
    ///
    /// - Parameters:
    ///   - value: the record's bytes, which must stay in place until the next `begin`.
    ///   - hint: what is known about the type of events that do not name one; its header must stay in place as well.
    ///   - padded: whether `padding` readable bytes follow the record; this saves a copy.
    ///   - schema: the writer schema of records that do not name theirs: bare Avro. Without one they are taken for JSON.
    @discardableResult
    public func begin(
        _ value: ByteView, hint: TypeHint = .none, padded: Bool = false, schema: AvroSchema? = nil
    ) -> RecordShape {
        start(on: value, hint: hint)
        guard value.count <= limits.maxRecordBytes else { return fail(.recordTooLarge(value.count, limits)) }
        guard let start = value.start, value.count > 0 else { return fail(.emptyValue) }
        if let schema { return begin(bare: schema, padded: padded) }
        if let framing = Framing.of(start, value.count) { return begin(framing, padded: padded) }
        return beginJSON(value, padded: padded)
    }

    /// Forgets the record before.
    func start(on value: ByteView, hint: TypeHint) {
        self.value = value
        self.hint = hint
        failure = nil
        isBatch = false
        index = -1
        encoding = .json
    }

    func beginJSON(_ document: ByteView, padded: Bool) -> RecordShape {
        self.document = document
        guard let start = document.start, document.count > 0 else { return fail(.emptyValue) }
        let code = tidemark_json_parse(parser, start, document.count, padded)
        if code != 0, !recover(from: code) { return fail(.notJSON(document, code)) }
        switch tidemark_json_top(parser) {
        case TIDEMARK_JSON_SHAPE_EVENT:
            return .event
        case TIDEMARK_JSON_SHAPE_BATCH, TIDEMARK_JSON_SHAPE_LIST:
            isBatch = true
            return .batch
        default:
            return fail(.notARecord)
        }
    }

    /// Moves to the record's next event and decodes it into `event`, whose old content is lost in any case.
    ///
    /// - Returns: what became of it, or `nil` after the last one. A record that could not be read at all counts as one
    ///   refused event.
    public func next(into event: inout Event) -> DecodedEvent? {
        next(into: &event, hint: { hint })
    }

    /// As above, with a hint that is costly to get.
    ///
    /// - Parameter hint: called where the event does not name its type; takes the place of that given to `begin`.
    @inline(__always)
    public func next(into event: inout Event, hint: () -> TypeHint) -> DecodedEvent? {
        if failure != nil { return takeFailure() }
        guard encoding == .json else {
            return encoding == .avro
                ? nextOfAvro(into: &event, hint: hint) : nextOfContainer(into: &event, hint: hint)
        }
        let kind = tidemark_json_next(parser)
        guard kind != JSONKind.absent else { return nil }
        index += 1
        guard kind == JSONKind.object else { return .rejected(.notAnEvent(kind)) }
        if isBatch, fields.kinds[EventField.events.rawValue] == JSONKind.array, fields.isVoid(.eventType) {
            return .rejected(.nestedBatch)
        }
        return judge(fields, into: &event, schemaType: .none, .json, hint: hint)
    }

    /// What becomes of an event whose fields were extracted.
    ///
    /// - Parameter schemaType: what the schema that it was written by says about its type.
    @inline(__always)
    func judge(
        _ fields: ExtractedFields, into event: inout Event, schemaType: TopicType, _ words: ValueWords,
        hint: () -> TypeHint
    ) -> DecodedEvent {
        switch resolveType(fields, schemaType, hint) {
        case .known(let type):
            event.type = type
        case .unknown:
            return .skipped
        case .none:
            return .rejected(fields.missingType(words))
        }
        guard fields.isSound(for: event.type, limits, shortestLimit: shortestLimit) else {
            return .rejected(fields.firstProblem(of: event.type, limits, words))
        }
        fields.fill(&event)
        return .event
    }

    /// Where the current event stands in its batch, from 0; `nil` where the record is not a batch.
    public var elementIndex: Int? {
        let isElement = encoding == .container ? container?.element != nil : isBatch && index >= 0
        return isElement ? index : nil
    }

    /// The bytes of the current event alone, which can be decoded as a record: the whole record, or its part of a batch; an event of a
    /// container file as one of its own. For a batch it goes through the record's structure once, however many elements are asked for.
    public func elementBytes() -> ByteView {
        if encoding == .container { return containerOfElement() }
        guard isBatch, index >= 0, let start = document.start else { return value }
        var (from, to) = (0, 0)
        guard tidemark_json_locate(parser, start, &from, &to) else { return value }
        return ByteView(start: start + from, count: to - from)
    }

    /// What the current event of a JSON record says of itself, whatever became of it: null where it does not say it as text.
    public var elementLabel: ElementLabel {
        var label = ElementLabel()
        guard failure == nil, encoding == .json, index >= 0 else { return label }
        if fields.kinds[EventField.eventType.rawValue] == JSONKind.string { label.type = fields.text(.eventType) }
        if fields.kinds[EventField.userID.rawValue] == JSONKind.string { label.userID = fields.text(.userID) }
        return label
    }
}

/// What tells where an event belongs, for events that are passed on and not counted. Valid as long as the event's fields.
public struct ElementLabel {
    /// `event_type`, known or not.
    public var type = ByteView.null
    /// `user_id`.
    public var userID = ByteView.null
}

extension EventDecoder {
    /// Notes why nothing of the record can be read.
    func fail(_ rejection: Rejection) -> RecordShape {
        failure = rejection
        return .unreadable
    }

    /// As above, where a schema may change that.
    func need(_ id: UInt32, _ reason: String) -> RecordShape {
        failure = .unknownSchema(id: id, reason)
        return .schemaNeeded(id)
    }

    /// The failure once, then the end.
    private func takeFailure() -> DecodedEvent? {
        guard let failure, index < 0 else { return nil }
        index = 0
        return .rejected(failure)
    }

    /// simdjson refuses numbers beyond 64 bits, which are fine JSON and fine in fields that nobody reads. Such a document
    /// is parsed again with those numbers replaced by a fraction of the same length, wrong in every field that is read.
    ///
    /// Short memory ends the process: a refusal would make the outcome depend on the machine.
    private func recover(from code: Int32) -> Bool {
        if tidemark_json_is_memory_error(code) {
            fatalError("out of memory: cannot parse \(document.count) bytes of JSON")
        }
        guard tidemark_json_is_number_error(code), let plain = JSONScanner.replacingLargeNumbers(in: document) else {
            return false
        }
        return tidemark_json_parse(parser, plain, plain.count, false) == 0
    }

    /// `event_type`, else the writer schema, else the header, else the topic. An `event_type` that is no text is left to `missingType`.
    @inline(__always)
    private func resolveType(
        _ fields: ExtractedFields, _ schemaType: TopicType, _ hint: () -> TypeHint
    ) -> TopicType {
        if fields.hasForbiddenType { return .none }
        var name = fields.text(.eventType)
        if name.isNull {
            if schemaType != .none { return schemaType }
            let hint = hint()
            name = hint.header
            if name.isNull { return hint.topic }
        }
        return typeNames.lookUp(name).map { .known($0) } ?? .unknown
    }
}
