import Testing

@testable import TidemarkConfiguration

@Suite("Durations, sizes and near names")
struct QuantityTests {
    @Test(
        arguments: [
            ("500ms", 500), ("0s", 0), ("30s", 30_000), ("30m", 1_800_000), ("24h", 86_400_000), ("7d", 604_800_000),
            ("90 s", 90_000), ("36500d", 3_153_600_000_000),
        ] as [(String, Int64)])
    func durations(text: String, milliseconds: Int64) throws {
        #expect(try DurationText.parse(text) == milliseconds)
        #expect(try DurationText.parse(DurationText.print(milliseconds)) == milliseconds)
    }

    @Test(arguments: [
        ("30", "`30` has no unit"), ("", "`` does not start with a whole number"),
        ("s", "`s` does not start with a whole number"), ("-1s", "`-1s` does not start with a whole number"),
        ("1.5h", "`1.5h` is not a whole number with a unit"), ("1w", "`1w` has the unknown unit `w`"),
        ("1h30m", "`1h30m` has the unknown unit `h30m`"), ("36501d", "`36501d` is longer than 36500d"),
        ("9223372036854775807d", "`9223372036854775807d` is longer than 36500d"),
        ("99999999999999999999s", "`99999999999999999999s` is too large"),
    ])
    func wrongDurations(text: String, what: String) {
        let problem = #expect(throws: ValueProblem.self) { try DurationText.parse(text) }
        #expect(problem?.what == what)
    }

    @Test(
        arguments: [
            (0, "0s"), (1, "1ms"), (1_500, "1500ms"), (60_000, "1m"), (90_000, "90s"), (5_400_000, "90m"),
            (172_800_000, "2d"),
        ] as [(Int64, String)])
    func printedDurations(milliseconds: Int64, text: String) {
        #expect(DurationText.print(milliseconds) == text)
    }

    @Test(arguments: [
        ("0B", 0), ("512B", 512), ("1KB", 1_000), ("64KiB", 65_536), ("4MiB", 4_194_304), ("1GB", 1_000_000_000),
        ("2 GiB", 2_147_483_648), ("1tb", 1_000_000_000_000), ("3TiB", 3_298_534_883_328), ("7MB", 7_000_000),
    ])
    func sizes(text: String, bytes: Int) throws {
        #expect(try SizeText.parse(text) == bytes)
        #expect(try SizeText.parse(SizeText.print(bytes)) == bytes)
    }

    @Test(arguments: [
        ("4096", "`4096` has no unit"), ("4M", "`4M` has the unknown unit `M`"),
        ("9999999999TiB", "`9999999999TiB` is too large"), ("big", "`big` does not start with a whole number"),
    ])
    func wrongSizes(text: String, what: String) {
        let problem = #expect(throws: ValueProblem.self) { try SizeText.parse(text) }
        #expect(problem?.what == what)
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "ab", 2), ("fixd", "fixed", 1), ("wokrers", "workers", 1),
        ("kitten", "sitting", 3), ("abc", "abc", 0),
    ])
    func typingDistances(first: String, second: String, distance: Int) {
        #expect(typingDistance(first, second) == distance)
        #expect(typingDistance(second, first) == distance)
    }

    @Test func nearestOfNothingIsNothing() {
        #expect(nearestName(to: "x", among: [String]()) == nil)
        #expect(nearestName(to: "shwo", among: ["check", "show"]) == "show")
    }
}
