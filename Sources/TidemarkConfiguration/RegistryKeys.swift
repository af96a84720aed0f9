import TidemarkRegistry

extension Configuration {
    /// The keys of the schema registry.
    static let registryKeys: [ConfigurationKey] = [
        .value(
            "schema_registry.url", \.schemaRegistry.urls, .registryURLs, default: "",
            "Where the Confluent-compatible API of the schema registry begins; several for one that has several nodes"
        ).byReference,
        .value(
            "schema_registry.basic_auth", \.schemaRegistry.basicAuth, .userPassword, or: "none", default: "none",
            "User and password for URLs that hold none; never shown"
        ).secret,
        .value(
            "schema_registry.bearer_token", \.schemaRegistry.bearerToken, .text, or: "none", default: "none",
            "Token that is sent in place of user and password; never shown"
        ).secret,
        .value(
            "schema_registry.ca", \.schemaRegistry.authoritiesFile, .text, or: "system", default: "system",
            "PEM file of the authorities that may have signed the registry's certificate"),
        .value(
            "schema_registry.certificate", \.schemaRegistry.certificateFile, .text, or: "none", default: "none",
            "PEM file of the certificate that is shown to the registry"),
        .value(
            "schema_registry.key", \.schemaRegistry.keyFile, .text, or: "none", default: "none",
            "PEM file of the key of that certificate, where the same file does not hold it"),
        .value(
            "schema_registry.key_password", \.schemaRegistry.keyPassword, .text, or: "none", default: "none",
            "What the key is encrypted with; never shown"
        ).secret,
        .value(
            "schema_registry.timeout", \.schemaRegistry.timeout, .duration(100...300_000), default: "10s",
            "Time for an answer of one URL, before the next one is asked"),
        .value(
            "schema_registry.unknown_after", \.schemaRegistry.unknownAfter, .duration(0...3_600_000), default: "5s",
            "How long a schema id that the registry does not know is asked for, before its records are dead letters"),
        .value(
            "schema_registry.register", \.schemaRegistry.registers, .flag, default: "true",
            "Register the schemas of Avro outputs; false only looks them up, for registries that others fill"),
    ]
}

extension ValueFormat where Value == [RegistryURL] {
    /// URLs, whose passwords are shown as stars.
    fileprivate static let registryURLs = ValueFormat(
        kind: .list, allowed: "one or more URLs, for example https://registry:8081; [] for none",
        parse: { raw throws(ValueProblem) in
            var urls: [RegistryURL] = []
            for item in listItems(raw) {
                do throws(RegistryURL.Problem) {
                    urls.append(try RegistryURL(parsing: item))
                } catch {
                    throw ValueProblem(error.what)
                }
            }
            return urls
        },
        print: { .list($0.map(\.description)) })
}

extension ValueFormat where Value == String {
    /// `user:password`; no message quotes it.
    fileprivate static let userPassword = ValueFormat.single(
        .text, allowed: "user:password, env:NAME or file:/path",
        parse: { text throws(ValueProblem) in
            guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
                throw ValueProblem("is not of the form user:password")
            }
            return text
        },
        print: { $0 })
}
