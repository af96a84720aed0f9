internal import TidemarkAttribution
internal import TidemarkEvents

/// What the lines of a table stand for.
public enum ReportGrouping: String, CaseIterable, Sendable {
    /// One line per campaign, or per step of a canvas.
    case campaign
    /// One line per message: the variation of a campaign, or the step of a canvas in one of its variations.
    case message
    /// One line per day.
    case day
}

/// Which rows of a report are wanted.
public struct RowFilter: Sendable {
    /// Names or ids of campaigns and canvases, in any case; `*` stands for any text. `nil` is all.
    public var campaign: String?
    /// The channel; `nil` is all.
    public var channel: Channel?
    /// Days since the epoch; `nil` is all. Rows without a day match only then.
    public var days: ClosedRange<Int32>?

    /// All rows.
    public init() {}

    /// Whether a row is wanted.
    func matches(_ row: Int, of report: Report) -> Bool {
        let key = report.store.keys[row]
        if let channel, key.channel != channel { return false }
        if let days, key.day == RowKey.noDay || !days.contains(key.day) { return false }
        guard let campaign else { return true }
        let pattern = Array(campaign.lowercased())
        return report.labels.searchTexts(key).contains { Self.matches(Array($0.lowercased())[...], pattern[...]) }
    }

    private static func matches(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        if first == "*" {
            return (text.startIndex...text.endIndex).contains { matches(text[$0...], rest) }
        }
        return text.first == first && matches(text.dropFirst(), rest)
    }
}

/// What people call the subject of a row: names where there are any, else ids.
struct RowLabels {
    /// What rows without any id are called.
    static let none = "(no campaign)"

    let report: Report

    /// The label of a row's campaign: its name, or those of its canvas and step.
    func campaign(_ key: RowKey) -> String {
        let ids = report.renderer.ids(of: key)
        if ids.canvas != 0 || ids.canvasStep != 0 {
            return joined([text(.canvas, ids.canvas), text(.canvasStep, ids.canvasStep)])
        }
        return text(.campaign, ids.campaign) ?? Self.none
    }

    /// The label of a row's message: that of its campaign, and the name of the variation.
    func message(_ key: RowKey) -> String {
        let ids = report.renderer.ids(of: key)
        let variation =
            ids.canvas != 0 || ids.canvasStep != 0
            ? text(.canvasVariation, ids.canvasVariation) : text(.messageVariation, ids.messageVariation)
        return joined([campaign(key), variation])
    }

    /// The most particular of a row's ids, to tell apart two subjects of the same name.
    func identity(_ key: RowKey) -> String {
        let ids = report.renderer.ids(of: key)
        let numbers = [ids.canvasStep, ids.canvasVariation, ids.canvas, ids.messageVariation, ids.campaign]
        return numbers.lazy.compactMap(string).first ?? ""
    }

    /// What a pattern for campaigns is held against.
    func searchTexts(_ key: RowKey) -> [String] {
        let ids = report.renderer.ids(of: key)
        return [
            string(ids.campaign), string(ids.canvas), string(report.names.name(.campaign, of: ids.campaign)),
            string(report.names.name(.canvas, of: ids.canvas)), campaign(key),
        ].compactMap(\.self)
    }

    private func text(_ kind: NamedID, _ id: UInt32) -> String? {
        (string(report.names.name(kind, of: id)) ?? string(id)).map(DisplayText.safe)
    }

    private func string(_ number: UInt32) -> String? { report.store.vocabulary.strings[number].text }

    private func joined(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: " / ") }
}

extension Report {
    var labels: RowLabels { RowLabels(report: self) }
}
