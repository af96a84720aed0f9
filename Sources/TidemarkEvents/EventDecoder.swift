internal import CTidemark

/// What a record turned out to be.
public enum RecordShape: Equatable, Sendable {
    /// One event, flat or in the HTTP shape.
    case event
    /// Many events: `{"events": […]}` or an array.
    case batch
    /// Nothing that could be read; `next(into:)` says why.
    case unreadable
}

/// Turns JSON records of every shape into events, one record after the other.
///
/// ```swift
/// decoder.begin(value, hint: hint)
/// while let outcome = decoder.next(into: &event) { … }
/// ```
///
/// Shapes: a flat record (bare, or with the one-key wrappers of Avro's JSON encoding), an HTTP event with its fields
/// under `user` and `properties`, `{"events": […]}`, and an array of events. Fields that the rules do not use are ignored
/// whatever they hold. Nothing is allocated per event unless it is refused.
///
/// - Important: The text fields of an event, and the bytes of `elementBytes()`, point into the decoder's buffers or the
///   record itself. They are valid until the next `begin`, and the record's bytes must stay in place until then too.
public final class EventDecoder {
    /// How many readable bytes must follow a record that is decoded with `padded: true`. Their content does not matter.
    public static var padding: Int { tidemark_json_padding() }

    /// The limits on sizes.
    public let limits: DecoderLimits

    private let parser: OpaquePointer
    private let fields: UnsafePointer<tidemark_json_fields>
    private let slots: UnsafePointer<tidemark_json_slot>
    private let kinds: UnsafePointer<UInt8>
    private let typeNames = EventTypeNames.shared
    private let shortestLimit: Int

    private var value = ByteView.null
    private var hint = TypeHint.none
    private var failure: Rejection?
    private var isBatch = false
    private var index = -1
    private var locator: ElementLocator?

    /// A decoder with its own buffers, for use by one thread at a time.
    public init(limits: DecoderLimits = DecoderLimits()) {
        self.limits = limits
        shortestLimit = min(limits.maxIdentifierBytes, limits.maxNameBytes)
        var forbidden = [UInt8](repeating: 0, count: Int(TIDEMARK_FIELD_ROOM))
        for field in EventField.allCases { forbidden[field.rawValue] = field.forbiddenKinds }
        guard let parser = tidemark_json_create(forbidden), let fields = tidemark_json_current(parser) else {
            fatalError("out of memory: cannot create a JSON parser")
        }
        self.parser = parser
        self.fields = fields
        let raw = UnsafeRawPointer(fields)
        slots = raw.assumingMemoryBound(to: tidemark_json_slot.self)
        guard let kindsOffset = MemoryLayout<tidemark_json_fields>.offset(of: \.kinds) else {
            fatalError("the layout of the extracted fields is unknown")
        }
        kinds = (raw + kindsOffset).assumingMemoryBound(to: UInt8.self)
    }

    deinit { tidemark_json_destroy(parser) }

    /// Starts on a record: parses and validates all of it.
    ///
    /// - Parameters:
    ///   - value: the record's bytes, which must stay in place until the next `begin`.
    ///   - hint: what is known about the type of events that do not name one; its header must stay in place as well.
    ///   - padded: whether `padding` readable bytes follow the record; this saves a copy.
    @discardableResult
    public func begin(_ value: ByteView, hint: TypeHint = .none, padded: Bool = false) -> RecordShape {
        self.value = value
        self.hint = hint
        failure = nil
        isBatch = false
        index = -1
        locator = nil
        guard value.count <= limits.maxRecordBytes else { return fail(.recordTooLarge(value.count, limits)) }
        guard let start = value.start, value.count > 0 else { return fail(.emptyValue) }
        let code = tidemark_json_parse(parser, start, value.count, padded)
        if code != 0, !recover(from: code) { return fail(.notJSON(value, code)) }
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
        let kind = tidemark_json_next(parser)
        guard kind != JSONKind.absent else { return nil }
        index += 1
        guard kind == JSONKind.object else { return .rejected(.notAnEvent(kind)) }
        if isBatch, kinds[EventField.events.rawValue] == JSONKind.array, isVoid(.eventType) {
            return .rejected(.nestedBatch)
        }
        switch resolveType(hint) {
        case .known(let type):
            event.type = type
        case .unknown:
            return .skipped
        case .none:
            return .rejected(missingType())
        }
        guard isSound(for: event.type) else { return .rejected(firstProblem(of: event.type)) }
        fill(&event)
        return .event
    }

    /// Where the current event stands in its batch, from 0; `nil` where the record is not a batch.
    public var elementIndex: Int? { isBatch && index >= 0 ? index : nil }

    /// The exact bytes of the current event: the whole record, or its part of a batch. For dead letters; it scans the
    /// record once, however many elements are asked for.
    public func elementBytes() -> ByteView {
        guard isBatch, index >= 0 else { return value }
        if locator == nil {
            let isObject = tidemark_json_top(parser) == TIDEMARK_JSON_SHAPE_BATCH
            locator = ElementLocator(
                document: value, batchMember: isObject ? tidemark_json_batch_member(parser) : nil)
        }
        return locator?.element(index) ?? value
    }
}

extension EventDecoder {
    private func fail(_ rejection: Rejection) -> RecordShape {
        failure = rejection
        return .unreadable
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
            fatalError("out of memory: cannot parse \(value.count) bytes of JSON")
        }
        guard tidemark_json_is_number_error(code), let plain = JSONScanner.replacingLargeNumbers(in: value) else {
            return false
        }
        return tidemark_json_parse(parser, plain, plain.count, false) == 0
    }

    @inline(__always)
    private func isVoid(_ field: EventField) -> Bool { slots[field.rawValue].count == 0 }

    @inline(__always)
    private func text(_ field: EventField) -> ByteView {
        let slot = slots[field.rawValue]
        return ByteView(start: slot.start, count: Int(slot.count))
    }

    /// `event_type`, else the header, else the topic. An `event_type` that is no text is left to `missingType`.
    @inline(__always)
    private func resolveType(_ hint: () -> TypeHint) -> TopicType {
        let kind = kinds[EventField.eventType.rawValue]
        if kind & EventField.eventType.forbiddenKinds != 0 { return .none }
        var name = text(.eventType)
        if name.isNull {
            let hint = hint()
            name = hint.header
            if name.isNull { return hint.topic }
        }
        return typeNames.lookUp(name).map { .known($0) } ?? .unknown
    }

    private func missingType() -> Rejection {
        let kind = kinds[EventField.eventType.rawValue]
        return kind & EventField.eventType.forbiddenKinds != 0 ? .badType(.eventType, kind) : .missing(.eventType, kind)
    }

    /// Whether an event has all it needs, and nothing is of a wrong type, out of range or too long.
    ///
    /// Times above 32 bits and negative ones fail the same unsigned comparison.
    @inline(__always)
    private func isSound(for type: EventType) -> Bool {
        fields.pointee.objections == 0
            && !isVoid(.id) && !isVoid(.userID)
            && kinds[EventField.time.rawValue] == JSONKind.integer
            && UInt64(bitPattern: slots[EventField.time.rawValue].count) <= UInt64(Int32.max)
            && UInt64(bitPattern: slots[EventField.conversionIndex.rawValue].count) <= 3
            && (!type.isSession || !isVoid(.sessionID))
            && (Int(fields.pointee.longest) <= shortestLimit || isShortEnough())
    }

    private func isShortEnough() -> Bool { EventField.allCases.allSatisfy { lengthProblem(of: $0) == nil } }

    private func lengthProblem(of field: EventField) -> Rejection? {
        guard field.isChecked, kinds[field.rawValue] == JSONKind.string else { return nil }
        let limit = field.isName ? limits.maxNameBytes : limits.maxIdentifierBytes
        let length = Int(slots[field.rawValue].count)
        return length > limit ? .fieldTooLong(field, length, limit) : nil
    }

    /// What is wrong, in the order of the fields: the first one tells.
    private func firstProblem(of type: EventType) -> Rejection {
        for field in EventField.allCases where field.isChecked {
            let kind = kinds[field.rawValue]
            let isRequired =
                field == .id || field == .userID || field == .time || (field == .sessionID && type.isSession)
            if isRequired, kind & ~JSONKind.void == 0 { return .missing(field, kind) }
            if kind & field.forbiddenKinds != 0 { return .badType(field, kind) }
            let number = slots[field.rawValue].count
            if field == .time, !(0...Int64(Int32.max)).contains(number) { return .outOfRange(field, number) }
            if field == .conversionIndex, !(0...3).contains(number) { return .outOfRange(field, number) }
            if let problem = lengthProblem(of: field) { return problem }
        }
        return Rejection(code: .badType, message: "the event does not fit its type \(type.wireName)")
    }

    @inline(__always)
    private func fill(_ event: inout Event) {
        event.time = UInt32(truncatingIfNeeded: slots[EventField.time.rawValue].count)
        event.conversionIndex = UInt8(truncatingIfNeeded: slots[EventField.conversionIndex.rawValue].count)
        event.isInControlGroup = slots[EventField.isInControlGroup.rawValue].count != 0
        event.id = text(.id)
        event.userID = text(.userID)
        event.externalUserID = text(.externalUserID)
        event.appID = text(.appID)
        event.deviceID = text(.deviceID)
        event.dispatchID = text(.dispatchID)
        event.sessionID = text(.sessionID)
        event.platform = text(.platform)
        event.buttonActionType = text(.buttonActionType)
        event.buttonString = text(.buttonString)
        event.buttonID = text(.buttonID)
        event.labels.campaignID = text(.campaignID)
        event.labels.messageVariationID = text(.messageVariationID)
        event.labels.canvasID = text(.canvasID)
        event.labels.canvasVariationID = text(.canvasVariationID)
        event.labels.canvasStepID = text(.canvasStepID)
        event.labels.campaignName = text(.campaignName)
        event.labels.messageVariationName = text(.messageVariationName)
        event.labels.canvasName = text(.canvasName)
        event.labels.canvasVariationName = text(.canvasVariationName)
        event.labels.canvasStepName = text(.canvasStepName)
    }
}
