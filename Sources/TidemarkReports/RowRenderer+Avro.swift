internal import TidemarkAttribution
internal import TidemarkEvents

/// The metrics of all channels in the one order that the Avro schema of rows has them in.
public enum AvroMetrics {
    /// The names: those of each channel that no channel before has, channel by channel.
    public static let names: [String] = {
        var names: [String] = []
        for channel in Channel.allCases {
            for metric in Metric.all(of: channel) where !names.contains(metric.name) { names.append(metric.name) }
        }
        return names
    }()

    /// Whether a metric is the map of clicks by button, by its place in `names`.
    public static let isMap: [Bool] = names.map { $0 == "button_clicks" }

    private static let byChannel: [[Metric?]] = Channel.allCases.map { channel in
        names.map { name in Metric.all(of: channel).first { $0.name == name } }
    }

    /// The metric of a channel at each place of `names`; `nil` where the channel has none.
    public static func all(of channel: Channel) -> [Metric?] { byChannel[Int(channel.rawValue)] }
}

extension RowRenderer {
    /// Writes the record of a row as it stands, in Avro of the schema `schemas/avro/report-row.avsc`.
    ///
    /// - Parameters:
    ///   - version: what a published record has beyond one of a replay.
    ///   - schemaID: the id of that schema.
    public func writeAvro(
        _ row: Int, of store: RowStore, names: NameTable, version: (revision: Int64, asOf: Int64), schemaID: UInt32,
        to avro: inout AvroRecordWriter
    ) {
        let key = store.keys[row]
        let ids = ids(of: key)
        let strings = vocabulary.strings
        avro.begin(schemaID: schemaID)
        avro.string(key.kind.name)
        avro.string(key.channel.name)
        for id in [ids.campaign, ids.messageVariation, ids.canvas, ids.canvasVariation, ids.canvasStep, key.platform] {
            avro.optional(strings[id])
        }
        if key.day == RowKey.noDay {
            avro.null()
            avro.null()
        } else {
            avro.present()
            avro.string(JSONWriter.day(key.day))
            avro.present()
            avro.string(settings.timeZone)
        }
        let named: [(NamedID, UInt32)] = [
            (.campaign, ids.campaign), (.messageVariation, ids.messageVariation), (.canvas, ids.canvas),
            (.canvasVariation, ids.canvasVariation), (.canvasStep, ids.canvasStep),
        ]
        for (kind, id) in named { avro.optional(strings[names.name(kind, of: id)]) }
        avro.string(rules.creditModel.rawValue)
        avro.string(rules.windowPolicy.rawValue)
        avro.integer(Int64(AttributionRules.version))
        writeMetrics(row, of: store, to: &avro)
        avro.integer(version.revision)
        avro.integer(version.asOf)
    }

    private func writeMetrics(_ row: Int, of store: RowStore, to avro: inout AvroRecordWriter) {
        let key = store.keys[row]
        for metric in AvroMetrics.all(of: key.channel) {
            guard let metric, !(metric.isBySendTime && key.kind == .campaignTotal) else {
                avro.null()
                continue
            }
            avro.present()
            if case .buttonClicks = metric.source {
                writeButtons(store.buttonClicks(row), to: &avro)
            } else {
                avro.integer(store.value(row, metric.source))
            }
        }
    }

    private func writeButtons(_ clicks: [UInt32: Int64], to avro: inout AvroRecordWriter) {
        let strings = vocabulary.strings
        if !clicks.isEmpty {
            avro.integer(Int64(clicks.count))
            for (button, count) in clicks.sorted(by: { ByteView.compare(strings[$0.key], strings[$1.key]) < 0 }) {
                avro.string(strings[button])
                avro.integer(count)
            }
        }
        avro.integer(0)
    }
}
