import Testing

@testable import TidemarkConfiguration

/// Reads a configuration from texts; `name` of the file is `tidemark.yaml`.
func load(
    _ yaml: String = "", environment: [String: String] = [:], set overrides: [String] = []
) throws -> Configuration {
    try Configuration.load(text: yaml, name: "tidemark.yaml", environment: environment, overrides: overrides)
}

/// The messages that loading ends with; none if it succeeds.
func messages(_ yaml: String = "", environment: [String: String] = [:], set overrides: [String] = []) -> [String] {
    do {
        _ = try load(yaml, environment: environment, set: overrides)
        return []
    } catch let errors as ConfigurationErrors {
        return errors.messages
    } catch {
        return ["not a ConfigurationErrors: \(error)"]
    }
}

extension Configuration {
    /// Every value as text, by key.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        for key in Configuration.keys {
            switch key.access {
            case .value(_, let read): texts[key.name] = read(self).text
            case .entries(_, let read):
                for (entry, text) in read(self) { texts["\(key.name).\(entry)"] = text }
            }
        }
        return texts
    }
}
