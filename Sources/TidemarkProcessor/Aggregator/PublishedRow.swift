internal import Foundation
public import TidemarkAttribution
public import TidemarkReports

/// A record of the report topic, read back (`spec/reports.md` section 3).
public struct PublishedRow: Sendable {
    /// Why a record cannot be a row.
    public struct Malformed: Error, Equatable, CustomStringConvertible {
        /// What is wrong, with the field.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// The names that the record carries; `nil` where it says null.
    public struct Names: Equatable, Sendable {
        /// By kind of id, in the order of `NamedID`.
        public internal(set) var byKind = [String?](repeating: nil, count: NamedID.allCases.count)

        /// The name of one kind of id.
        public subscript(kind: NamedID) -> String? { byKind[Int(kind.rawValue)] }
    }

    /// Number of the row in the store.
    public let row: Int
    /// `revision`; 0 where the record has none, as in the output of a replay.
    public let revision: Int64
    /// `as_of`, seconds since the epoch; 0 where the record has none.
    public let asOf: Int64
    /// The names of the row's ids.
    public let names: Names
    /// `attribution.model` and `attribution.window`; `nil` where the record has none that this version knows.
    public let model: AttributionRules.CreditModel?
    /// See `model`.
    public let window: AttributionRules.WindowPolicy?
    /// `time_zone`; `nil` in totals.
    public let timeZone: String?

    /// Reads the value of a record and makes it the store's version of its row: every metric that it does not have is zero then.
    ///
    /// Ids, platform and buttons get numbers of the store's vocabulary. Metrics that this version does not know are ignored, those that
    /// follow from others are not read. Campaign rows have records of their own, so that nothing is added up here.
    ///
    /// - Throws: `Malformed`, with the store as it was but for numbers given out.
    public static func read(
        _ value: UnsafeRawBufferPointer, into store: RowStore
    ) throws(Malformed) -> PublishedRow {
        let record = try PublishedFields(value)
        let key = try record.key(store.vocabulary)
        let counts = try record.counts(of: key.channel)
        let clicks = try record.buttonClicks()
        let names = try record.names()
        let revision = try record.integer("revision") ?? 0
        let asOf = try record.integer("as_of") ?? 0
        let timeZone = try record.text("time_zone")
        let row = store.row(key)
        store.clear(row)
        for (counter, count) in counts { store.restore(row, counter: counter, to: count) }
        for (button, count) in clicks {
            store.restore(row, button: store.vocabulary.strings.intern(button), to: count)
        }
        return PublishedRow(
            row: row, revision: revision, asOf: asOf, names: names,
            model: record.attribution("model").flatMap(AttributionRules.CreditModel.init),
            window: record.attribution("window").flatMap(AttributionRules.WindowPolicy.init), timeZone: timeZone)
    }

    /// Reads the key of a record: the JSON array of `spec/reports.md` section 1. What a tombstone withdraws.
    ///
    /// - Throws: `Malformed`.
    public static func readKey(
        _ bytes: UnsafeRawBufferPointer, vocabulary: Vocabulary
    ) throws(Malformed) -> RowKey {
        let parts = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) as? [Any]
        guard let parts, parts.count == PublishedFields.keyFields.count else {
            throw Malformed("the record key is not an array of \(PublishedFields.keyFields.count) parts")
        }
        let fields = zip(PublishedFields.keyFields, parts)
        return try PublishedFields(object: Dictionary(uniqueKeysWithValues: fields.map { ($0, $1) })).key(vocabulary)
    }
}

/// The fields of one record, with their types checked as they are asked for.
private struct PublishedFields {
    /// What a record key holds, in its order.
    static let keyFields = [
        "row", "channel", "campaign_id", "message_variation_id", "canvas_id", "canvas_variation_id", "canvas_step_id",
        "platform", "day",
    ]

    private let object: [String: Any]

    init(object: [String: Any]) { self.object = object }

    init(_ value: UnsafeRawBufferPointer) throws(PublishedRow.Malformed) {
        guard let object = (try? JSONSerialization.jsonObject(with: Data(value))) as? [String: Any] else {
            throw PublishedRow.Malformed("not a JSON object")
        }
        self.object = object
    }

    func key(_ vocabulary: Vocabulary) throws(PublishedRow.Malformed) -> RowKey {
        guard let kind = RowKind(name: try required("row")) else { throw unknown("row") }
        guard let channel = Channel(name: try required("channel")) else { throw unknown("channel") }
        var day = RowKey.noDay
        if let text = try text("day") {
            guard let number = DayTable.day(iso: text) else { throw unknown("day") }
            day = number
        }
        guard (day == RowKey.noDay) == (kind == .campaignTotal) else {
            throw PublishedRow.Malformed("`day` does not fit a row of kind \(kind.name)")
        }
        let platform = kind == .messageDay ? try required("platform") : nil
        return RowKey(
            kind: kind, channel: channel, subject: try subject(kind, vocabulary),
            platform: platform.map(vocabulary.strings.intern) ?? 0, day: day)
    }

    private func subject(_ kind: RowKind, _ vocabulary: Vocabulary) throws(PublishedRow.Malformed) -> UInt32 {
        var message = MessageKey()
        message.campaign = try id("campaign_id", vocabulary)
        message.messageVariation = try id("message_variation_id", vocabulary)
        message.canvas = try id("canvas_id", vocabulary)
        message.canvasVariation = try id("canvas_variation_id", vocabulary)
        message.canvasStep = try id("canvas_step_id", vocabulary)
        if kind == .messageDay { return vocabulary.message(message) }
        var campaign = CampaignKey()
        campaign.campaign = message.campaign
        campaign.canvas = message.canvas
        campaign.canvasStep = message.canvasStep
        return vocabulary.campaign(campaign)
    }

    func counts(of channel: Channel) throws(PublishedRow.Malformed) -> [(counter: Int, count: Int64)] {
        guard let metrics = object["metrics"] as? [String: Any] else { throw wrongType("metrics", "an object") }
        var counts: [(counter: Int, count: Int64)] = []
        for metric in Metric.all(of: channel) {
            guard case .counter(let counter) = metric.source, let value = metrics[metric.name] else { continue }
            guard let count = value as? Int64 else { throw wrongType("metrics.\(metric.name)", "a whole number") }
            counts.append((counter, count))
        }
        return counts
    }

    func buttonClicks() throws(PublishedRow.Malformed) -> [String: Int64] {
        guard let clicks = (object["metrics"] as? [String: Any])?["button_clicks"] else { return [:] }
        guard let counts = clicks as? [String: Int64] else {
            throw wrongType("metrics.button_clicks", "an object of whole numbers")
        }
        return counts
    }

    func names() throws(PublishedRow.Malformed) -> PublishedRow.Names {
        var names = PublishedRow.Names()
        let fields = [
            "campaign_name", "message_variation_name", "canvas_name", "canvas_variation_name", "canvas_step_name",
        ]
        for (place, field) in fields.enumerated() { names.byKind[place] = try text(field) }
        return names
    }

    func integer(_ field: String) throws(PublishedRow.Malformed) -> Int64? {
        guard let value = object[field], !(value is NSNull) else { return nil }
        guard let number = value as? Int64 else { throw wrongType(field, "a whole number") }
        return number
    }

    private func id(_ field: String, _ vocabulary: Vocabulary) throws(PublishedRow.Malformed) -> UInt32 {
        try text(field).map(vocabulary.strings.intern) ?? 0
    }

    func attribution(_ field: String) -> String? {
        (object["attribution"] as? [String: Any])?[field] as? String
    }

    func text(_ field: String) throws(PublishedRow.Malformed) -> String? {
        guard let value = object[field], !(value is NSNull) else { return nil }
        guard let text = value as? String else { throw wrongType(field, "a text or null") }
        return text
    }

    private func required(_ field: String) throws(PublishedRow.Malformed) -> String {
        guard let text = try text(field) else { throw PublishedRow.Malformed("`\(field)` is missing") }
        return text
    }

    private func unknown(_ field: String) -> PublishedRow.Malformed {
        PublishedRow.Malformed("`\(field)` has the unknown value \(object[field] ?? "null")")
    }

    private func wrongType(_ field: String, _ wanted: String) -> PublishedRow.Malformed {
        PublishedRow.Malformed("`\(field)` is not \(wanted)")
    }
}
