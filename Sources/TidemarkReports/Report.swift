public import TidemarkAttribution

/// A whole report: rows, names, and how to write them. What a replay ends in, and what a reader of the report topic holds.
public final class Report {
    /// The rows.
    public let store: RowStore
    /// The names of the ids in them.
    public let names: NameTable
    /// Writes rows as records.
    public private(set) var renderer: RowRenderer
    private var rules: AttributionRules
    private var settings: ReportSettings

    /// A report of rows kept elsewhere.
    public init(store: RowStore, names: NameTable, rules: AttributionRules, settings: ReportSettings) {
        self.store = store
        self.names = names
        self.rules = rules
        self.settings = settings
        renderer = RowRenderer(vocabulary: store.vocabulary, rules: rules, settings: settings)
    }

    /// Renders from now on what the rows say of themselves: a report that was read was made under the settings of whoever wrote it.
    public func describe(
        model: AttributionRules.CreditModel, window: AttributionRules.WindowPolicy, timeZone: String?
    ) {
        rules.creditModel = model
        rules.windowPolicy = window
        settings.timeZone = timeZone ?? settings.timeZone
        renderer = RowRenderer(vocabulary: store.vocabulary, rules: rules, settings: settings)
    }

    /// The rows that exist, sorted by kind, then by the bytes of their record keys (`spec/reports.md` section 5).
    public func sortedRows() -> [Int] {
        var json = JSONWriter()
        var keyed: [(kind: UInt8, key: [UInt8], row: Int)] = []
        for row in store.keys.indices where store.exists(row) {
            json.removeAll()
            renderer.writeKey(store.keys[row], to: &json)
            keyed.append((store.keys[row].kind.rawValue, json.bytes, row))
        }
        keyed.sort { left, right in
            left.kind == right.kind ? left.key.lexicographicallyPrecedes(right.key) : left.kind < right.kind
        }
        return keyed.map(\.row)
    }

    /// Writes one record a line, sorted, without `revision` and `as_of`.
    public func writeLines(to json: inout JSONWriter) {
        for row in sortedRows() {
            renderer.writeRecord(row, of: store, names: names, to: &json)
            json.raw("\n")
        }
    }
}
