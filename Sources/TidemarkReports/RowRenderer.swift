public import TidemarkAttribution
internal import TidemarkEvents

/// Writes rows as records (`spec/reports.md` sections 1 and 3).
public struct RowRenderer {
    let vocabulary: Vocabulary
    let rules: AttributionRules
    let settings: ReportSettings

    /// A renderer of rows of one report.
    public init(vocabulary: Vocabulary, rules: AttributionRules, settings: ReportSettings) {
        self.vocabulary = vocabulary
        self.rules = rules
        self.settings = settings
    }

    /// The ids of a row, each 0 where its key lacks it.
    public func ids(of key: RowKey) -> MessageKey {
        if key.kind == .messageDay { return vocabulary.messages[Int(key.subject)] }
        let campaign = vocabulary.campaigns[Int(key.subject)]
        var ids = MessageKey()
        ids.campaign = campaign.campaign
        ids.canvas = campaign.canvas
        ids.canvasStep = campaign.canvasStep
        return ids
    }

    /// Writes the record key: the canonical JSON array of section 1.
    public func writeKey(_ key: RowKey, to json: inout JSONWriter) {
        let strings = vocabulary.strings
        let ids = ids(of: key)
        json.raw("[\"")
        json.raw(key.kind.name)
        json.raw("\",\"")
        json.raw(key.channel.name)
        json.raw("\"")
        for id in [ids.campaign, ids.messageVariation, ids.canvas, ids.canvasVariation, ids.canvasStep, key.platform] {
            json.raw(",")
            json.string(strings[id])
        }
        json.raw(",")
        if key.day == RowKey.noDay { json.raw("null") } else { json.day(key.day) }
        json.raw("]")
    }

    /// Writes the record of a row as it stands.
    ///
    /// - Parameter version: what a published record has beyond one of a replay.
    public func writeRecord(
        _ row: Int, of store: RowStore, names: NameTable, version: (revision: Int64, asOf: Int64)? = nil,
        to json: inout JSONWriter
    ) {
        let key = store.keys[row]
        json.raw("{\"row\":\"")
        json.raw(key.kind.name)
        json.raw("\",\"channel\":\"")
        json.raw(key.channel.name)
        json.raw("\"")
        writeIDs(key, to: &json)
        writeNames(key, names, to: &json)
        json.raw(",\"attribution\":{\"model\":\"")
        json.raw(rules.creditModel.rawValue)
        json.raw("\",\"window\":\"")
        json.raw(rules.windowPolicy.rawValue)
        json.raw("\",\"rules\":")
        json.integer(Int64(AttributionRules.version))
        json.raw("},\"metrics\":{")
        writeMetrics(row, of: store, to: &json)
        json.raw("}")
        if let version {
            json.raw(",\"revision\":")
            json.integer(version.revision)
            json.raw(",\"as_of\":")
            json.integer(version.asOf)
        }
        json.raw("}")
    }

    private func writeIDs(_ key: RowKey, to json: inout JSONWriter) {
        let strings = vocabulary.strings
        let ids = ids(of: key)
        field(",\"campaign_id\":", strings[ids.campaign])
        field(",\"message_variation_id\":", strings[ids.messageVariation])
        field(",\"canvas_id\":", strings[ids.canvas])
        field(",\"canvas_variation_id\":", strings[ids.canvasVariation])
        field(",\"canvas_step_id\":", strings[ids.canvasStep])
        field(",\"platform\":", strings[key.platform])
        json.raw(",\"day\":")
        if key.day == RowKey.noDay {
            json.raw("null,\"time_zone\":null")
        } else {
            json.day(key.day)
            json.raw(",\"time_zone\":")
            json.string(settings.timeZone)
        }

        func field(_ name: StaticString, _ value: ByteView) {
            json.raw(name)
            json.string(value)
        }
    }

    private func writeNames(_ key: RowKey, _ names: NameTable, to json: inout JSONWriter) {
        let ids = ids(of: key)
        name(",\"campaign_name\":", .campaign, ids.campaign)
        name(",\"message_variation_name\":", .messageVariation, ids.messageVariation)
        name(",\"canvas_name\":", .canvas, ids.canvas)
        name(",\"canvas_variation_name\":", .canvasVariation, ids.canvasVariation)
        name(",\"canvas_step_name\":", .canvasStep, ids.canvasStep)

        func name(_ field: StaticString, _ kind: NamedID, _ id: UInt32) {
            json.raw(field)
            json.string(vocabulary.strings[names.name(kind, of: id)])
        }
    }

    private func writeMetrics(_ row: Int, of store: RowStore, to json: inout JSONWriter) {
        let key = store.keys[row]
        var isFirst = true
        for metric in Metric.all(of: key.channel) where !(metric.isBySendTime && key.kind == .campaignTotal) {
            json.raw(isFirst ? "\"" : ",\"")
            isFirst = false
            json.raw(metric.field)
            json.raw("\":")
            if case .buttonClicks = metric.source {
                writeButtons(store.buttonClicks(row), to: &json)
            } else {
                json.integer(store.value(row, metric.source))
            }
        }
    }

    func writeButtons(_ clicks: [UInt32: Int64], to json: inout JSONWriter) {
        let strings = vocabulary.strings
        json.raw("{")
        var isFirst = true
        for (button, count) in clicks.sorted(by: { ByteView.compare(strings[$0.key], strings[$1.key]) < 0 }) {
            if !isFirst { json.raw(",") }
            isFirst = false
            json.string(strings[button])
            json.raw(":")
            json.integer(count)
        }
        json.raw("}")
    }
}
