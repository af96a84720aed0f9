public import TidemarkEvents

extension DayTable {
    /// The number of a day written as `YYYY-MM-DD`, in days since 1970-01-01; `nil` for anything else, and for days that no
    /// calendar has.
    public static func day(iso text: some StringProtocol) -> Int32? {
        var text = String(text)
        return text.withUTF8 { day(iso: ByteView(UnsafeRawBufferPointer($0))) }
    }

    /// As above, of a text in bytes.
    public static func day(iso text: ByteView) -> Int32? {
        guard text.count == 10, let start = text.start, start[4] == UInt8(ascii: "-"), start[7] == UInt8(ascii: "-"),
            let year = digits(start, 4), let month = digits(start + 5, 2), let day = digits(start + 8, 2),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let number = number(year: year, month: month, day: day)
        // A day such as February 30 comes back as another one.
        return civil(number) == (year, month, day) ? number : nil
    }

    /// Days since 1970-01-01, the opposite of `civil`.
    private static func number(year: Int, month: Int, day: Int) -> Int32 {
        // Years begin in March here, so that the leap day comes last.
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int32(era * 146_097 + dayOfEra - 719_468)
    }

    private static func digits(_ text: UnsafePointer<UInt8>, _ count: Int) -> Int? {
        var value = 0
        for byte in UnsafeBufferPointer(start: text, count: count) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
