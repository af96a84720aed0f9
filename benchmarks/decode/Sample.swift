/// Records one behind the other, with readable bytes at the end.
struct Records {
    var bytes: [UInt8] = []
    var ends: [Int] = []

    init(_ records: [[UInt8]]) {
        for record in records {
            bytes += record
            ends.append(bytes.count)
        }
        bytes += [UInt8](repeating: 0, count: 64)
    }
}

/// The event types of the sample, with their fields in the order of storage exports: `!` marks those that are never null.
enum Kind: Int, CaseIterable {
    case send, open, session

    var name: String {
        switch self {
        case .send: "users.messages.pushnotification.Send"
        case .open: "users.messages.pushnotification.Open"
        case .session: "users.behaviors.app.SessionStart"
        }
    }

    private static let message =
        "campaign_id campaign_name message_variation_id message_variation_name canvas_id canvas_name canvas_variation_id "
        + "canvas_variation_name canvas_step_id canvas_step_name"

    var fields: [Substring] {
        let core = "id! user_id! external_user_id"
        let text =
            switch self {
            case .send:
                "\(core) app_id! time! app_group_id \(Kind.message) timezone platform! send_id dispatch_id device_id ad_id ad_id_type "
                    + "ad_tracking_enabled message_extras push_token locale_key"
            case .open:
                "\(core) time! app_group_id timezone app_id! \(Kind.message) canvas_step_message_variation_id send_id dispatch_id "
                    + "device_id platform os_version device_model button_action_type button_string ad_id ad_id_type "
                    + "ad_tracking_enabled"
            case .session: "\(core) app_id! time! session_id! device_id platform os_version device_model app_group_id"
            }
        return text.split(separator: " ")
    }

    var schema: String {
        let list = fields.map { field -> String in
            let name = field.last == "!" ? field.dropLast() : field
            let type = name == "time" ? "int" : name == "ad_tracking_enabled" ? "boolean" : "string"
            return field.last == "!"
                ? "{\"name\":\"\(name)\",\"type\":\"\(type)\"}"
                : "{\"name\":\"\(name)\",\"type\":[\"null\",\"\(type)\"],\"default\":null}"
        }
        return "{\"type\":\"record\",\"name\":\"storage.\(name)\",\"fields\":[\(list.joined(separator: ","))]}"
    }
}

/// An event in its encodings.
struct SampleEvent {
    let kind: Kind
    var datum: [UInt8] = []
    var json: [UInt8] = []
    var framed: [UInt8] { [0, 0, 0, 0, UInt8(kind.rawValue)] + datum }
}

/// Makes events from a seed (SplitMix64).
struct Sample {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func events(_ count: Int, only kind: Kind? = nil) -> [SampleEvent] {
        (0..<count).map { number in
            event(kind ?? [.send, .send, .session, .send, .send, .session, .open, .send, .send, .session][number % 10])
        }
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private mutating func event(_ kind: Kind) -> SampleEvent {
        var event = SampleEvent(kind: kind)
        var members = ["\"event_type\":\"\(kind.name)\""]
        for field in kind.fields {
            let isRequired = field.last == "!"
            let name = String(isRequired ? field.dropLast() : field)
            if name == "time" {
                let time = 1_767_225_600 + Int(next() % 1_000_000)
                event.datum += varint(time)
                members.append("\"time\":\(time)")
                continue
            }
            let text = value(of: name)
            if !isRequired { event.datum += varint(text == nil ? 0 : 1) }
            members.append("\"\(name)\":\(text.map { "\"\($0)\"" } ?? "null")")
            guard let text else { continue }
            event.datum += varint(text.utf8.count) + Array(text.utf8)
        }
        event.json = Array("{\(members.joined(separator: ","))}".utf8)
        return event
    }

    /// The text of a field, or none: canvas fields are null as they are in campaigns, and so are those that few customers fill.
    private mutating func value(of name: String) -> String? {
        switch name {
        case "id", "dispatch_id", "session_id", "device_id", "push_token": return uuid()
        case "user_id": return String(uuid().filter { $0 != "-" }.prefix(24))
        case "external_user_id": return next() % 10 < 9 ? "customer-\(next() % 1_000_000)" : nil
        case "app_id", "app_group_id": return "1111aaaa-2222-4333-8444-55555555555\(next() % 3)"
        case "campaign_id": return "c0ffee00-1111-4222-8333-4444444444\(10 + next() % 90)"
        case "campaign_name": return next() % 4 == 0 ? "Frühling: neue Schuhe" : "Spring sale, second reminder"
        case "message_variation_id": return "aaaa1111-0000-4000-8000-0000000000\(10 + next() % 90)"
        case "message_variation_name": return "Variant \(next() % 4)"
        case "platform": return next() % 2 == 0 ? "ios" : "android"
        case "os_version": return "17.\(next() % 9)"
        case "device_model": return "Phone \(next() % 90)"
        case "timezone": return "Europe/Paris"
        case "locale_key": return "fr"
        case "button_action_type": return next() % 3 == 0 ? "deep_link" : nil
        default: return nil
        }
    }

    private mutating func uuid() -> String {
        let digits = [next(), next()].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }
}

/// A whole number that is not negative, as Avro writes it.
func varint(_ number: Int) -> [UInt8] {
    var rest = UInt64(number) << 1
    var bytes: [UInt8] = []
    while rest >= 0x80 {
        bytes.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
    }
    return bytes + [UInt8(rest)]
}

/// An object container file with blocks of a thousand values.
func containerFile(_ values: [[UInt8]], _ schema: String) -> [UInt8] {
    let sync = [UInt8](repeating: 0x5C, count: 16)
    let key = "avro.schema"
    var file: [UInt8] = [0x4F, 0x62, 0x6A, 0x01] + varint(1)
    file += varint(key.utf8.count) + Array(key.utf8) + varint(schema.utf8.count) + Array(schema.utf8) + varint(0) + sync
    for start in stride(from: 0, to: values.count, by: 1_000) {
        let block = values[start..<min(start + 1_000, values.count)]
        file += varint(block.count) + varint(block.reduce(0) { $0 + $1.count }) + block.flatMap { $0 } + sync
    }
    return file
}
