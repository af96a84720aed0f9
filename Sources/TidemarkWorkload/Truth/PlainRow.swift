/// One row of a report with its full set of metrics.
public struct PlainRow: Sendable {
    let key: RowKey
    let counts: RowCounts
    let timeZone: String
    let names: [Names.Kind: Text]
    let model: PlainSettings.Model
    let policy: PlainSettings.Policy

    /// The kind of row, such as `message_day`.
    public var kind: String { key.kind.rawValue }

    /// The channel, such as `push`.
    public var channel: String { key.channel.rawValue }

    /// The value of a metric by its name; null if the row has no such number.
    public func metric(_ name: String) -> Int? {
        metrics.first { $0.rawValue == name && $0 != .buttonClicks }.map { counts[$0] }
    }

    /// The number of clicks of each button.
    public var buttonClicks: [String: Int] {
        Dictionary(uniqueKeysWithValues: counts.buttons.map { ($0.string, $1) })
    }

    /// The row's identity: the canonical JSON array that the reports topic uses as record key.
    public var recordKey: String {
        var json = CanonicalJSON()
        let message = key.message
        json.append(raw: "[\"\(key.kind.rawValue)\",\"\(key.channel.rawValue)\"")
        let parts = [
            message.campaign, message.variation, message.canvas, message.canvasVariation, message.canvasStep,
            key.platform, day,
        ]
        for part in parts {
            json.append(raw: ",")
            json.append(part)
        }
        json.append(raw: "]")
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// The row as `replay` prints it: one record without `revision` and `as_of`, without a line end.
    public var record: String {
        var json = CanonicalJSON()
        json.append(raw: "{\"row\":\"\(key.kind.rawValue)\",\"channel\":\"\(key.channel.rawValue)\"")
        for (name, value) in dimensions {
            json.append(raw: ",\"\(name)\":")
            json.append(value)
        }
        json.append(raw: ",\"attribution\":{\"model\":\"\(model.rawValue)\",\"window\":\"\(policy.rawValue)\"")
        json.append(raw: ",\"rules\":1},\"metrics\":{")
        for (place, metric) in metrics.enumerated() {
            json.append(raw: "\(place == 0 ? "" : ",")\"\(metric.rawValue)\":")
            if metric == .buttonClicks { append(buttonsTo: &json) } else { json.append(raw: String(counts[metric])) }
        }
        json.append(raw: "}}")
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private var day: Text? { key.day.map { Text(UTCDate(daysSinceEpoch: $0).iso) } }

    private var metrics: [Metric] {
        key.kind == .campaignTotal ? key.channel.metrics.filter { !$0.isBySendTime } : key.channel.metrics
    }

    private var dimensions: [(name: String, value: Text?)] {
        let message = key.message
        return [
            ("campaign_id", message.campaign), ("message_variation_id", message.variation),
            ("canvas_id", message.canvas), ("canvas_variation_id", message.canvasVariation),
            ("canvas_step_id", message.canvasStep), ("platform", key.platform), ("day", day),
            ("time_zone", key.day == nil ? nil : Text(timeZone)),
            ("campaign_name", names[.campaign]), ("message_variation_name", names[.messageVariation]),
            ("canvas_name", names[.canvas]), ("canvas_variation_name", names[.canvasVariation]),
            ("canvas_step_name", names[.canvasStep]),
        ]
    }

    private func append(buttonsTo json: inout CanonicalJSON) {
        json.append(raw: "{")
        for (place, entry) in counts.buttons.sorted(by: { $0.key < $1.key }).enumerated() {
            if place > 0 { json.append(raw: ",") }
            json.append(entry.key)
            json.append(raw: ":\(entry.value)")
        }
        json.append(raw: "}")
    }
}
