internal import Foundation
public import TidemarkWorkload

/// The fields of an open record that the plain evaluation knows, as text; the ids of influenced opens are the program's to choose.
public struct OpenFields: Hashable, Sendable {
    private let fields: [String]

    /// Those of a record of the open topic.
    public init(_ record: [UInt8]) {
        let object = (try? JSONSerialization.jsonObject(with: Data(record))) as? [String: Any] ?? [:]
        fields =
            OpenFields.names.map { name in
                guard let value = object[name], !(value is NSNull) else {
                    return name == "platform" ? "unknown" : "null"
                }
                return "\(value)"
            } + [object["kind"] as? String == "direct" ? "\(object["id"] ?? "")" : "", OpenFields.window(record)]
    }

    /// Those of an open of the plain evaluation.
    public init(_ open: PlainOpen) {
        func text(_ value: (some Any)?) -> String { value.map { "\($0)" } ?? "null" }
        fields = [
            open.kind.rawValue, open.eventType, open.userID, text(open.externalUserID), text(open.campaignID),
            text(open.messageVariationID), text(open.canvasID), text(open.canvasVariationID), text(open.canvasStepID),
            text(open.appID), open.platform, text(open.time), text(open.sendTime), text(open.sendEventID),
            text(open.sessionID), text(open.model), open.kind == .direct ? text(open.id) : "",
            text(open.windowSeconds),
        ]
    }

    private static let names = [
        "kind", "event_type", "user_id", "external_user_id", "campaign_id", "message_variation_id", "canvas_id",
        "canvas_variation_id", "canvas_step_id", "app_id", "platform", "time", "send_time", "send_event_id",
        "session_id", "model",
    ]

    /// From the text, because Foundation's JSON reader is off by some units in the last place.
    private static func window(_ record: [UInt8]) -> String {
        let text = String(decoding: record, as: UTF8.self).components(separatedBy: "\"window_seconds\":").last ?? ""
        return Double(text.prefix { $0 != "," && $0 != "}" }).map { "\($0)" } ?? "null"
    }
}
