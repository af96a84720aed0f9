/// An option of a command.
struct OptionSpec: Sendable {
    /// Long name without dashes.
    let name: String
    /// One-letter form.
    let short: Character?
    /// What stands for the value in help, for example `FILE`; `nil` for a flag.
    let value: String?
    /// Whether the option may be given several times.
    let isRepeatable: Bool
    /// What it does, for help.
    let summary: String

    /// An option with a value.
    static func value(
        _ name: String, short: Character? = nil, _ value: String, repeats: Bool = false, _ summary: String
    ) -> OptionSpec {
        OptionSpec(name: name, short: short, value: value, isRepeatable: repeats, summary: summary)
    }

    /// An option that is there or not.
    static func flag(_ name: String, short: Character? = nil, _ summary: String) -> OptionSpec {
        OptionSpec(name: name, short: short, value: nil, isRepeatable: false, summary: summary)
    }

    /// The option that every command has.
    static let help = OptionSpec.flag("help", short: "h", "Show this help.")
}

/// What a command is called, takes and does: all that parsing and help need.
struct CommandSpec: Sendable {
    /// Words that call the command, `["config", "check"]` for a command of a group.
    let name: [String]
    /// One line for lists of commands.
    let summary: String
    /// What follows the name, for example `FILE... [options]`.
    let usage: String
    /// Longer description; paragraphs are separated by empty lines.
    let details: String
    /// The options beside `--help`.
    let options: [OptionSpec]
    /// How many arguments that are no options it takes.
    let positionals: ClosedRange<Int>
    /// One or more lines to copy, shown as they are.
    let example: String

    init(
        _ name: String, summary: String, usage: String = "[options]", details: String = "", options: [OptionSpec] = [],
        positionals: ClosedRange<Int> = 0...0, example: String
    ) {
        self.name = name.split(separator: " ").map(String.init)
        self.summary = summary
        self.usage = usage
        self.details = details
        self.options = options
        self.positionals = positionals
        self.example = example
    }

    /// The words of the name with spaces between.
    var title: String { name.joined(separator: " ") }
}

/// One command of the program.
protocol Command: SendableMetatype {
    /// Name, options and help.
    static var spec: CommandSpec { get }

    /// Takes what was typed; throws `UsageError` for what the parser cannot see is wrong.
    init(arguments: ParsedArguments) throws

    /// Does the work and returns the exit code. Results go to `console.output`, all else to `console.note`.
    func run() throws -> Int32
}

/// The exit codes of the program.
enum ExitCode {
    static let done: Int32 = 0
    static let failed: Int32 = 1
    static let wrongUsage: Int32 = 2
}

/// The command line cannot be understood; the program ends with `ExitCode.wrongUsage` and points to `--help`.
struct UsageError: Error, Equatable {
    let message: String

    init(_ message: String) { self.message = message }
}

/// The work could not be done; the message is all that the user gets to see, after `tidemark: `.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
