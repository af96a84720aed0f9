/// A value as written, before its key gives it a meaning.
enum RawValue: Equatable, Sendable {
    /// Plain text, from any layer.
    case text(String)
    /// A YAML sequence.
    case list([String])
    /// A YAML key with nothing after it.
    case empty

    /// For messages.
    var text: String {
        switch self {
        case .text(let text): text
        case .list(let items): items.joined(separator: ", ")
        case .empty: ""
        }
    }
}

/// What is wrong with one value; the key and its origin are added where they are known.
struct ValueProblem: Error {
    let what: String

    init(_ what: String) { self.what = what }
}

/// What kind of value a key takes.
public enum ValueKind: String, Sendable {
    /// A number and a unit of time.
    case duration
    /// A number and a unit of bytes.
    case size
    /// A whole number.
    case integer
    /// A decimal number.
    case number
    /// Any text.
    case text
    /// Several texts.
    case list
    /// `true` or `false`.
    case flag
    /// One of a few words.
    case choice
    /// Names below the key, each with a text.
    case map
}

/// One row of the table of keys.
public struct ConfigurationKey: Sendable {
    /// Dotted name, for example `attribution.window.fixed`.
    public let name: String
    /// What it takes.
    public let kind: ValueKind
    /// The default as one would write it; empty for maps.
    public let defaultText: String
    /// What it does, as one sentence without its final stop.
    public let summary: String
    /// What may be written, to follow "write ".
    let allowed: String
    let access: Access
    /// Whether `env:NAME` and `file:/path` stand for what is in a variable or a file.
    var takesReferences = false
    /// Whether the value must never be shown.
    var isSecret = false

    /// How the value gets into and out of a configuration.
    enum Access: Sendable {
        case value(
            write: @Sendable (RawValue, inout Configuration) throws(ValueProblem) -> Void,
            read: @Sendable (Configuration) -> RawValue)
        /// The paths of maps: each entry is written alone, so that layers add to each other.
        case entries(
            write: @Sendable (_ entry: String, _ text: String, inout Configuration) throws(ValueProblem) -> Void,
            read: @Sendable (Configuration) -> [String: String])
    }

    /// A key with one value, stored at `path`.
    static func value<Value>(
        _ name: String, _ path: any WritableKeyPath<Configuration, Value> & Sendable, _ format: ValueFormat<Value>,
        default defaultText: String, _ summary: String
    ) -> ConfigurationKey {
        ConfigurationKey(
            name: name, kind: format.kind, defaultText: defaultText, summary: summary, allowed: format.allowed,
            access: .value(
                write: { (raw, configuration) throws(ValueProblem) in
                    configuration[keyPath: path] = try format.parse(raw)
                },
                read: { format.print($0[keyPath: path]) }))
    }

    /// A key whose value may be absent, which `word` stands for.
    static func value<Value>(
        _ name: String, _ path: any WritableKeyPath<Configuration, Value?> & Sendable, _ format: ValueFormat<Value>,
        or word: String, default defaultText: String, _ summary: String
    ) -> ConfigurationKey {
        .value(name, path, format.or(word), default: defaultText, summary)
    }

    /// The same key, whose value may stand in a variable or a file.
    var byReference: ConfigurationKey {
        var key = self
        key.takesReferences = true
        return key
    }

    /// The same key, whose value may stand in a variable or a file and is never shown.
    var secret: ConfigurationKey {
        var key = byReference
        key.isSecret = true
        return key
    }

    /// The key that a dotted name belongs to: its own, or that of the map that it is an entry of.
    static func owning(_ name: String) -> ConfigurationKey? {
        Configuration.keys.first { $0.name == name }
            ?? Configuration.keys.first { $0.kind == .map && name.hasPrefix($0.name + ".") }
    }

    /// The environment variable that sets the key.
    public var environmentVariable: String {
        "TIDEMARK_" + name.map { $0 == "." ? "_" : $0.uppercased() }.joined()
    }
}
