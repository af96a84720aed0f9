import TidemarkAttribution
import TidemarkReports

/// A small report made by hand.
struct SampleReport {
    let report: Report
    private var store: RowStore { report.store }
    private var strings: StringTable { report.store.vocabulary.strings }

    init(settings: ReportSettings = ReportSettings()) {
        let rules = AttributionRules()
        let vocabulary = Vocabulary(excludedPlatforms: rules.excludedPlatforms)
        report = Report(
            store: RowStore(vocabulary: vocabulary), names: NameTable(vocabulary: vocabulary), rules: rules,
            settings: settings)
    }

    /// Names a campaign.
    func name(_ campaign: String, _ name: String) {
        report.names.take(
            kind: .campaign, id: strings.intern(campaign), name: strings.intern(name),
            order: NameOrder(time: 1, rank: 0, eventID: []))
    }

    /// Adds a campaign's total, or what it had on a day, by the names of metrics.
    func add(
        _ campaign: String?, channel: Channel = .push, day: String? = nil, _ metrics: [String: Int64],
        buttons: [String: Int64] = [:]
    ) {
        var key = CampaignKey()
        if let campaign { key.campaign = strings.intern(campaign) }
        set(
            RowKey(
                kind: day == nil ? .campaignTotal : .campaignDay, channel: channel,
                subject: store.vocabulary.campaign(key), platform: 0,
                day: day.flatMap { DayTable.day(iso: $0) } ?? RowKey.noDay), metrics, buttons)
    }

    /// Adds what a message had on a day.
    func add(
        _ campaign: String, variation: String, platform: String = "ios", day: String, _ metrics: [String: Int64]
    ) {
        var key = MessageKey()
        key.campaign = strings.intern(campaign)
        key.messageVariation = strings.intern(variation)
        set(
            RowKey(
                kind: .messageDay, channel: .push, subject: store.vocabulary.message(key),
                platform: strings.intern(platform), day: DayTable.day(iso: day) ?? 0), metrics, [:])
    }

    private func set(_ key: RowKey, _ metrics: [String: Int64], _ buttons: [String: Int64]) {
        let row = store.row(key)
        for metric in Metric.all(of: key.channel) {
            if case .counter(let counter) = metric.source, let value = metrics[metric.name] {
                store.restore(row, counter: counter, to: value)
            }
        }
        for (button, count) in buttons { store.restore(row, button: strings.intern(button), to: count) }
    }

    /// The report as text.
    func text(
        _ format: ReportFormat = .table, by grouping: ReportGrouping = .campaign, width: Int = 100,
        filter: (inout RowFilter) -> Void = { _ in }
    ) -> String {
        var rows = RowFilter()
        filter(&rows)
        return String(
            decoding: report.rendered(format, by: grouping, filter: rows, width: width), as: UTF8.self)
    }
}
