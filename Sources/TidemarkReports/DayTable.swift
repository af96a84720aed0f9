/// Calendar days of one time zone, from a table of its offsets: no calendar call per event (`spec/reports.md` section 1, "day").
public struct DayTable: Equatable, Sendable {
    /// A point in time from which an offset holds.
    public struct Transition: Equatable, Sendable {
        /// Seconds since the epoch, UTC.
        public var time: Int64
        /// Seconds to add to UTC from then on.
        public var offset: Int32

        /// A transition.
        public init(time: Int64, offset: Int32) {
            self.time = time
            self.offset = offset
        }
    }

    /// The offset before the first transition.
    public let firstOffset: Int32
    /// The transitions, in order of time.
    public let transitions: [Transition]

    /// Days in UTC.
    public static let utc = DayTable(firstOffset: 0, transitions: [])

    /// A table of a zone's offsets; `transitions` must be in order of time.
    public init(firstOffset: Int32, transitions: [Transition]) {
        self.firstOffset = firstOffset
        self.transitions = transitions
    }

    /// The local day of an event time, in days since 1970-01-01.
    public func day(of time: UInt32) -> Int32 {
        let local = Int64(time) + Int64(offset(at: Int64(time)))
        return Int32(local >= 0 ? local / 86_400 : (local - 86_399) / 86_400)
    }

    private func offset(at time: Int64) -> Int32 {
        if transitions.isEmpty || time < transitions[0].time { return firstOffset }
        var low = 0
        var high = transitions.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if transitions[middle].time <= time { low = middle } else { high = middle }
        }
        return transitions[low].offset
    }

    /// A day as year, month and day of the month.
    public static func civil(_ day: Int32) -> (year: Int, month: Int, day: Int) {
        // In eras of 400 years that begin in March, so that the leap day comes last.
        let shifted = Int(day) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
    }
}
