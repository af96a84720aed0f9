/// Calendar months in UTC, as a count since year 0: `year * 12 + month - 1`.
public enum UTCMonth {
    /// The month of an event time, seconds since the epoch.
    public static func of(_ time: UInt32) -> Int32 {
        // Days to civil date, in eras of 400 years that begin in March (the leap day comes last).
        let days = Int64(time) / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return Int32(year * 12 + month - 1)
    }
}
