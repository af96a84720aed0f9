import Testing
import TidemarkAttribution

@Suite("Calendar months in UTC")
struct UTCMonthTests {
    @Test(
        "the second before midnight and midnight itself",
        arguments: [
            (0, 1970, 1), (2_678_399, 1970, 1), (2_678_400, 1970, 2), (951_782_399, 2000, 2), (951_868_800, 2000, 3),
            (1_709_251_199, 2024, 2), (1_709_251_200, 2024, 3), (1_798_761_599, 2026, 12), (1_798_761_600, 2027, 1),
            (2_147_483_647, 2038, 1),
        ])
    func months(_ time: Int, _ year: Int, _ month: Int) {
        #expect(UTCMonth.of(UInt32(time)) == Int32(year * 12 + month - 1))
    }

    @Test("a month never comes before the one of the day before, and each year has twelve")
    func order() {
        var last = UTCMonth.of(0)
        for day in 1..<24_855 {
            let month = UTCMonth.of(UInt32(day * 86_400))
            #expect(month == last || month == last + 1, "day \(day)")
            last = month
        }
        #expect(last == 2038 * 12)
    }
}
