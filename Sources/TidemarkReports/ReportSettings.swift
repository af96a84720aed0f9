/// The settings of the report (`spec/reports.md`).
public struct ReportSettings: Equatable, Sendable {
    /// `report.time_zone`: IANA name of the zone whose calendar days the rows are of.
    public var timeZone = "UTC"
    /// `report.unique_retention`, seconds: in `campaign_total` rows a user counts anew after this long without a matching event.
    public var uniqueRetention: Int64 = 90 * 86_400

    /// The defaults of `spec/reports.md`.
    public init() {}
}
