/// Where a setting came from.
enum Origin: Equatable, Sendable {
    /// A line of the configuration file; no line when the file as a whole is meant.
    case file(name: String, line: Int?)
    /// A `TIDEMARK_…` variable.
    case environment(variable: String)
    /// A `--set key=value` argument; only the key is kept, because the value may be a secret.
    case override(key: String)

    /// As it stands at the front of a message and in the comments of `render()`.
    var text: String {
        switch self {
        case .file(let name, let line?): "\(name):\(line)"
        case .file(let name, nil): name
        case .environment(let variable): "environment variable \(variable)"
        case .override(let key): "--set \(key)"
        }
    }
}

/// All that is wrong with a configuration, in the order file, environment, `--set`, contradictions between settings.
public struct ConfigurationErrors: Error, Equatable, Sendable, CustomStringConvertible {
    /// One line per problem: where, which key, what is wrong, what is allowed. Never holds the value of a secret.
    public let messages: [String]

    /// The messages, one per line.
    public var description: String { messages.joined(separator: "\n") }
}
