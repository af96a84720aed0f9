internal import TidemarkAttribution
internal import TidemarkEvents
internal import TidemarkReports

/// What decides outcomes, as one text: state and reports made under another fingerprint do not go together with ours.
enum Fingerprint {
    static func of(_ rules: AttributionRules, _ settings: ReportSettings, _ days: DayTable) -> String {
        let parts: [String] = [
            "rules \(AttributionRules.version)", rules.windowPolicy.rawValue, "\(rules.fixedWindow)",
            "\(rules.windowFactor)",
            "\(rules.windowCap)", rules.creditModel.rawValue, "\(rules.touchLimit)", "\(rules.sessionMerge)",
            "\(rules.directJoin)", "\(rules.instanceSpan)", "\(rules.historyMonths)",
            rules.excludedPlatforms.sorted().joined(separator: ","),
            "\(rules.allowedLateness.map(String.init) ?? "unlimited")",
            settings.timeZone, "\(settings.uniqueRetention)", "\(days.firstOffset)",
            days.transitions.map { "\($0.time):\($0.offset)" }.joined(separator: ","),
        ]
        let (low, high) = Array(parts.joined(separator: "|").utf8).withUnsafeBytes { ByteView($0).hash128 }
        return String(high, radix: 16) + "-" + String(low, radix: 16)
    }
}
