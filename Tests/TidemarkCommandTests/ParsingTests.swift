import Testing

@testable import tidemark

@Suite("Parsing of arguments")
struct ParsingTests {
    enum Shade: String, CaseIterable { case light, dark }

    private static let spec = CommandSpec(
        "paint", summary: "Paint.", usage: "WALL [options]",
        options: [
            .value("color", short: "c", "NAME", "Color."), .value("layer", "NAME", repeats: true, "Layer."),
            .flag("wet", short: "w", "Wet."),
        ], positionals: 1...2, example: "tidemark paint north")

    private func parse(_ line: String) throws(UsageError) -> ParsedArguments {
        try ParsedArguments(line.split(separator: " ").map(String.init), spec: Self.spec)
    }

    @Test(arguments: ["--color red north", "--color=red north", "-c red north", "-cred north", "north --color red"])
    func formsOfAnOption(line: String) throws {
        let arguments = try parse(line)
        #expect(arguments.value("color") == "red")
        #expect(arguments.positionals == ["north"])
        #expect(!arguments.has("wet"))
    }

    @Test func repeatedOptionsKeepTheirOrder() throws {
        let arguments = try parse("--layer a north --layer=b=c -w --layer=")
        #expect(arguments.values("layer") == ["a", "b=c", ""])
        #expect(arguments.value("layer") == "")
        #expect(arguments.has("wet"))
        #expect(arguments.values("color").isEmpty)
    }

    @Test func afterTwoDashesNothingIsAnOption() throws {
        #expect(try parse("-- --wet -x").positionals == ["--wet", "-x"])
        #expect(try parse("-").positionals == ["-"])
        #expect(try parse("north --color -- south").value("color") == "--")
    }

    @Test(arguments: [
        ("north --colour red", "unknown option `--colour`; did you mean `--color`?"),
        ("north -x", "unknown option `-x`; the short ones are `-c`, `-w`, `-h`"),
        ("north --color", "`--color` needs a value: --color NAME"),
        ("north -c", "`-c` needs a value: -c NAME"),
        ("north --wet=1", "`--wet` takes no value"),
        ("north -c red --color blue", "`--color` is given twice"),
        ("north -w -w", "`-w` is given twice"),
        ("", "an argument is missing: tidemark paint WALL [options]"),
        ("a b c", "unexpected argument `c`"),
    ])
    func wrongUsage(line: String, message: String) {
        #expect(throws: UsageError(message)) { try parse(line) }
    }

    @Test func helpNeedsNothingElse() throws {
        #expect(try parse("--help").has("help"))
        #expect(try parse("-h").has("help"))
    }

    @Test func typedValues() throws {
        #expect(try parse("n -c 7").integer("color", in: 1...9, default: 3) == 7)
        #expect(try parse("n").integer("color", in: 1...9, default: 3) == 3)
        #expect(try parse("n -c dark").choice("color", default: Shade.light) == .dark)
        #expect(try parse("n").choice("color", default: Shade.light) == .light)
        #expect(throws: UsageError("`--color` takes a whole number from 1 to 9, not `10`")) {
            try parse("n -c 10").integer("color", in: 1...9, default: 3)
        }
        #expect(throws: UsageError("`--color` takes a whole number of at least 0, not `x`")) {
            try parse("n -c x").integer("color", in: 0...Int.max, default: 3)
        }
        #expect(throws: UsageError("`--color` takes one of `light`, `dark`, not `red`")) {
            try parse("n -c red").choice("color", default: Shade.light)
        }
    }
}
