import Dispatch
import Foundation
import TidemarkConfiguration
import TidemarkIngest
import TidemarkProcessor
import TidemarkServer

/// `tidemark ingest http`: the endpoint for posts.
struct IngestHTTPCommand: Command {
    static let spec = CommandSpec(
        "ingest http",
        summary: "Take posts of the Currents HTTP connector and bring their events to Kafka, until stopped.",
        details: """
            Listens at ingest.http.listen for POST /currents with a bearer token. A post is answered with 2xx once Kafka has \
            acknowledged all of its events: good ones in the input topic, keyed by user_id and with their type in the header \
            input.type_header, bad ones in the dead-letter topic. Any other answer makes the connector send the post again; \
            events that come twice that way have the same id and are counted once.

            Tokens come from ingest.http.tokens, one a line and all of them valid, so that a new one can be put beside the old \
            one before the sender changes over. It speaks no TLS: put a proxy in front of it.

            SIGTERM and SIGINT answer what was taken and end; SIGHUP reads the tokens again. Metrics and health are served over \
            HTTP at server.listen.
            """,
        options: CommonOptions.all + [
            .value("log-format", "FORMAT", "text (default on a terminal), logfmt (default elsewhere) or json.")
        ],
        example: """
            tidemark ingest http -c tidemark.yaml --set ingest.http.tokens=file:/run/secrets/tokens
            tidemark ingest http --set ingest.http.listen=0.0.0.0:8080 --set ingest.http.connections=2000
            """)

    private let arguments: ParsedArguments
    private let format: LogFormat

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        format = try arguments.choice("log-format", default: .usual(.standardError))
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        let console = arguments.console
        let log = IngestLog { [format, application = configuration.applicationID] message, level in
            console.note(
                format.render(LogLine(message, level: level, application: application, loop: "ingest"), time: Date()))
        }
        do {
            try serve(configuration, log)
        } catch  where format != .text {
            for line in "\(error)".split(separator: "\n") { log(String(line), .error) }
            return ExitCode.failed
        }
        return ExitCode.done
    }

    private func serve(_ configuration: Configuration, _ log: IngestLog) throws {
        let isAsked = DispatchSemaphore(value: 0)
        let signals = StopSignals { isAsked.signal() }
        defer { signals.cancel() }
        OpenFiles.raiseLimit(for: configuration.ingest.http.connections, log)
        let ingest = try HTTPIngest(configuration, environment: ProcessInfo.processInfo.environment, log: log)
        let pages = IngestPages(build: RunServer.build) { ingest.status }
        let server: HTTPServer?
        do {
            server = try RunServer.start(configuration, pages: pages.answer) { log($0, $1) }
        } catch {
            ingest.stop()
            throw error
        }
        defer { server?.stop() }
        let hangUps = HangUps { ingest.readTokensAgain() }
        defer { hangUps.cancel() }
        isAsked.wait()
        log("stopping: answering what was taken")
        ingest.stop()
        log("stopped: \(IngestHTTPCommand.summary(ingest.status))")
    }

    /// What was done, in one line.
    static func summary(_ status: IngestStatus) -> String {
        let answers = status.answers.sorted { $0.key < $1.key }.map { "\(NumberText.count($0.value)) × \($0.key)" }
        return "\(NumberText.count(status.events, "event")), "
            + NumberText.count(status.deadLetters.values.reduce(0, +), "dead letter")
            + ", answers: \(answers.isEmpty ? "none" : answers.joined(separator: ", "))"
    }
}

/// Calls back on SIGHUP, which would end the process otherwise.
final class HangUps {
    private let source: any DispatchSourceSignal

    init(_ body: @escaping @Sendable () -> Void) {
        signal(SIGHUP, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(label: "tidemark.hangups"))
        source.setEventHandler(handler: body)
        source.resume()
    }

    func cancel() { source.cancel() }
}

/// The system's limit on open files, of which every connection is one.
enum OpenFiles {
    /// What a process needs beside its connections: to brokers, for logs and the like.
    private static let others = 256

    /// Raises the limit as far as it goes, and says so where that is not far enough.
    static func raiseLimit(for connections: Int, _ log: IngestLog) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = rlim_t(connections + others)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < wanted else { return }
        log(
            "the system allows \(limit.rlim_cur) open files, too few for ingest.http.connections (\(connections)): raise "
                + "the limit (ulimit -n, LimitNOFILE=) or lower the setting", .warning)
    }
}
