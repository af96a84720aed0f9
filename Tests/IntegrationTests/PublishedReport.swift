import Foundation
import Testing
import TidemarkProcessor
import TidemarkWorkload

/// What consumers of an application's outputs see.
final class PublishedReport {
    let rows: TopicReader
    let opens: TopicReader
    let deadLetters: TopicReader

    init(_ application: TestApplication) throws {
        rows = try TopicReader(application.topics.reports)
        opens = try TopicReader(application.topics.opens)
        deadLetters = try TopicReader(application.topics.deadLetters)
    }

    func update() throws {
        for reader in [rows, opens, deadLetters] { try reader.update() }
    }

    /// The rows as `replay` prints them: sorted by kind of row and key, without `revision` and `as_of`.
    var lines: String {
        let kinds = ["message_day", "campaign_day", "campaign_total"]
        func place(_ key: String) -> Int { kinds.firstIndex { key.hasPrefix("[\"\($0)\"") } ?? kinds.count }
        return rows.latest.sorted { left, right in
            let (first, second) = (place(left.key), place(right.key))
            return first != second ? first < second : left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
        }.map { PublishedReport.line($0.value) + "\n" }.joined()
    }

    private static func line(_ record: [UInt8]) -> String {
        let text = String(decoding: record, as: UTF8.self)
        guard let end = text.range(of: ",\"revision\":", options: .backwards) else { return text }
        return text[..<end.lowerBound] + "}"
    }

    /// Revisions must grow with each version of a row, through all restarts.
    var revisionsThatFell: [String] {
        var last: [[UInt8]: Int64] = [:]
        var fallen: [String] = []
        for record in rows.records {
            guard let key = record.key, let value = record.value else { continue }
            let text = String(decoding: value, as: UTF8.self)
            let digits = text.components(separatedBy: ",\"revision\":").last?.prefix { $0.isNumber } ?? ""
            guard let revision = Int64(digits) else { return ["no revision in \(text)"] }
            if let before = last[key], revision <= before {
                fallen.append("\(String(decoding: key, as: UTF8.self)): \(before), then \(revision)")
            }
            last[key] = revision
        }
        return fallen
    }
}

/// What the outputs should be: a plain evaluation that shares nothing with the program.
struct ExpectedReport {
    let rows: String
    let opens: Set<OpenFields>
    let truth: Workload.Truth

    init(_ workload: Workload, settings: PlainSettings = PlainSettings()) throws {
        truth = try workload.truth(settings: settings, keepsOpens: true)
        rows = String(decoding: truth.evaluation.truth(), as: UTF8.self)
        opens = Set(truth.evaluation.opens().map(OpenFields.init))
        // A stream without anything to attribute would prove nothing.
        try #require(truth.directOpens > 0 && truth.influencedOpens > 0)
    }

    /// Waits until the published rows and opens are these; records what differs when they do not become so.
    func wait(for report: PublishedReport, within seconds: Double = 40) throws {
        try? eventually(within: seconds, "") {
            try report.update()
            return report.rows.latest.count == rows.utf8.count { $0 == UInt8(ascii: "\n") } && report.lines == rows
        }
        try check(report)
    }

    /// Compares rows byte by byte and opens field by field.
    func check(_ report: PublishedReport) throws {
        try report.update()
        let lines = report.lines
        if lines != rows {
            let difference = Set(lines.split(separator: "\n")).symmetricDifference(rows.split(separator: "\n"))
            Issue.record("\(difference.count) rows differ: \(difference.sorted().prefix(6).joined(separator: "\n"))")
        }
        let published = report.opens.latest.values.map(OpenFields.init)
        #expect(published.count == opens.count)
        let difference = Set(published).symmetricDifference(opens)
        if !difference.isEmpty { Issue.record("\(difference.count) opens differ: \(difference.prefix(6))") }
        #expect(report.revisionsThatFell.prefix(3) == [])
    }
}

/// The fields of an open record that the evaluation knows, as text; the ids of influenced opens are the program's to choose.
struct OpenFields: Hashable {
    private let fields: [String]

    init(_ record: [UInt8]) {
        let object = (try? JSONSerialization.jsonObject(with: Data(record))) as? [String: Any] ?? [:]
        fields =
            OpenFields.names.map { name in
                guard let value = object[name], !(value is NSNull) else {
                    return name == "platform" ? "unknown" : "null"
                }
                return "\(value)"
            } + [object["kind"] as? String == "direct" ? "\(object["id"] ?? "")" : "", OpenFields.window(record)]
    }

    init(_ open: PlainOpen) {
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
