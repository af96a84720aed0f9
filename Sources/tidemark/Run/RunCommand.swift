import Dispatch
import Foundation
import TidemarkConfiguration
import TidemarkProcessor
import TidemarkServer

/// `tidemark run`: the live processor.
struct RunCommand: Command {
    static let spec = CommandSpec(
        "run", summary: "Process events from Kafka into campaign reports, until stopped.",
        details: """
            Checks the topics first and refuses what does not fit, with advice (`tidemark topics create` makes them). More \
            processes of the same application_id share the partitions. SIGTERM and SIGINT commit what is done, leave the \
            group and end within seconds; a killed process loses nothing, for the next one goes on from the last commit. \
            Metrics and health are served over HTTP at server.listen.
            """,
        options: CommonOptions.all + [
            .flag("standby", "Keep the state of all other partitions as well (`standby: true`)."),
            .value("log-format", "FORMAT", "text (default on a terminal), logfmt (default elsewhere) or json."),
        ],
        example: """
            tidemark run -c tidemark.yaml
            tidemark run --set kafka.bootstrap.servers=broker:9092 --set workers=4
            """)

    /// How often progress is told, seconds.
    private static let interval = 10

    private let arguments: ParsedArguments
    private let format: LogFormat

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        format = try arguments.choice("log-format", default: .usual(.standardError))
    }

    func run() throws -> Int32 {
        var configuration = try loadConfiguration(arguments)
        if arguments.has("standby") { configuration.standby = true }
        let control = makeControl(configuration)
        do {
            try process(configuration, control)
        } catch  where format != .text {
            for line in "\(error)".split(separator: "\n") { control.log(String(line), level: .error) }
            return ExitCode.failed
        }
        return ExitCode.done
    }

    private func makeControl(_ configuration: Configuration) -> RunControl {
        let console = arguments.console
        return RunControl(application: configuration.applicationID) { [format] line in
            console.note(format.render(line, time: Date()))
        }
    }

    private func process(_ configuration: Configuration, _ control: RunControl) throws {
        let signals = StopSignals { control.stop() }
        defer { signals.cancel() }
        let progress =
            arguments.has("quiet") ? nil : RunProgress(control, every: RunCommand.interval) { control.log($0) }
        defer { progress?.cancel() }
        let server = try RunServer.start(configuration, control)
        defer { server?.stop() }
        try Processor.run(configuration, control: control)
        control.log("stopped: \(RunProgress.text(control.status))")
    }
}

/// Tells now and then what a running processor has done, when that has changed.
final class RunProgress {
    private let timer: any DispatchSourceTimer

    init(_ control: RunControl, every seconds: Int, note: @escaping @Sendable (String) -> Void) {
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "tidemark.progress"))
        nonisolated(unsafe) var last = ""
        nonisolated(unsafe) var lastRecords = 0
        timer.setEventHandler {
            let status = control.status
            let text = RunProgress.text(status)
            guard text != last else { return }
            last = text
            note("\(text), \(NumberText.count((status.records - lastRecords) / seconds)) records/s")
            lastRecords = status.records
        }
        timer.schedule(deadline: .now() + .seconds(seconds), repeating: .seconds(seconds))
        timer.resume()
    }

    func cancel() { timer.cancel() }

    static func text(_ status: RunStatus) -> String {
        var parts = [
            NumberText.count(status.records, "record"), "\(NumberText.count(status.counts.accepted)) counted",
            NumberText.count(status.counts.duplicates, "duplicate"),
            "\(NumberText.count(status.counts.skipped)) skipped",
            NumberText.count(status.counts.deadLetterTotal, "dead letter"), NumberText.count(status.users, "user"),
            NumberText.count(status.tasks, "task"),
        ]
        if status.restoring > 0 { parts.append("\(status.restoring) restoring") }
        return parts.joined(separator: ", ")
    }
}
