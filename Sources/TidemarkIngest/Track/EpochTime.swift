/// Reads times as people and programs write them, ISO 8601 for the most part.
enum EpochTime {
    /// Seconds since the epoch, of a time such as `2026-01-05T10:00:00Z`, `2026-01-05 10:00:00.250+01:00` or
    /// `2026-01-05T10:00:00:250+0100`; fractions are cut off, and a time without a zone is UTC. `nil` for anything else.
    static func seconds(_ text: [UInt8]) -> Int64? {
        var rest = text[...]
        guard let year = number(&rest, 4), take(&rest, "-"), let month = number(&rest, 2), take(&rest, "-"),
            let day = number(&rest, 2), take(&rest, "T") || take(&rest, "t") || take(&rest, " "),
            let hour = number(&rest, 2), take(&rest, ":"), let minute = number(&rest, 2), take(&rest, ":"),
            let second = number(&rest, 2)
        else { return nil }
        if take(&rest, ".") || take(&rest, ",") || take(&rest, ":") {
            let digits = rest.prefix { isDigit($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
        }
        guard let offset = zone(&rest), rest.isEmpty, (1...12).contains(month), day >= 1, day <= days(month, year),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        return dayNumber(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, _ byte: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: byte) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// What the zone is ahead of UTC, seconds.
    private static func zone(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        if rest.isEmpty || take(&rest, "Z") || take(&rest, "z") { return 0 }
        let isBehind = rest.first == UInt8(ascii: "-")
        guard take(&rest, "+") || take(&rest, "-"), let hours = number(&rest, 2), hours < 24 else { return nil }
        var minutes: Int64 = 0
        if !rest.isEmpty {
            _ = take(&rest, ":")
            guard let found = number(&rest, 2), found < 60 else { return nil }
            minutes = found
        }
        return (isBehind ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }

    private static func days(_ month: Int64, _ year: Int64) -> Int64 {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days since 1970-01-01, in a calendar whose years begin in March.
    private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let monthOfYear = (month + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + (monthOfYear * 306 + 5) / 10 + day - 1 - 719_468
    }
}
