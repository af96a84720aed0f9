import Testing
import TidemarkKafka

@testable import tidemark

@Suite("Commands, help and exit codes")
struct DispatchTests {
    private struct FailingCommand: Command {
        static let spec = CommandSpec("fail", summary: "Fail.", example: "tidemark fail")
        init(arguments: ParsedArguments) {}
        func run() throws -> Int32 { throw CommandFailure("the sea is gone\nand the moon") }
    }

    @Test func everyCommandHelpsWithAnExampleInHundredColumns() {
        for command in CommandTable.tidemark.commands {
            let spec = command.spec
            let outcome = run(words: spec.name + ["--help"])
            #expect(outcome.code == ExitCode.done)
            #expect(outcome.notes.isEmpty)
            #expect(outcome.output.contains("\nUsage: tidemark \(spec.title)"))
            #expect(outcome.output.contains("\nExample:\n  tidemark \(spec.title)"), "\(spec.title)")
            #expect(outcome == run(words: ["help"] + spec.name))
            let longest = outcome.output.split(separator: "\n").map(\.count).max() ?? 0
            #expect(longest <= 100, "\(spec.title)")
            for option in spec.options { #expect(outcome.output.contains("--\(option.name)"), "\(spec.title)") }
        }
    }

    @Test func namesOfCommandsAndOptionsAreUnique() {
        let titles = CommandTable.tidemark.commands.map { $0.spec.title }
        #expect(Set(titles).count == titles.count)
        for command in CommandTable.tidemark.commands {
            let options = command.spec.options + [.help]
            #expect(Set(options.map(\.name)).count == options.count, "\(command.spec.title)")
            let letters = options.compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(command.spec.title)")
        }
    }

    @Test(arguments: ["--help", "-h", "help"])
    func overviewNamesEveryCommand(line: String) {
        let outcome = run(line)
        #expect(outcome.code == ExitCode.done)
        for command in CommandTable.tidemark.commands {
            #expect(outcome.output.contains("\n  \(command.spec.title) "))
        }
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test(arguments: ["config --help", "config -h", "help config"])
    func groupsHelp(line: String) {
        let outcome = run(line)
        #expect(outcome.code == ExitCode.done)
        #expect(outcome.output.hasPrefix("Usage: tidemark config COMMAND"))
        #expect(outcome.output.contains("\n  config check "))
        #expect(!outcome.output.contains("\n  version"))
    }

    @Test(arguments: [
        ("verison", "unknown command `verison`; did you mean `version`?", "tidemark --help"),
        ("--verbose", "unknown option `--verbose`", "tidemark --help"),
        ("config", "`config` needs a command: `check`, `show`", "tidemark config --help"),
        ("config shwo", "unknown command `config shwo`; did you mean `config show`?", "tidemark config --help"),
        ("help confg", "unknown command `confg`; did you mean `config`?", "tidemark --help"),
        (
            "config check --confg f", "unknown option `--confg`; did you mean `--config`?",
            "tidemark config check --help"
        ),
        ("version now", "unexpected argument `now`", "tidemark version --help"),
    ])
    func wrongUsage(line: String, message: String, help: String) {
        let expected = Outcome(
            code: ExitCode.wrongUsage, output: "", notes: ["tidemark: \(message)", "Run `\(help)` for help."])
        #expect(run(line) == expected)
    }

    @Test func nothingTypedShowsTheOverviewAsAnError() {
        let outcome = run("")
        #expect(outcome.code == ExitCode.wrongUsage)
        #expect(outcome.output.isEmpty)
        #expect(outcome.notes.first?.contains("Usage: tidemark COMMAND") == true)
    }

    @Test(arguments: ["version", "--version", "-V"])
    func version(line: String) {
        let expected = "tidemark \(VersionCommand.version), librdkafka \(KafkaLibrary.version)\n"
        #expect(run(line) == Outcome(code: 0, output: expected, notes: []))
    }

    @Test func failuresAreToldLineByLine() {
        let outcome = run("fail", table: CommandTable([FailingCommand.self]))
        let notes = ["tidemark: the sea is gone", "tidemark: and the moon"]
        #expect(outcome == Outcome(code: ExitCode.failed, output: "", notes: notes))
    }

    @Test func wrappingBreaksBetweenWordsOnly() {
        #expect(HelpText.wrap("", indent: 4) == "")
        #expect(HelpText.wrap("a  b\nc", indent: 2) == "  a b c\n")
        let long = String(repeating: "x", count: 120)
        #expect(HelpText.wrap("a \(long) b", indent: 2) == "  a\n  \(long)\n  b\n")
        let lines = HelpText.wrap(String(repeating: "word ", count: 60), indent: 8).split(separator: "\n")
        #expect(lines.count > 1)
        #expect(lines.allSatisfy { $0.count <= 100 && $0.hasPrefix("        word") })
    }
}
