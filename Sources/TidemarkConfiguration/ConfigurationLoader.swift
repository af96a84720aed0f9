import Foundation

extension Configuration {
    /// Reads and checks a configuration.
    ///
    /// - Parameters:
    ///   - file: path of the YAML file; `nil` for none.
    ///   - environment: the variables of the process, `ProcessInfo.processInfo.environment`.
    ///   - overrides: `key=value` texts, the strongest layer; of several for one key the last counts.
    /// - Throws: everything that is wrong, in all layers.
    public static func load(
        file: String?, environment: [String: String], overrides: [String] = []
    ) throws(ConfigurationErrors) -> Configuration {
        guard let file else {
            return try load(text: "", name: "", environment: environment, overrides: overrides)
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory), !isDirectory.boolValue else {
            throw ConfigurationErrors(messages: ["\(file): no such file"])
        }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ConfigurationErrors(messages: ["\(file): cannot be read"])
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationErrors(messages: ["\(file): is not text in UTF-8"])
        }
        return try load(text: text, name: file, environment: environment, overrides: overrides)
    }

    /// Reads and checks a configuration whose file is already in memory; `name` stands for it in messages.
    ///
    /// - Throws: everything that is wrong, in all layers.
    public static func load(
        text: String, name: String, environment: [String: String] = [:], overrides: [String] = []
    ) throws(ConfigurationErrors) -> Configuration {
        var loader = ConfigurationLoader(environment: environment)
        let file = YAMLReader(text: text, name: name)
        loader.problems += file.problems
        var overrideProblems: [String] = []
        let arguments = OverrideReader.read(overrides, problems: &overrideProblems)
        let variables = EnvironmentReader.read(
            environment, referenced: loader.referencedVariables(file.settings + arguments, environment),
            problems: &loader.problems)
        loader.apply(file.settings + variables)
        loader.problems += overrideProblems
        loader.apply(arguments)
        loader.checkConsistency()
        guard loader.problems.isEmpty else { throw ConfigurationErrors(messages: loader.problems) }
        return loader.configuration
    }
}

/// Writes settings into a configuration, layer after layer, and notes what is wrong with them.
struct ConfigurationLoader {
    private(set) var configuration = Configuration()
    var problems: [String] = []
    private var failedKeys: Set<String> = []
    private let environment: [String: String]

    init(environment: [String: String]) { self.environment = environment }

    /// The variables that settings refer to with `env:NAME`, in any layer.
    func referencedVariables(_ settings: [Setting], _ environment: [String: String]) -> Set<String> {
        let written = settings.filter { ConfigurationKey.owning($0.key)?.takesReferences == true }.map(\.value.text)
        let exporting = Set(Configuration.keys.filter(\.takesReferences).map(\.environmentVariable))
        let exported = environment.filter { exporting.contains($0.key) || $0.key.hasPrefix("TIDEMARK_KAFKA_") }
        return Set((written + exported.map(\.value)).compactMap(KafkaProperties.referencedVariable))
    }

    mutating func apply(_ settings: [Setting]) {
        for setting in settings { apply(setting) }
    }

    private mutating func apply(_ setting: Setting) {
        if let key = Configuration.keys.first(where: { $0.name == setting.key }) {
            switch key.access {
            case .value(let write, _): note(setting, key, writing(setting, key, write))
            case .entries: applyMap(setting, key)
            }
        } else if let key = Configuration.keys.first(where: {
            $0.kind == .map && setting.key.hasPrefix($0.name + ".")
        }) {
            applyEntry(setting, key)
        } else if let example = Configuration.keys.first(where: { $0.name.hasPrefix(setting.key + ".") }) {
            // A section whose keys are all commented out is fine.
            guard setting.value != .empty else { return }
            fail(setting, "is a section; write its keys below it, for example `\(example.name)`")
        } else {
            let nearest = nearestKey(to: setting.key, among: Configuration.keys.map(\.name))
            let hint = nearest.map { "; did you mean `\($0)`?" } ?? ""
            failedKeys.insert(setting.key)
            problems.append("\(setting.origin.text): unknown key `\(setting.key)`\(hint)")
        }
    }

    /// The problem that writing a single value has, if any.
    private mutating func writing(
        _ setting: Setting, _ key: ConfigurationKey,
        _ write: (RawValue, inout Configuration) throws(ValueProblem) -> Void
    ) -> ValueProblem? {
        do throws(ValueProblem) {
            var value = setting.value
            if key.takesReferences, case .text(let text) = value {
                value = .text(try resolving(text, key: key.name))
            }
            if key.isSecret, value == .text(KafkaProperties.stars) { throw KafkaProperties.starsProblem }
            try write(value, &configuration)
            return nil
        } catch {
            return error
        }
    }

    /// A map in one text, `a=b,c=d`, as the environment and `--set` give it.
    private mutating func applyMap(_ setting: Setting, _ key: ConfigurationKey) {
        if setting.value == .empty { return }
        if case .file = setting.origin { return fail(setting, "is a map; write \(key.allowed)") }
        // A password may hold commas; and no message may quote one.
        if key.name == "kafka" { return fail(setting, "is a map; set kafka.PROPERTY=VALUE, one property at a time") }
        for item in listItems(setting.value) {
            guard let equals = item.firstIndex(of: "=") else {
                return fail(setting, "`\(item)` has no `=`; write name=value with commas between")
            }
            let entry = "\(key.name).\(item[..<equals])"
            let value = RawValue.text(String(item[item.index(after: equals)...]))
            applyEntry(Setting(key: entry, value: value, origin: setting.origin), key)
        }
    }

    private mutating func applyEntry(_ setting: Setting, _ key: ConfigurationKey) {
        guard case .entries(let write, _) = key.access else { return }
        let entry = String(setting.key.dropFirst(key.name.count + 1))
        do throws(ValueProblem) {
            guard case .text(var text) = setting.value else {
                throw ValueProblem(setting.value == .empty ? "has no value" : "takes one value, not a list")
            }
            if key.takesReferences { text = try resolving(text, key: setting.key) }
            try write(entry, text, &configuration)
            configuration.origins[setting.key] = setting.origin
        } catch {
            fail(setting, error.what)
        }
    }

    /// A value, which may stand in a variable or a file.
    private mutating func resolving(_ text: String, key: String) throws(ValueProblem) -> String {
        configuration.references[key] = nil
        guard let resolved = try KafkaProperties.resolve(text, environment: environment) else { return text }
        configuration.references[key] = text
        return resolved
    }

    private mutating func note(_ setting: Setting, _ key: ConfigurationKey, _ problem: ValueProblem?) {
        if let problem {
            fail(setting, "\(problem.what); write \(key.allowed)")
        } else {
            configuration.origins[setting.key] = setting.origin
        }
    }

    private mutating func fail(_ setting: Setting, _ what: String) {
        failedKeys.insert(setting.key)
        problems.append("\(setting.origin.text): `\(setting.key)` \(what)")
    }

    /// Looks for settings that contradict each other, leaving out those that are wrong already.
    mutating func checkConsistency() {
        for check in ConsistencyCheck.all where failedKeys.isDisjoint(with: check.keys) {
            guard let problem = check.problem(configuration) else { continue }
            let place = check.keys.first { configuration.origins[$0] != nil }.flatMap {
                configuration.origins[$0]?.text
            }
            problems.append("\(place ?? "defaults"): \(problem)")
        }
    }
}
