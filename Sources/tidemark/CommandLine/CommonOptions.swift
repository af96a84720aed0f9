import Foundation
import TidemarkConfiguration

/// The options of every command that reads the configuration.
enum CommonOptions {
    /// `-c/--config`, `--set` and `--quiet`.
    static let all: [OptionSpec] = [config, set, quiet]

    static let config = OptionSpec.value(
        "config", short: "c", "FILE", "Configuration file; ./tidemark.yaml if it exists and none is named.")
    static let set = OptionSpec.value(
        "set", "KEY=VALUE", repeats: true,
        "Set one key, over file and environment, for example commit_interval=500ms. Repeatable.")
    static let quiet = OptionSpec.flag("quiet", short: "q", "Show no progress.")

    /// The file that is read when none is named and it exists.
    static let defaultFile = "tidemark.yaml"
}

/// The file that the options name, else `tidemark.yaml` of the current directory, else `nil`.
func configurationFile(_ arguments: ParsedArguments) -> String? {
    if let file = arguments.value("config") { return file }
    return FileManager.default.fileExists(atPath: CommonOptions.defaultFile) ? CommonOptions.defaultFile : nil
}

/// The configuration of a command that has `CommonOptions`.
///
/// - Throws: `ConfigurationErrors`, which ends the program with all its messages.
func loadConfiguration(_ arguments: ParsedArguments) throws -> Configuration {
    try Configuration.load(
        file: configurationFile(arguments), environment: ProcessInfo.processInfo.environment,
        overrides: arguments.values("set"))
}
