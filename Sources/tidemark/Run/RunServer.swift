import TidemarkConfiguration
import TidemarkKafka
import TidemarkProcessor
import TidemarkServer

/// The HTTP server of `run`, as `server.listen` says.
enum RunServer {
    /// Starts to serve.
    ///
    /// The default address is worth no failure: where another process has it, the log says so and the process does without.
    /// - Returns: `nil` where nothing is served.
    /// - Throws: when an address that was set cannot be had.
    static func start(_ configuration: Configuration, _ control: RunControl) throws -> HTTPServer? {
        guard let address = configuration.server.listen else { return nil }
        let build = BuildFigures(version: VersionCommand.version, librdkafka: KafkaLibrary.version)
        let pages = RunPages(build: build) { control.status }
        do throws(HTTPServerFailure) {
            let server = try HTTPServer(host: address.host, port: address.port, pages: pages.answer)
            let shown = ListenAddress(host: address.host, port: server.port)
            control.log("serving /metrics, /livez and /readyz at http://\(shown)")
            return server
        } catch {
            guard !configuration.isSet("server.listen") else {
                throw CommandFailure("server.listen: \(error.description); choose another address, or off")
            }
            control.log(
                "no metrics and no health over HTTP: \(error.description); set server.listen to an address of its own, or to off",
                level: .warning)
            return nil
        }
    }
}
