internal import TidemarkAttribution
internal import TidemarkEvents

/// Writes rows as comma-separated values: a header, then a line per row, quoted where needed, lines ended by CR LF (RFC 4180).
///
/// Every row has the metrics of every channel, empty where its own channel lacks one; `button_clicks` is a JSON object.
struct CSVWriter {
    private static let keyFields = [
        "row", "channel", "campaign_id", "message_variation_id", "canvas_id", "canvas_variation_id", "canvas_step_id",
        "platform", "day", "time_zone", "campaign_name", "message_variation_name", "canvas_name",
        "canvas_variation_name", "canvas_step_name", "attribution_model", "attribution_window", "attribution_rules",
    ]

    /// The metrics of all channels, each name once, in the order of the channels.
    static let metricNames: [String] = {
        var seen: Set<String> = []
        return Channel.allCases.flatMap { Metric.all(of: $0).map(\.name) }.filter { seen.insert($0).inserted }
    }()

    let report: Report

    func bytes(_ rows: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        append((Self.keyFields + Self.metricNames).map { Array($0.utf8) }, to: &bytes)
        for row in rows { append(keyCells(row) + metricCells(row), to: &bytes) }
        return bytes
    }

    private func keyCells(_ row: Int) -> [[UInt8]] {
        let key = report.store.keys[row]
        let renderer = report.renderer
        let ids = renderer.ids(of: key)
        let numbers = [ids.campaign, ids.messageVariation, ids.canvas, ids.canvasVariation, ids.canvasStep]
        var cells = [key.kind.name, key.channel.name].map { Array($0.description.utf8) }
        cells += (numbers + [key.platform]).map(cell)
        if key.day == RowKey.noDay {
            cells += [[], []]
        } else {
            var day = JSONWriter()
            day.day(key.day)
            cells += [Array(day.bytes.dropFirst().dropLast()), Array(renderer.settings.timeZone.utf8)]
        }
        cells += zip(NamedID.allCases, numbers).map { cell(report.names.name($0, of: $1)) }
        cells.append(Array(renderer.rules.creditModel.rawValue.utf8))
        cells.append(Array(renderer.rules.windowPolicy.rawValue.utf8))
        cells.append(Array(String(AttributionRules.version).utf8))
        return cells
    }

    private func metricCells(_ row: Int) -> [[UInt8]] {
        let key = report.store.keys[row]
        var values: [String: [UInt8]] = [:]
        for metric in Metric.all(of: key.channel) where !(metric.isBySendTime && key.kind == .campaignTotal) {
            if case .buttonClicks = metric.source {
                var json = JSONWriter()
                report.renderer.writeButtons(report.store.buttonClicks(row), to: &json)
                values[metric.name] = json.bytes
            } else {
                values[metric.name] = Array(String(report.store.value(row, metric.source)).utf8)
            }
        }
        return Self.metricNames.map { values[$0] ?? [] }
    }

    private func cell(_ number: UInt32) -> [UInt8] {
        let view = report.store.vocabulary.strings[number]
        return Array(UnsafeBufferPointer(start: view.start, count: view.count))
    }

    private func append(_ cells: [[UInt8]], to bytes: inout [UInt8]) {
        for (place, cell) in cells.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            appendQuoted(cell, to: &bytes)
        }
        bytes += [0x0D, 0x0A]
    }

    private func appendQuoted(_ cell: [UInt8], to bytes: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let needsQuotes = cell.contains { $0 == quote || $0 == UInt8(ascii: ",") || $0 == 0x0D || $0 == 0x0A }
        guard needsQuotes else { return bytes += cell }
        bytes.append(quote)
        for byte in cell {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }
}
