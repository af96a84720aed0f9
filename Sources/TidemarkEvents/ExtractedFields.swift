internal import CTidemark

/// The fields of one record as they were taken from it, whatever it was encoded in: what is judged, and what an event is filled from.
struct ExtractedFields {
    private let fields: UnsafePointer<tidemark_json_fields>
    let slots: UnsafePointer<tidemark_json_slot>
    let kinds: UnsafePointer<UInt8>

    init(_ fields: UnsafePointer<tidemark_json_fields>) {
        self.fields = fields
        let raw = UnsafeRawPointer(fields)
        slots = raw.assumingMemoryBound(to: tidemark_json_slot.self)
        guard let kindsOffset = MemoryLayout<tidemark_json_fields>.offset(of: \.kinds) else {
            fatalError("the layout of the extracted fields is unknown")
        }
        kinds = (raw + kindsOffset).assumingMemoryBound(to: UInt8.self)
    }

    @inline(__always)
    func isVoid(_ field: EventField) -> Bool { slots[field.rawValue].count == 0 }

    @inline(__always)
    func text(_ field: EventField) -> ByteView {
        let slot = slots[field.rawValue]
        return ByteView(start: slot.start, count: Int(slot.count))
    }

    /// Whether `event_type` is something that cannot name a type.
    @inline(__always)
    var hasForbiddenType: Bool { kinds[EventField.eventType.rawValue] & EventField.eventType.forbiddenKinds != 0 }

    func missingType(_ words: ValueWords) -> Rejection {
        let kind = kinds[EventField.eventType.rawValue]
        return hasForbiddenType ? .badType(.eventType, kind, words) : .missing(.eventType, kind)
    }

    /// Whether an event has all it needs, and nothing is of a wrong type, out of range or too long.
    ///
    /// Times above 32 bits and negative ones fail the same unsigned comparison.
    @inline(__always)
    func isSound(for type: EventType, _ limits: DecoderLimits, shortestLimit: Int) -> Bool {
        fields.pointee.objections == 0
            && !isVoid(.id) && !isVoid(.userID)
            && kinds[EventField.time.rawValue] == JSONKind.integer
            && UInt64(bitPattern: slots[EventField.time.rawValue].count) <= UInt64(Int32.max)
            && UInt64(bitPattern: slots[EventField.conversionIndex.rawValue].count) <= 3
            && (!type.isSession || !isVoid(.sessionID))
            && (Int(fields.pointee.longest) <= shortestLimit || isShortEnough(limits))
    }

    private func isShortEnough(_ limits: DecoderLimits) -> Bool {
        EventField.allCases.allSatisfy { lengthProblem(of: $0, limits) == nil }
    }

    private func lengthProblem(of field: EventField, _ limits: DecoderLimits) -> Rejection? {
        guard field.isChecked, kinds[field.rawValue] == JSONKind.string else { return nil }
        let limit = field.isName ? limits.maxNameBytes : limits.maxIdentifierBytes
        let length = Int(slots[field.rawValue].count)
        return length > limit ? .fieldTooLong(field, length, limit) : nil
    }

    /// What is wrong, in the order of the fields: the first one tells.
    func firstProblem(of type: EventType, _ limits: DecoderLimits, _ words: ValueWords) -> Rejection {
        for field in EventField.allCases where field.isChecked {
            let kind = kinds[field.rawValue]
            let isRequired =
                field == .id || field == .userID || field == .time || (field == .sessionID && type.isSession)
            if isRequired, kind & ~JSONKind.void == 0 { return .missing(field, kind) }
            if kind & field.forbiddenKinds != 0 { return .badType(field, kind, words) }
            let number = slots[field.rawValue].count
            if field == .time, !(0...Int64(Int32.max)).contains(number) { return .outOfRange(field, number, words) }
            if field == .conversionIndex, !(0...3).contains(number) { return .outOfRange(field, number, words) }
            if let problem = lengthProblem(of: field, limits) { return problem }
        }
        return Rejection(code: .badType, message: "the event does not fit its type \(type.wireName)")
    }

    @inline(__always)
    func fill(_ event: inout Event) {
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
