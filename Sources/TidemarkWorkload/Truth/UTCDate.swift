/// The calendar date of a day, in the proleptic Gregorian calendar.
struct UTCDate: Hashable, Sendable {
    let year: Int
    let month: Int
    let day: Int

    /// The date of the day that many days after 1970-01-01.
    ///
    /// Years are counted from March, so that the leap day is the last day of its year, in eras of 400 years.
    init(daysSinceEpoch days: Int) {
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// A number that grows by one from each calendar month to the next.
    static func month(of time: Int) -> Int {
        let date = UTCDate(daysSinceEpoch: time.floorDivided(by: 86_400))
        return date.year * 12 + date.month - 1
    }

    /// The date as in `2026-11-30`.
    var iso: String {
        "\(padded(year, to: 4))-\(padded(month, to: 2))-\(padded(day, to: 2))"
    }

    private func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int {
    /// Division that rounds towards negative infinity.
    func floorDivided(by divisor: Int) -> Int {
        let quotient = self / divisor
        return (self % divisor != 0 && (self < 0) != (divisor < 0)) ? quotient - 1 : quotient
    }
}
