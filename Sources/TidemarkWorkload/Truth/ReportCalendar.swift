internal import Foundation

/// The days of the report's time zone.
struct ReportCalendar: Sendable {
    private let zone: TimeZone

    /// - Returns: null if the zone is not known.
    init?(timeZone name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    /// The calendar day of a moment, in days since the epoch.
    func day(of time: Int) -> Int {
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
        return (time + offset).floorDivided(by: 86_400)
    }
}
