/// Reads the settings of the `TIDEMARK_…` variables.
enum EnvironmentReader {
    private static let prefix = "TIDEMARK_"
    private static let kafkaPrefix = "TIDEMARK_KAFKA_"
    /// Variables that look like settings and are none: they tell tests what to use, and processes that tests start inherit them.
    private static let reserved: Set<String> = [
        "TIDEMARK_BINARY", "TIDEMARK_FIRST_SEED", "TIDEMARK_KAFKA", "TIDEMARK_SCHEMA_REGISTRY", "TIDEMARK_SEEDS",
    ]

    /// - Parameters:
    ///   - environment: all variables.
    ///   - referenced: variables that other settings take their value from; they are no settings themselves.
    ///   - problems: takes the variables that no key answers to.
    /// - Returns: the settings, ordered by variable.
    static func read(
        _ environment: [String: String], referenced: Set<String>, problems: inout [String]
    ) -> [Setting] {
        var settings: [Setting] = []
        let variables = environment.keys.filter { $0.hasPrefix(prefix) }.sorted()
        for variable in variables where !reserved.contains(variable) && !referenced.contains(variable) {
            let origin = Origin.environment(variable: variable)
            guard let key = key(of: variable) else {
                problems.append("\(origin.text): unknown key\(suggestion(for: variable))")
                continue
            }
            settings.append(Setting(key: key, value: .text(environment[variable] ?? ""), origin: origin))
        }
        return settings
    }

    /// The key that a variable sets. Underscores of Kafka properties stand for dots; others are looked up in the table.
    private static func key(of variable: String) -> String? {
        if variable.hasPrefix(kafkaPrefix), variable.count > kafkaPrefix.count {
            let property = variable.dropFirst(kafkaPrefix.count).lowercased()
            return "kafka." + property.map { $0 == "_" ? "." : String($0) }.joined()
        }
        return Configuration.keys.first { $0.environmentVariable == variable && $0.name != "kafka" }?.name
    }

    private static func suggestion(for variable: String) -> String {
        guard let nearest = nearestName(to: variable, among: Configuration.keys.map(\.environmentVariable)) else {
            return ""
        }
        let key = Configuration.keys.first { $0.environmentVariable == nearest }?.name ?? ""
        return "; did you mean `\(nearest)` (`\(key)`)?"
    }
}

/// Reads the settings of `--set key=value` arguments.
enum OverrideReader {
    static func read(_ arguments: [String], problems: inout [String]) -> [Setting] {
        var settings: [Setting] = []
        for argument in arguments {
            guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else {
                problems.append("--set \(argument.prefix { $0 != "=" }): write it as key=value")
                continue
            }
            let key = String(argument[..<equals]).trimmingSpaces()
            let value = String(argument[argument.index(after: equals)...])
            settings.append(Setting(key: key, value: .text(value), origin: .override(key: key)))
        }
        return settings
    }
}
