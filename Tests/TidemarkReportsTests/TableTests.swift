import Testing
import TidemarkAttribution
import TidemarkReports

@Suite("Report tables")
struct TableTests {
    @Test("Campaign totals: thousands separators, rates of deliveries, a total line, greatest first")
    func campaignTotals() {
        let sample = SampleReport()
        sample.name("c-1", "Welcome")
        sample.add("c-1", ["sends": 1_234_567, "bounces": 4_567, "direct_opens": 12_300, "influenced_opens": 61_500])
        sample.add("c-2", ["sends": 10, "bounces": 10])
        #expect(
            sample.text() == """
                Push

                                                          ------- Opens --------  ---- Open rate -----
                Campaign      Sends  Deliveries  Bounces  Direct   Infl.   Total  Direct  Infl.  Total
                Welcome   1,234,567   1,230,000    4,567  12,300  61,500  73,800    1.0%   5.0%   6.0%
                c-2              10           0       10       0       0       0
                --------------------------------------------------------------------------------------
                Total     1,234,577   1,230,000    4,577  12,300  61,500  73,800    1.0%   5.0%   6.0%

                """)
    }

    @Test("Sums of day rows take rates by the day of the send, and show no distinct users")
    func days() {
        let sample = SampleReport()
        let counts: [String: Int64] = [
            "sends": 100, "bounces": 9, "direct_opens": 3, "bounces_by_send_time": 20, "direct_opens_by_send_time": 8,
            "unique_recipients": 77,
        ]
        sample.add("c-1", day: "2026-11-30", counts)
        sample.add("c-2", day: "2026-11-30", counts)
        sample.add("c-2", day: "2026-11-29", ["sends": 1])
        sample.add("c-2", channel: .featureFlag, day: "2026-11-29", ["impressions": 4, "unique_impressions": 2])
        #expect(
            sample.text(by: .day) == """
                Push

                                                        ------ Opens -------  ---- Open rate -----
                Day         Sends  Deliveries  Bounces  Direct  Infl.  Total  Direct  Infl.  Total
                2026-11-29      1           1        0       0      0      0    0.0%   0.0%   0.0%
                2026-11-30    200         182       18       6      0      6   10.0%   0.0%  10.0%
                ----------------------------------------------------------------------------------
                Total         201         183       18       6      0      6    9.9%   0.0%   9.9%

                Feature flags

                Day         Impressions
                2026-11-29            4

                """)
    }

    @Test("Messages add up over days and platforms")
    func messages() {
        let sample = SampleReport()
        sample.name("c-1", "Welcome")
        sample.add("c-1", variation: "v-1", day: "2026-11-29", ["sends": 2])
        sample.add("c-1", variation: "v-1", platform: "android", day: "2026-11-30", ["sends": 3])
        sample.add("c-1", variation: "v-2", day: "2026-11-30", ["sends": 4])
        let lines = sample.text(by: .message).split(separator: "\n")
        #expect(lines.count == 7)
        #expect(lines[3].hasPrefix("Welcome / v-1      5 "))
        #expect(lines[4].hasPrefix("Welcome / v-2      4 "))
    }

    @Test("Conversion rates refer to those whom the campaign reached in each channel")
    func conversions() {
        let sample = SampleReport()
        sample.add(
            "c-1", channel: .campaign, ["conversions": 9, "conversions2": 1, "unique_conversions": 8, "enrolled": 5])
        sample.add("c-1", channel: .push, ["sends": 60, "unique_recipients": 40])
        sample.add("c-1", channel: .inAppMessage, ["impressions": 50, "unique_impressions": 32])
        let table = sample.text { $0.channel = .campaign }
        #expect(
            table == """
                Conversions and entries

                          Conversions         - Conversion rate -
                Campaign  A  B  C   D  Users   Push  In-app  Card  Entries  Control
                c-1       9  0  1   0      8  20.0%   25.0%              0        5

                """)
    }

    @Test("Long and wide names are cut in the middle, and every line fits", arguments: [60, 80, 100, 120])
    func widths(width: Int) {
        let sample = SampleReport()
        let names = [
            "Spring sale for members of the loyalty programme in Northern Europe – reminder "
                + "to those who did not open the one before",
            "春の大セール会員限定のお知らせ第二弾春の大セール会員限定",
            "👩‍👩‍👧 family 👍🏽 offer with a very long name indeed, as people write them at times", "short",
        ]
        for (number, name) in names.enumerated() {
            sample.name("c-\(number)", name)
            sample.add("c-\(number)", ["sends": 98_765_432, "direct_opens": 1_234_567, "influenced_opens": 3_456_789])
        }
        let table = sample.text(width: width)
        let limit = max(width, 92)
        for line in table.split(separator: "\n") { #expect(columns(String(line)) <= limit, "\(line)") }
        #expect(table.contains("short"))
        #expect(table.contains("98,765,432"))
        #expect(table.contains("…"))
        // Numbers stand below one another in spite of wide names.
        let ends = table.split(separator: "\n").filter { $0.contains("98,765,432  ") }.map {
            columns(String($0))
        }
        #expect(Set(ends).count == 1)
    }

    /// Columns as a terminal counts them, for the characters of these tests.
    private func columns(_ text: String) -> Int {
        text.reduce(0) { sum, character in
            let value = character.unicodeScalars.first?.value ?? 0
            return sum + (value >= 0x3000 ? 2 : 1)
        }
    }

    @Test("Control characters of names do not reach the terminal")
    func controlCharacters() {
        let sample = SampleReport()
        sample.name("c-1", "a\u{1B}[31mb\nc\u{202E}d")
        sample.add("c-1", ["sends": 1])
        let table = sample.text()
        #expect(table.contains("a [31mb cd "))
        #expect(!table.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
    }

    @Test("Campaigns of one name are told apart; rows without a campaign have a line")
    func labels() {
        let sample = SampleReport()
        for campaign in ["0f3a9c77-aaaa", "8b21d0e4-bbbb"] {
            sample.name(campaign, "Twin")
            sample.add(campaign, ["sends": 5])
        }
        sample.add(nil, ["sends": 1])
        let table = sample.text()
        #expect(table.contains("Twin #0f3a9c77  "))
        #expect(table.contains("Twin #8b21d0e4  "))
        #expect(table.contains("(no campaign)  "))
    }

    @Test("A report without rows says so")
    func empty() {
        #expect(SampleReport().text() == "No rows.\n")
    }
}
