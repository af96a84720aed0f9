internal import TidemarkAttribution

/// The report as tables that people read: one per channel that has rows, lines by campaign, message or day.
///
/// Rates are derived here and nowhere else (`spec/reports.md` section 2). Distinct users are shown for campaign totals only,
/// because sums over days or messages would count a user more than once.
struct ReportTable {
    private struct Group {
        var label: String
        var identity: String
        var counters = [Int64](repeating: 0, count: Counter.stride)
        var campaign: UInt32
    }

    let report: Report
    let grouping: ReportGrouping
    let filter: RowFilter
    let width: Int

    /// The tables, with an empty line between; one line that says so where there are no rows.
    func text() -> String {
        // In the order of keys, not of arrival: what the lines are sorted by can be equal.
        let rows = report.sortedRows().filter { report.store.keys[$0].kind == kind && filter.matches($0, of: report) }
        let tables = Channel.allCases.compactMap { table($0, rows) }
        return tables.isEmpty ? "No rows.\n" : tables.joined(separator: "\n")
    }

    /// Campaign totals hold all days: with a choice of days, and for anything but campaigns, lines are sums of day rows.
    private var kind: RowKind {
        switch grouping {
        case .campaign: filter.days == nil ? .campaignTotal : .campaignDay
        case .message: .messageDay
        case .day: .campaignDay
        }
    }

    private func table(_ channel: Channel, _ rows: [Int]) -> String? {
        let groups = sorted(groups(of: channel, rows))
        guard !groups.isEmpty else { return nil }
        let columns = TableColumns.of(channel).filter { isShown($0.cell) }
        var table = TextTable(labelHeading: grouping.rawValue.capitalizedFirst, columns: columns.map(\.column))
        let labels = distinctLabels(groups)
        table.lines = zip(groups, labels).map { group, label in
            TextTable.Line(label: label, cells: columns.map { cell($0.cell, group, channel) })
        }
        if groups.count > 1 {
            let sum = total(groups)
            table.total = TextTable.Line(
                label: "Total", cells: columns.map { $0.cell.isSummable ? cell($0.cell, sum, channel) : "" })
        }
        return TableColumns.title(channel) + "\n\n" + table.text(width: width)
    }

    private func groups(of channel: Channel, _ rows: [Int]) -> [Group] {
        var groups: [Group] = []
        var places: [Int64: Int] = [:]
        let store = report.store
        for row in rows {
            let key = store.keys[row]
            guard key.channel == channel else { continue }
            let place = places[groupNumber(key)] ?? groups.count
            if place == groups.count {
                places[groupNumber(key)] = place
                groups.append(group(key))
            }
            for counter in 0..<Counter.stride { groups[place].counters[counter] += store.value(row, .counter(counter)) }
        }
        return groups
    }

    private func groupNumber(_ key: RowKey) -> Int64 { grouping == .day ? Int64(key.day) : Int64(key.subject) }

    private func group(_ key: RowKey) -> Group {
        let labels = report.labels
        switch grouping {
        case .campaign: return Group(label: labels.campaign(key), identity: labels.identity(key), campaign: key.subject)
        case .message: return Group(label: labels.message(key), identity: labels.identity(key), campaign: key.subject)
        case .day:
            var json = JSONWriter()
            json.day(key.day)
            let day = String(decoding: json.bytes.dropFirst().dropLast(), as: UTF8.self)
            return Group(label: day, identity: day, campaign: 0)
        }
    }

    /// Days in order; all else from the greatest first count down, equal ones by label, then as they come.
    private func sorted(_ groups: [Group]) -> [Group] {
        groups.enumerated().sorted { left, right in
            if grouping == .day { return left.element.label < right.element.label }
            let (most, more) = (left.element.counters[0], right.element.counters[0])
            if most != more { return most > more }
            return (left.element.label, left.offset) < (right.element.label, right.offset)
        }.map(\.element)
    }

    /// Labels, those that several lines share with the beginning of their last id behind them.
    private func distinctLabels(_ groups: [Group]) -> [String] {
        let uses = Dictionary(grouping: groups, by: \.label).mapValues(\.count)
        return groups.map { group in
            let isShared = uses[group.label] ?? 0 > 1 && !group.identity.isEmpty
            return isShared ? "\(group.label) #\(DisplayText.safe(group.identity).prefix(8))" : group.label
        }
    }

    private func total(_ groups: [Group]) -> Group {
        groups.reduce(into: Group(label: "", identity: "", campaign: 0)) { sum, group in
            for counter in 0..<Counter.stride { sum.counters[counter] += group.counters[counter] }
        }
    }

    private func isShown(_ cell: TableCell) -> Bool { kind == .campaignTotal || cell.isSummable }

    private func cell(_ cell: TableCell, _ group: Group, _ channel: Channel) -> String {
        switch cell {
        case .count(let source): return DisplayText.count(source.value(group.counters))
        case .users(let counter): return DisplayText.count(group.counters[counter])
        case .rate(let part, let whole, let byDay):
            if let byDay, kind != .campaignTotal {
                return DisplayText.rate(byDay.0.value(group.counters), of: byDay.of.value(group.counters))
            }
            return DisplayText.rate(part.value(group.counters), of: whole.value(group.counters))
        case .conversionRate(let reached):
            guard let counter = TableColumns.audience(reached) else { return "" }
            let key = RowKey(
                kind: .campaignTotal, channel: reached, subject: group.campaign, platform: 0, day: RowKey.noDay)
            guard let row = report.store.knownRow(key) else { return "" }
            let converted = group.counters[Counter.Campaign.firstUnique]
            return DisplayText.rate(converted, of: report.store.value(row, .counter(counter)))
        }
    }
}

extension TableCell {
    /// Whether the cell has a meaning for a sum of rows.
    fileprivate var isSummable: Bool {
        switch self {
        case .count, .rate: true
        case .users, .conversionRate: false
        }
    }
}

extension Metric.Source {
    /// The value among a channel's counters.
    fileprivate func value(_ counters: [Int64]) -> Int64 {
        switch self {
        case .counter(let counter): counters[counter]
        case .difference(let left, let right): counters[left] - counters[right]
        case .sum(let left, let right): counters[left] + counters[right]
        case .buttonClicks: 0
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
