import Foundation

/// How values of one type are read and written.
struct ValueFormat<Value: Sendable>: Sendable {
    let kind: ValueKind
    /// What may be written, to follow "write ".
    let allowed: String
    let parse: @Sendable (RawValue) throws(ValueProblem) -> Value
    let print: @Sendable (Value) -> RawValue

    /// The same values, and a word that stands for "no value".
    func or(_ word: String) -> ValueFormat<Value?> {
        ValueFormat<Value?>(
            kind: kind, allowed: "\(allowed), or `\(word)`",
            parse: { raw throws(ValueProblem) in raw == .text(word) ? nil : try parse(raw) },
            print: { $0.map(print) ?? .text(word) })
    }

    /// A format whose values are written as one text.
    static func single(
        _ kind: ValueKind, allowed: String, parse: @escaping @Sendable (String) throws(ValueProblem) -> Value,
        print: @escaping @Sendable (Value) -> String
    ) -> ValueFormat {
        ValueFormat(
            kind: kind, allowed: allowed,
            parse: { raw throws(ValueProblem) in
                switch raw {
                case .text(let text): return try parse(text)
                case .list: throw ValueProblem("takes one value, not a list")
                case .empty: throw ValueProblem("has no value")
                }
            },
            print: { .text(print($0)) })
    }
}

extension ValueFormat where Value == Int64 {
    /// A duration in whole seconds.
    static func seconds(from lowest: Int64) -> ValueFormat {
        let limit = lowest == 0 ? "" : " of at least \(DurationText.print(lowest * 1000))"
        return .single(
            .duration, allowed: "a duration\(limit) in whole seconds, for example 30s, 45m, 24h or 7d",
            parse: { text throws(ValueProblem) in
                let milliseconds = try DurationText.parse(text)
                guard milliseconds % 1000 == 0 else { throw ValueProblem("`\(text)` has a fraction of a second") }
                guard milliseconds >= lowest * 1000 else { throw ValueProblem("`\(text)` is too short") }
                return milliseconds / 1000
            },
            print: { DurationText.print($0 * 1000) })
    }
}

extension ValueFormat where Value == Duration {
    /// A duration in whole milliseconds.
    static func duration(_ range: ClosedRange<Int64>) -> ValueFormat {
        let limits = "from \(DurationText.print(range.lowerBound)) to \(DurationText.print(range.upperBound))"
        return .single(
            .duration, allowed: "a duration \(limits), for example 500ms or 2s",
            parse: { text throws(ValueProblem) in
                let milliseconds = try DurationText.parse(text)
                guard range.contains(milliseconds) else { throw ValueProblem("`\(text)` is out of range") }
                return .milliseconds(milliseconds)
            },
            print: { duration in
                let (seconds, attoseconds) = duration.components
                return DurationText.print(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
            })
    }
}

extension ValueFormat where Value == Int {
    /// A size in bytes.
    static func size(_ range: ClosedRange<Int>) -> ValueFormat {
        let limits = "from \(SizeText.print(range.lowerBound)) to \(SizeText.print(range.upperBound))"
        return .single(
            .size, allowed: "a size \(limits), for example 64KiB, 4MiB or 1GB",
            parse: { text throws(ValueProblem) in
                let bytes = try SizeText.parse(text)
                guard range.contains(bytes) else { throw ValueProblem("`\(text)` is out of range") }
                return bytes
            },
            print: SizeText.print)
    }

    /// A whole number.
    static func integer(_ range: ClosedRange<Int>) -> ValueFormat {
        .single(
            .integer, allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            parse: { text throws(ValueProblem) in
                guard let number = Int(text) else { throw ValueProblem("`\(text)` is not a whole number") }
                guard range.contains(number) else { throw ValueProblem("`\(text)` is out of range") }
                return number
            },
            print: { String($0) })
    }
}

extension ValueFormat where Value == Double {
    /// A finite decimal number above zero.
    static let positiveNumber = ValueFormat.single(
        .number, allowed: "a number greater than 0, for example 0.5",
        parse: { text throws(ValueProblem) in
            let isDecimal = text.allSatisfy { "0123456789.+-eE".contains($0) }
            guard isDecimal, let number = Double(text), number.isFinite else {
                throw ValueProblem("`\(text)` is not a decimal number")
            }
            guard number > 0 else { throw ValueProblem("`\(text)` is too small") }
            return number
        },
        print: { "\($0)" })
}

extension ValueFormat where Value == Bool {
    /// `true` or `false`.
    static let flag = ValueFormat.single(
        .flag, allowed: "`true` or `false`",
        parse: { text throws(ValueProblem) in
            guard let value = Bool(text) else { throw ValueProblem("`\(text)` is neither") }
            return value
        },
        print: { "\($0)" })
}

extension ValueFormat where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of the cases of an enum, by raw value.
    static var choice: ValueFormat {
        let words = Value.allCases.map { "`\($0.rawValue)`" }
        let allowed = words.count == 1 ? words[0] : words.dropLast().joined(separator: ", ") + " or " + words.last!
        return .single(
            .choice, allowed: allowed,
            parse: { text throws(ValueProblem) in
                guard let value = Value(rawValue: text) else { throw ValueProblem("`\(text)` is not known") }
                return value
            },
            print: { $0.rawValue })
    }
}

extension ValueFormat where Value == String {
    /// Any text but an empty one.
    static let text = ValueFormat.single(
        .text, allowed: "a text",
        parse: { text throws(ValueProblem) in
            guard !text.isEmpty else { throw ValueProblem("is empty") }
            return text
        },
        print: { $0 })

    /// A name that can stand in a Kafka topic's name.
    static func kafkaName(atMost length: Int) -> ValueFormat {
        .single(
            .text, allowed: "1 to \(length) letters, digits, dots, underscores or hyphens",
            parse: { text throws(ValueProblem) in
                try checkKafkaName(text, atMost: length)
                return text
            },
            print: { $0 })
    }

    /// A zone that the system's time zone database knows.
    static let timeZone = ValueFormat.single(
        .text, allowed: "an IANA name such as UTC or Europe/Berlin",
        parse: { text throws(ValueProblem) in
            let known = TimeZone.knownTimeZoneIdentifiers + ["UTC"]
            // The system also takes offsets and names in other cases; those would make one zone appear under two names.
            if known.contains(text) { return text }
            let isAlias = text.contains("/") && !text.contains("..") && TimeZone(identifier: text)?.identifier == text
            guard isAlias else {
                let hint = nearestName(to: text, among: known).map { " (did you mean `\($0)`?)" } ?? ""
                throw ValueProblem("`\(text)` is not a known time zone\(hint)")
            }
            return text
        },
        print: { $0 })
}

extension ValueFormat where Value == [String] {
    /// Topic names, at least one, each once.
    static let topics = ValueFormat(
        kind: .list, allowed: "one or more different topic names, for example [currents.events]",
        parse: { raw throws(ValueProblem) in
            let topics = listItems(raw)
            guard !topics.isEmpty else { throw ValueProblem("names no topic") }
            for topic in topics { try checkKafkaName(topic, atMost: 249) }
            guard Set(topics).count == topics.count else { throw ValueProblem("names a topic twice") }
            return topics
        },
        print: { .list($0) })
}

extension ValueFormat where Value == [String] {
    /// Paths of files, none or more.
    static let files = ValueFormat(
        kind: .list, allowed: "a list of files, for example [schemas/send.avsc]; [] for none",
        parse: { raw throws(ValueProblem) in
            if raw == .empty { throw ValueProblem("has no value") }
            let files = listItems(raw)
            guard !files.contains("") else { throw ValueProblem("has an empty entry") }
            return files
        },
        print: { .list($0) })
}

extension ValueFormat where Value == Set<String> {
    /// Words without regard to case; kept in lower case.
    static let words = ValueFormat(
        kind: .list, allowed: "a list of words, for example [web, tvos]; [] for none",
        parse: { raw throws(ValueProblem) in
            if raw == .empty { throw ValueProblem("has no value") }
            let items = listItems(raw)
            guard !items.contains("") else { throw ValueProblem("has an empty entry") }
            return Set(items.map { $0.lowercased() })
        },
        print: { .list($0.sorted()) })
}

/// The items of a list: a YAML sequence, or a text with commas as in the environment and `--set`.
func listItems(_ raw: RawValue) -> [String] {
    switch raw {
    case .list(let items): items
    case .text(let text): commaSeparated(text.trimmingSpaces()[...])
    case .empty: []
    }
}

/// The items of `a, b` or, as in YAML, `[a, b]`.
private func commaSeparated(_ text: Substring) -> [String] {
    if text.hasPrefix("["), text.hasSuffix("]") { return commaSeparated(text.dropFirst().dropLast()) }
    if text.allSatisfy({ $0 == " " }) { return [] }
    return text.split(separator: ",", omittingEmptySubsequences: false).map { String($0).trimmingSpaces() }
}

extension String {
    /// Without the spaces at both ends.
    func trimmingSpaces() -> String {
        var rest = self[...]
        while rest.first == " " { rest = rest.dropFirst() }
        while rest.last == " " { rest = rest.dropLast() }
        return String(rest)
    }
}

/// Refuses what Kafka does not take as a topic's name.
func checkKafkaName(_ name: String, atMost length: Int) throws(ValueProblem) {
    guard !name.isEmpty else { throw ValueProblem("is empty") }
    let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    guard isPlain, name != ".", name != ".." else { throw ValueProblem("`\(name)` is not a name that Kafka takes") }
    guard name.count <= length else { throw ValueProblem("is longer than \(length) characters") }
}
