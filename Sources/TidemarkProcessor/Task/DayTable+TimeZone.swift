import Foundation
public import TidemarkReports

extension DayTable {
    /// The table of an IANA time zone, from Foundation's time zone data, for all times that an event can have (1970 to 2038).
    ///
    /// - Returns: `nil` where the zone is unknown.
    public static func named(_ identifier: String) -> DayTable? {
        if identifier == "UTC" { return .utc }
        guard let zone = TimeZone(identifier: identifier) else { return nil }
        let end = Date(timeIntervalSince1970: Double(Int32.max))
        var now = Date(timeIntervalSince1970: -86_400)
        let firstOffset = zone.secondsFromGMT(for: now)
        var offset = firstOffset
        var transitions: [Transition] = []
        // Week by week, each change then found to the second: transitions that are not daylight saving count as well.
        while now < end {
            let next = min(now.addingTimeInterval(7 * 86_400), end)
            if zone.secondsFromGMT(for: next) != offset {
                let at = change(of: zone, from: now, to: next)
                offset = zone.secondsFromGMT(for: at)
                transitions.append(Transition(time: Int64(at.timeIntervalSince1970), offset: Int32(offset)))
                now = at
            } else {
                now = next
            }
        }
        return DayTable(firstOffset: Int32(firstOffset), transitions: transitions)
    }

    /// The first second in a period that begins with another offset than the period.
    private static func change(of zone: TimeZone, from start: Date, to end: Date) -> Date {
        let offset = zone.secondsFromGMT(for: start)
        var low = Int64(start.timeIntervalSince1970)
        var high = Int64(end.timeIntervalSince1970)
        while high - low > 1 {
            let middle = (low + high) / 2
            if zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(middle))) == offset {
                low = middle
            } else {
                high = middle
            }
        }
        return Date(timeIntervalSince1970: Double(high))
    }
}
