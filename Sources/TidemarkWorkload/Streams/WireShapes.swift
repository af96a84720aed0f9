/// The shapes in which a Currents event may come as JSON.
public enum WireShape: CaseIterable, Sendable {
    /// A flat object without its type, as in storage files: the type comes from outside.
    case flat
    /// A flat object that names its type in `event_type`.
    case flatWithType
    /// A flat object as the Avro tools print it, with present values of nullable fields wrapped by their type.
    case avro
    /// An event of the HTTP connector, with its type, its `user` and its `properties`.
    case http

    /// Whether the record tells its type itself.
    public var namesType: Bool { self == .flatWithType || self == .http }
}

extension SampleEvent {
    /// The event as one JSON object.
    public func json(_ shape: WireShape) -> [UInt8] {
        var json = CanonicalJSON()
        append(shape, to: &json)
        return json.bytes
    }

    /// Events as one body of the HTTP connector: `{"events":[…]}`.
    public static func httpBatch(_ events: [SampleEvent]) -> [UInt8] {
        var json = CanonicalJSON()
        json.append(raw: "{\"events\":[")
        for (place, event) in events.enumerated() {
            if place > 0 { json.append(raw: ",") }
            event.append(.http, to: &json)
        }
        json.append(raw: "]}")
        return json.bytes
    }

    private func append(_ shape: WireShape, to json: inout CanonicalJSON) {
        switch shape {
        case .flat: appendFlat(namingType: false, to: &json)
        case .flatWithType: appendFlat(namingType: true, to: &json)
        case .avro: appendAvro(to: &json)
        case .http: appendHTTP(to: &json)
        }
    }

    private func appendFlat(namingType: Bool, to json: inout CanonicalJSON) {
        json.append(raw: "{")
        if namingType {
            json.append(raw: "\"event_type\":")
            json.append(Text(eventType))
            json.append(raw: ",")
        }
        appendRequired(to: &json)
        for field in Self.textFields {
            json.append(raw: ",\"\(field.name)\":")
            json.append(self[keyPath: field.path].map(Text.init))
        }
        if let conversionBehaviorIndex { json.append(raw: ",\"conversion_behavior_index\":\(conversionBehaviorIndex)") }
        if let inControlGroup { json.append(raw: ",\"in_control_group\":\(inControlGroup)") }
        json.append(raw: "}")
    }

    private func appendAvro(to json: inout CanonicalJSON) {
        json.append(raw: "{")
        appendRequired(to: &json)
        for field in Self.textFields {
            json.append(raw: ",\"\(field.name)\":")
            // Session ids are required wherever there are any, so they are never wrapped.
            guard let value = self[keyPath: field.path], field.name != "session_id" else {
                json.append(self[keyPath: field.path].map(Text.init))
                continue
            }
            json.append(raw: "{\"string\":")
            json.append(Text(value))
            json.append(raw: "}")
        }
        if let index = conversionBehaviorIndex {
            json.append(raw: ",\"conversion_behavior_index\":{\"int\":\(index)}")
        }
        if let inControlGroup { json.append(raw: ",\"in_control_group\":\(inControlGroup)") }
        json.append(raw: "}")
    }

    private func appendRequired(to json: inout CanonicalJSON) {
        json.append(raw: "\"id\":")
        json.append(Text(id))
        json.append(raw: ",\"user_id\":")
        json.append(Text(userID))
        json.append(raw: ",\"time\":\(time)")
    }

    private func appendHTTP(to json: inout CanonicalJSON) {
        json.append(raw: "{\"event_type\":")
        json.append(Text(eventType))
        json.append(raw: ",\"id\":")
        json.append(Text(id))
        json.append(raw: ",\"time\":\(time),\"user\":{\"user_id\":")
        json.append(Text(userID))
        let ofUser: Set = ["external_user_id", "device_id"]
        for field in Self.textFields where ofUser.contains(field.name) {
            append(field, to: &json, separator: ",")
        }
        json.append(raw: "},\"properties\":{")
        var separator = ""
        for field in Self.textFields where !ofUser.contains(field.name) {
            if append(field, to: &json, separator: separator) { separator = "," }
        }
        if let index = conversionBehaviorIndex {
            json.append(raw: "\(separator)\"conversion_behavior_index\":\(index)")
            separator = ","
        }
        if let inControlGroup { json.append(raw: "\(separator)\"in_control_group\":\(inControlGroup)") }
        json.append(raw: "}}")
    }

    /// Appends a field unless it is null.
    @discardableResult
    private func append(_ field: TextField, to json: inout CanonicalJSON, separator: String) -> Bool {
        guard let value = self[keyPath: field.path] else { return false }
        json.append(raw: "\(separator)\"\(field.name)\":")
        json.append(Text(value))
        return true
    }
}
