import Foundation
import TidemarkWorkload

/// A record that cannot be counted.
struct Poison {
    let name: String
    let record: InputRecord
    /// The code of its dead letter; `nil` for what is skipped.
    let code: String?
    let stage: String

    init(_ name: String, _ value: [UInt8]?, _ code: String?, stage: String = "decode", type: String? = nil) {
        self.name = name
        // Its own key tells it from all others.
        record = InputRecord(key: Array("poison: \(name)".utf8), value: value, type: type)
        self.code = code
        self.stage = stage
    }

    init(_ name: String, json: String, _ code: String?, stage: String = "decode", type: String? = nil) {
        self.init(name, Array(json.utf8), code, stage: stage, type: type)
    }

    private static func event(_ fields: String) -> String {
        "{\"event_type\":\"users.messages.pushnotification.Send\",\(fields)}"
    }

    private static func padded(_ text: String, to count: Int) -> [UInt8] {
        let bytes = Array(text.utf8)
        return bytes + [UInt8](repeating: UInt8(ascii: " "), count: count - bytes.count)
    }

    /// The same under a key of its own, for streams that have it more than once.
    func numbered(_ number: Int) -> Poison {
        Poison("\(name) \(number)", record.value, code, stage: stage, type: record.type)
    }

    /// Every kind there is.
    /// - Parameter largest: `max.message.bytes` of the input topic.
    static func all(largest: Int) -> [Poison] {
        let start = WorkloadOptions().start
        let future = Int(Date().timeIntervalSince1970) + 2 * 3_600
        let unknown = "{\"event_type\":\"users.messages.sms.Send\",\"id\":\"u\"}"
        return [
            Poison("cut off", json: "{\"id\":\"a", "malformed"),
            Poison("text", json: "not JSON at all", "malformed", type: "users.behaviors.app.SessionStart"),
            Poison("empty value", [], "malformed"),
            Poison("tombstone", nil, nil),
            Poison("unknown type", json: unknown, nil),
            Poison("unknown type, large", padded(unknown, to: 1_500_000), nil),
            Poison("no user", json: event("\"id\":\"p1\",\"time\":\(start)"), "missing_field"),
            Poison("empty id", json: event("\"id\":\"\",\"user_id\":\"u\",\"time\":\(start)"), "missing_field"),
            Poison("no type", json: "{\"id\":\"p2\",\"user_id\":\"u\",\"time\":\(start)}", "missing_field"),
            Poison("time as text", json: event("\"id\":\"p3\",\"user_id\":\"u\",\"time\":\"\(start)\""), "bad_type"),
            Poison("negative time", json: event("\"id\":\"p4\",\"user_id\":\"u\",\"time\":-1"), "bad_type"),
            Poison(
                "time beyond 32 bits", json: event("\"id\":\"p5\",\"user_id\":\"u\",\"time\":4294967296"), "bad_type"),
            Poison(
                "time beyond 64 bits", json: event("\"id\":\"p6\",\"user_id\":\"u\",\"time\":1e99"), "bad_type"),
            Poison("a number", json: "17", "bad_type"),
            Poison(
                "invalid UTF-8", Array("{\"id\":\"".utf8) + [0xC3, 0x28, 0xFF] + Array("\"}".utf8), "malformed"),
            Poison(
                "deep nesting", json: String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000),
                "malformed"),
            Poison("1.5 MB, malformed", padded("{\"id\":", to: 1_500_000), "malformed"),
            Poison(
                "5 MB", padded(event("\"id\":\"p7\",\"user_id\":\"u\",\"time\":\(start)"), to: 5 << 20), "too_large"),
            // With its headers the dead letter is larger than the input takes.
            Poison(
                "as large as the input takes",
                padded(event("\"id\":\"p8\",\"user_id\":\"u\",\"time\":\(start)"), to: largest - 200), "too_large"),
            Poison(
                "long id",
                json: event("\"id\":\"\(String(repeating: "i", count: 5_000))\",\"user_id\":\"u\",\"time\":1"),
                "too_large"),
            Poison(
                "future-dated", json: event("\"id\":\"p9\",\"user_id\":\"u\",\"time\":\(future)"), "future_dated",
                stage: "accept"),
            Poison(
                "late", json: event("\"id\":\"p10\",\"user_id\":\"u\",\"time\":\(start)"), "late", stage: "accept"),
        ]
    }
}
