internal import CTidemark

/// The fields that the decoder knows, in the order of the C extractor.
enum EventField: Int, CaseIterable {
    case id, userID, time, sessionID
    case externalUserID, appID, deviceID, dispatchID, platform
    case buttonActionType, buttonString, buttonID
    case conversionIndex, isInControlGroup
    case campaignID, messageVariationID, canvasID, canvasVariationID, canvasStepID
    case campaignName, messageVariationName, canvasName, canvasVariationName, canvasStepName
    case eventType
    case user, properties, events

    /// The field's name in JSON.
    var name: String { String(cString: tidemark_json_field_name(Int32(rawValue))) }

    /// The JSON kinds that the field may not have. Containers may be anything: they matter only where they hold events.
    var forbiddenKinds: UInt8 {
        switch self {
        case .user, .properties, .events: 0
        case .time, .conversionIndex: ~(JSONKind.void | JSONKind.integer)
        case .isInControlGroup: ~(JSONKind.void | JSONKind.bool)
        default: ~(JSONKind.void | JSONKind.string)
        }
    }

    /// What the field must be, in words.
    var expectation: String {
        switch self {
        case .time: "an integer: seconds since the epoch, 0 to \(Int32.max)"
        case .conversionIndex: "an integer 0 to 3, or null"
        case .isInControlGroup: "true, false or null"
        case .id, .userID, .sessionID: "a string"
        default: "a string or null"
        }
    }

    /// Whether the limit for names applies instead of that for identifiers.
    var isName: Bool {
        switch self {
        case .campaignName, .messageVariationName, .canvasName, .canvasVariationName, .canvasStepName, .buttonString:
            true
        default: false
        }
    }

    /// Whether the rules use the field, rather than the decoder to find others.
    var isChecked: Bool { rawValue < EventField.eventType.rawValue }
}

/// The kinds of JSON values as the C extractor numbers them.
enum JSONKind {
    static let absent = UInt8(TIDEMARK_JSON_ABSENT)
    static let null = UInt8(TIDEMARK_JSON_NULL)
    static let string = UInt8(TIDEMARK_JSON_STRING)
    static let integer = UInt8(TIDEMARK_JSON_INTEGER)
    static let double = UInt8(TIDEMARK_JSON_DOUBLE)
    static let bool = UInt8(TIDEMARK_JSON_BOOL)
    static let object = UInt8(TIDEMARK_JSON_OBJECT)
    static let array = UInt8(TIDEMARK_JSON_ARRAY)
    static let empty = UInt8(TIDEMARK_JSON_EMPTY)
    /// What reads as null, besides a field that is not there.
    static let void = null | empty

    /// The kind in words.
    static func text(_ kind: UInt8, _ words: ValueWords = .json) -> String {
        switch kind {
        case integer where words == .avro: "an int or long"
        case double where words == .avro: "a float or double"
        case object where words == .avro: "a record, map or fixed"
        case null: "null"
        case string: "a string"
        case empty: "an empty string"
        case integer: "an integer"
        case double: "a number that is not written as an integer, or is beyond 64 bits"
        case bool: "a boolean"
        case object: "an object"
        case array: "an array"
        default: "nothing"
        }
    }
}

/// What a value is encoded in, for messages to call its parts as that does.
enum ValueWords {
    case json, avro
}
