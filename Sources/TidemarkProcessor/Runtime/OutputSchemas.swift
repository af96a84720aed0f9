internal import TidemarkConfiguration
internal import TidemarkRegistry
internal import TidemarkReports

/// How the records of the outputs are written.
struct OutputEncodings: Equatable, Sendable {
    var rows = RecordEncoding.json
    var opens = RecordEncoding.json
}

/// The schemas of Avro outputs, which a registry has to know before the first record is written.
enum OutputSchemas {
    /// Registers them, or looks them up where the settings say so, and waits for a registry that does not answer.
    ///
    /// - Throws: `RunFailure` where the registry answers that this cannot be, with what to do.
    static func encodings(_ configuration: Configuration, control: RunControl) throws(RunFailure) -> OutputEncodings {
        guard configuration.output.format == .avro else { return OutputEncodings() }
        let registry = SchemaRegistry(configuration.schemaRegistry) { control.isStopping }
        let output = configuration.output
        return OutputEncodings(
            rows: .avro(schemaID: try id(OutputSchema.reportRow, output.reports, registry, configuration, control)),
            opens: .avro(schemaID: try id(OutputSchema.open, output.opens, registry, configuration, control)))
    }

    private static func id(
        _ schema: String, _ topic: String, _ registry: SchemaRegistry, _ configuration: Configuration,
        _ control: RunControl
    ) throws(RunFailure) -> UInt32 {
        var backoff = Backoff()
        let subject = "\(topic)-value"
        while true {
            do throws(RegistryFailure) {
                return try configuration.schemaRegistry.registers
                    ? registry.register(schema, subject: subject) : registry.lookUp(schema, subject: subject)
            } catch {
                guard error.reason == .unavailable else { throw failure(error, subject, configuration) }
                if backoff.failures == 0 {
                    control.log("waiting for the schema registry: \(error)", level: .warning)
                }
            }
            control.sleep(backoff.next())
            guard !control.isStopping else { throw RunFailure("stopped before the schema registry answered") }
        }
    }

    private static func failure(
        _ error: RegistryFailure, _ subject: String, _ configuration: Configuration
    ) -> RunFailure {
        switch error.reason {
        case .refused:
            return RunFailure(
                "\(error). Another program has registered its own schema under \(subject): choose another topic, or remove that subject"
            )
        case .unknown where !configuration.schemaRegistry.registers:
            return RunFailure(
                "\(error). Register the schema of schemas/avro under \(subject), or set `schema_registry.register: true`"
            )
        default: return RunFailure("\(error)")
        }
    }
}
