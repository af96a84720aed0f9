import TidemarkConfiguration

/// The commands of the program; finds, parses and runs the one that was typed.
struct CommandTable: Sendable {
    let commands: [any Command.Type]

    init(_ commands: [any Command.Type]) { self.commands = commands }

    /// Runs a command line without the program's own name.
    ///
    /// - Returns: the exit code.
    func run(_ words: [String], console: Console = .standard) -> Int32 {
        do {
            return try dispatch(words, console)
        } catch let error as UsageError {
            console.note("tidemark: \(error.message)")
            console.note("Run `\(helpCall(words))` for help.")
            return ExitCode.wrongUsage
        } catch {
            for line in "\(error)".split(separator: "\n") { console.note("tidemark: \(line)") }
            return ExitCode.failed
        }
    }

    private func dispatch(_ words: [String], _ console: Console) throws -> Int32 {
        guard let first = words.first else {
            console.note(HelpText.overview(specs, group: nil))
            return ExitCode.wrongUsage
        }
        if ["help", "-h", "--help"].contains(first) { return try showHelp(Array(words.dropFirst()), console) }
        if ["-V", "--version"].contains(first) { return try dispatch(["version"], console) }
        if let command = command(at: words) {
            let rest = Array(words.dropFirst(command.spec.name.count))
            let arguments = try ParsedArguments(rest, spec: command.spec, console: console)
            guard !arguments.has("help") else { return try showHelp(command.spec.name, console) }
            return try command.init(arguments: arguments).run()
        }
        if isGroup(first), words.count > 1, ["-h", "--help"].contains(words[1]) {
            return try showHelp([first], console)
        }
        throw unknown(words)
    }

    private func showHelp(_ words: [String], _ console: Console) throws -> Int32 {
        if words.isEmpty {
            console.output(HelpText.overview(specs, group: nil))
        } else if let command = command(at: words) {
            console.output(HelpText.command(command.spec))
        } else if words.count == 1, isGroup(words[0]) {
            console.output(HelpText.overview(members(words[0]), group: words[0]))
        } else if ["-h", "--help"].contains(words[0]) {
            return try showHelp([], console)
        } else {
            throw unknown(words)
        }
        return ExitCode.done
    }

    private var specs: [CommandSpec] { commands.map { $0.spec } }

    private func command(at words: [String]) -> (any Command.Type)? {
        commands.first { words.starts(with: $0.spec.name) }
    }

    private func isGroup(_ word: String) -> Bool { !members(word).isEmpty }

    private func members(_ group: String) -> [CommandSpec] {
        specs.filter { $0.name.count > 1 && $0.name[0] == group }
    }

    /// What is wrong with words that no command answers to.
    private func unknown(_ words: [String]) -> UsageError {
        let first = words[0]
        let group = members(first)
        guard !group.isEmpty else {
            let hint = first.hasPrefix("-") ? nil : nearestName(to: first, among: specs.map { $0.name[0] } + ["help"])
            let kind = first.hasPrefix("-") ? "option" : "command"
            return UsageError("unknown \(kind) `\(first)`" + (hint.map { "; did you mean `\($0)`?" } ?? ""))
        }
        let names = group.map { "`\($0.name[1])`" }.joined(separator: ", ")
        guard words.count > 1 else { return UsageError("`\(first)` needs a command: \(names)") }
        let nearest = nearestName(to: words[1], among: group.map { $0.name[1] }) ?? ""
        return UsageError("unknown command `\(first) \(words[1])`; did you mean `\(first) \(nearest)`?")
    }

    /// The help that fits what was typed best.
    private func helpCall(_ words: [String]) -> String {
        if let command = command(at: words) { return "tidemark \(command.spec.title) --help" }
        if let first = words.first, isGroup(first) { return "tidemark \(first) --help" }
        return "tidemark --help"
    }
}
