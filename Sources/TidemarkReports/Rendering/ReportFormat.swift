internal import TidemarkAttribution

/// How a report is written.
public enum ReportFormat: String, CaseIterable, Sendable {
    /// Tables that people read.
    case table
    /// One record a line.
    case ndjson
    /// An array of the records.
    case json
    /// One line per row with every metric of every channel, as RFC 4180 has it.
    case csv
}

extension Report {
    /// Writes the report.
    ///
    /// - Parameters:
    ///   - grouping: what the lines of a table stand for; the other formats hold rows as they are.
    ///   - filter: which rows are wanted.
    ///   - width: columns that a table should fit in.
    public func rendered(
        _ format: ReportFormat, by grouping: ReportGrouping = .campaign, filter: RowFilter = RowFilter(),
        width: Int = 100
    ) -> [UInt8] {
        switch format {
        case .table:
            return Array(ReportTable(report: self, grouping: grouping, filter: filter, width: width).text().utf8)
        case .csv: return CSVWriter(report: self).bytes(rows(filter))
        case .ndjson, .json: return records(rows(filter), isArray: format == .json)
        }
    }

    private func rows(_ filter: RowFilter) -> [Int] { sortedRows().filter { filter.matches($0, of: self) } }

    private func records(_ rows: [Int], isArray: Bool) -> [UInt8] {
        var json = JSONWriter()
        if isArray { json.raw("[") }
        for (place, row) in rows.enumerated() {
            if isArray { json.raw(place == 0 ? "\n" : ",\n") }
            renderer.writeRecord(row, of: store, names: names, to: &json)
            if !isArray { json.raw("\n") }
        }
        if isArray { json.raw(rows.isEmpty ? "]\n" : "\n]\n") }
        return json.bytes
    }
}
