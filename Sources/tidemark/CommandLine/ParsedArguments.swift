import TidemarkConfiguration

/// The arguments of one command, split into options and the rest.
struct ParsedArguments: Sendable {
    /// What is no option, in order; everything after `--`.
    private(set) var positionals: [String] = []
    /// Where the command writes.
    let console: Console
    private var given: [String: [String]] = [:]
    private let spec: CommandSpec

    /// Parses the words after the command's name.
    ///
    /// - Throws: `UsageError` for unknown options, missing or unexpected values, repetition and too many or few arguments.
    init(_ words: [String], spec: CommandSpec, console: Console = .standard) throws(UsageError) {
        self.spec = spec
        self.console = console
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positionals += rest
                break
            } else if word.hasPrefix("--") {
                try readLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try readShort(word, &rest)
            } else {
                positionals.append(word)
            }
        }
        if !has("help") { try checkPositionals() }
    }

    private var options: [OptionSpec] { spec.options + [.help] }

    private mutating func readLong(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = options.first(where: { $0.name == name }) else {
            let nearest = nearestName(to: name, among: options.map(\.name)) ?? ""
            throw UsageError("unknown option `--\(name)`; did you mean `--\(nearest)`?")
        }
        try take(option, attached: parts.count == 2 ? String(parts[1]) : nil, written: "--\(name)", &rest)
    }

    private mutating func readShort(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let letter = word[word.index(after: word.startIndex)]
        guard let option = options.first(where: { $0.short == letter }) else {
            let letters = options.compactMap { $0.short.map { "`-\($0)`" } }.joined(separator: ", ")
            throw UsageError("unknown option `-\(letter)`; the short ones are \(letters)")
        }
        let attached = word.dropFirst(2)
        try take(option, attached: attached.isEmpty ? nil : String(attached), written: "-\(letter)", &rest)
    }

    private mutating func take(
        _ option: OptionSpec, attached: String?, written: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        if given[option.name] != nil, !option.isRepeatable { throw UsageError("`\(written)` is given twice") }
        guard let placeholder = option.value else {
            guard attached == nil else { throw UsageError("`\(written)` takes no value") }
            given[option.name, default: []].append("")
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw UsageError("`\(written)` needs a value: \(written) \(placeholder)")
        }
        given[option.name, default: []].append(value)
    }

    private func checkPositionals() throws(UsageError) {
        if positionals.count > spec.positionals.upperBound {
            throw UsageError("unexpected argument `\(positionals[spec.positionals.upperBound])`")
        }
        if positionals.count < spec.positionals.lowerBound {
            throw UsageError("an argument is missing: tidemark \(spec.title) \(spec.usage)")
        }
    }

    /// Whether an option was given.
    func has(_ name: String) -> Bool { given[checked(name)] != nil }

    /// The value of an option; the last one if it repeats, `nil` if it was not given.
    func value(_ name: String) -> String? { given[checked(name)]?.last }

    /// All values of an option, in order.
    func values(_ name: String) -> [String] { given[checked(name)] ?? [] }

    /// The value of an option as a whole number within `range`.
    func integer(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws(UsageError) -> Int {
        guard let text = value(name) else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("`--\(name)` takes a whole number \(Self.limits(range)), not `\(text)`")
        }
        return number
    }

    /// The value of an option as one of the cases of an enum.
    func choice<Choice: CaseIterable & RawRepresentable>(
        _ name: String, default fallback: Choice
    ) throws(UsageError) -> Choice where Choice.RawValue == String {
        guard let text = value(name) else { return fallback }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw UsageError("`--\(name)` takes one of \(words), not `\(text)`")
        }
        return choice
    }

    private static func limits(_ range: ClosedRange<Int>) -> String {
        range.upperBound == .max ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
    }

    /// Asking for an option that the command does not declare is a mistake in the program.
    private func checked(_ name: String) -> String {
        precondition(options.contains { $0.name == name }, "`\(spec.title)` declares no option `\(name)`")
        return name
    }
}
