import TidemarkEvents

/// One outcome of a record, copied out of the decoder.
enum Outcome: Equatable {
    case event([String: String])
    case skipped
    case rejected(RejectionCode, String, bytes: String)

    var code: RejectionCode? {
        if case .rejected(let code, _, _) = self { code } else { nil }
    }

    var fields: [String: String]? {
        if case .event(let fields) = self { fields } else { nil }
    }
}

/// Decodes a whole record and copies all outcomes.
func decode(
    _ record: [UInt8], header: String = "", topic: TopicType = .none, limits: DecoderLimits = DecoderLimits(),
    with decoder: EventDecoder? = nil, schema: AvroSchema? = nil
) -> [Outcome] {
    let decoder = decoder ?? EventDecoder(limits: limits)
    var event = Event()
    var outcomes: [Outcome] = []
    let headerBytes = Array(header.utf8)
    record.withUnsafeBytes { value in
        headerBytes.withUnsafeBytes { header in
            decoder.begin(ByteView(value), hint: TypeHint(header: ByteView(header), topic: topic), schema: schema)
            while let outcome = decoder.next(into: &event) {
                switch outcome {
                case .event: outcomes.append(.event(summary(of: event)))
                case .skipped: outcomes.append(.skipped)
                case .rejected(let rejection):
                    let bytes = decoder.elementBytes().text ?? ""
                    outcomes.append(.rejected(rejection.code, rejection.message, bytes: bytes))
                }
            }
        }
    }
    return outcomes
}

func decode(
    _ record: String, header: String = "", topic: TopicType = .none, limits: DecoderLimits = DecoderLimits()
) -> [Outcome] {
    decode(Array(record.utf8), header: header, topic: topic, limits: limits)
}

/// All fields of an event that are not null, zero or false, by their names on the wire.
func summary(of event: Event) -> [String: String] {
    var fields = ["event_type": event.type.wireName, "time": "\(event.time)"]
    if event.conversionIndex != 0 { fields["conversion_behavior_index"] = "\(event.conversionIndex)" }
    if event.isInControlGroup { fields["in_control_group"] = "true" }
    for (name, path) in textFields {
        if let text = event[keyPath: path].text { fields[name] = text }
    }
    return fields
}

let textFields: [(String, any KeyPath<Event, ByteView> & Sendable)] = [
    ("id", \.id), ("user_id", \.userID), ("external_user_id", \.externalUserID), ("app_id", \.appID),
    ("device_id", \.deviceID), ("dispatch_id", \.dispatchID), ("session_id", \.sessionID), ("platform", \.platform),
    ("button_action_type", \.buttonActionType), ("button_string", \.buttonString), ("button_id", \.buttonID),
    ("campaign_id", \.labels.campaignID), ("message_variation_id", \.labels.messageVariationID),
    ("canvas_id", \.labels.canvasID), ("canvas_variation_id", \.labels.canvasVariationID),
    ("canvas_step_id", \.labels.canvasStepID), ("campaign_name", \.labels.campaignName),
    ("message_variation_name", \.labels.messageVariationName), ("canvas_name", \.labels.canvasName),
    ("canvas_variation_name", \.labels.canvasVariationName), ("canvas_step_name", \.labels.canvasStepName),
]

/// A flat record: the required fields of a push Send, with some replaced (JSON text) or, where `nil`, left out.
func flat(_ changes: [String: String?] = [:], type: EventType = .pushSend) -> String {
    var members = ["event_type": "\"\(type.wireName)\"", "id": "\"e-1\"", "user_id": "\"u-7\"", "time": "1767225600"]
    for (name, json) in changes { members[name] = json }
    let body = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    return "{" + body + "}"
}

/// What `flat` decodes to without changes, with fields added.
func expected(_ fields: [String: String] = [:], type: EventType = .pushSend) -> [Outcome] {
    let base = ["event_type": type.wireName, "id": "e-1", "user_id": "u-7", "time": "1767225600"]
    return [.event(base.merging(fields) { $1 })]
}

/// A small generator with a seed, so that a failure can be repeated (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
