import TidemarkConfiguration
import TidemarkKafka
import TidemarkProcessor
import TidemarkServer

/// The HTTP server for metrics and health, as `server.listen` says.
enum RunServer {
    /// Starts to serve the figures of `run`.
    static func start(_ configuration: Configuration, _ control: RunControl) throws -> HTTPServer? {
        let pages = RunPages(build: build) { control.status }
        return try start(configuration, pages: pages.answer) { control.log($0, level: $1) }
    }

    /// The versions that every set of metrics tells.
    static var build: BuildFigures {
        BuildFigures(version: VersionCommand.version, librdkafka: KafkaLibrary.version)
    }

    /// Starts to serve.
    ///
    /// The default address is worth no failure: where another process has it, the log says so and the process does without.
    /// - Returns: `nil` where nothing is served.
    /// - Throws: when an address that was set cannot be had.
    static func start(
        _ configuration: Configuration, pages: @escaping HTTPServer.Pages, log: (String, LogLine.Level) -> Void
    ) throws -> HTTPServer? {
        guard let address = configuration.server.listen else { return nil }
        do throws(HTTPServerFailure) {
            let server = try HTTPServer(host: address.host, port: address.port, pages: pages)
            let shown = ListenAddress(host: address.host, port: server.port)
            log("serving /metrics, /livez and /readyz at http://\(shown)", .info)
            return server
        } catch {
            guard !configuration.isSet("server.listen") else {
                throw CommandFailure("server.listen: \(error.description); choose another address, or off")
            }
            log(
                "no metrics and no health over HTTP: \(error.description); set server.listen to an address of its own, or to off",
                .warning)
            return nil
        }
    }
}
