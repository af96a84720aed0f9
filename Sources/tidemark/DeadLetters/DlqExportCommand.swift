import Foundation
import TidemarkProcessor

/// `tidemark dlq export`: dead letters as lines that a person can repair.
struct DlqExportCommand: Command {
    static let spec = CommandSpec(
        "dlq export", summary: "Write dead letters as NDJSON, to be repaired and imported.",
        details: """
            One dead letter a line, without loss: `key`, `headers` and `value` are what `dlq import` sends; bytes that are \
            not text are in base64 under a name that ends with _base64. A value that is a JSON object stands there as it \
            is, so that jq and editors can change it. `code` and `message` say what to repair; keep `id`, which makes \
            sure that no dead letter is fed twice.

            Leaves out those that were fed again, unless --again is given.
            """,
        options: CommonOptions.all + DeadLetterOptions.all + [
            .value("output", short: "o", "FILE", "Write the lines here, not to standard output."),
            .flag("again", "Write those, too, that were fed before."),
        ],
        example: """
            tidemark dlq export --code missing_field -o broken.ndjson -c tidemark.yaml
            jq -c '.value.user_id = .key' broken.ndjson > mended.ndjson
            tidemark dlq import mended.ndjson -c tidemark.yaml
            """)

    private let arguments: ParsedArguments
    private let filter: DeadLetterFilter

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        filter = try DeadLetterOptions.filter(arguments)
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        let console = arguments.console
        let control = RunControl { console.note($0) }
        let signals = StopSignals { control.stop() }
        defer { signals.cancel() }
        let export = try DeadLetterExport(configuration, control: control)
        defer { export.close() }
        let target = try ExportTarget(arguments.value("output"), console)
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        defer { progress.clear() }
        var count = 0
        let counts = try export.write(filter, isAgain: arguments.has("again")) { line in
            try target.write(line)
            count += 1
            if count % 1_000 == 0 { progress.update(NumberText.count(count, "dead letter")) }
        }
        try target.finish()
        progress.clear()
        console.note(
            "\(NumberText.count(counts.written, "dead letter")), \(NumberText.count(counts.fedBefore)) fed before left out"
        )
        if counts.cut > 0 {
            console.note(
                "\(NumberText.count(counts.cut)) of them are only the first bytes of their records (`size`), and their topics do not have the rest any "
                    + "more: take those lines out before the import")
        }
        return ExitCode.done
    }
}

/// Standard output, or a file that is complete or as it was before.
private final class ExportTarget {
    private let console: Console
    private let path: String?
    private let handle: FileHandle?

    private var temporary: String { (path ?? "") + ".part" }

    init(_ path: String?, _ console: Console) throws(CommandFailure) {
        self.path = path
        self.console = console
        guard let path else {
            handle = nil
            return
        }
        let temporary = path + ".part"
        guard FileManager.default.createFile(atPath: temporary, contents: nil),
            let handle = FileHandle(forWritingAtPath: temporary)
        else { throw CommandFailure("cannot write \(temporary): \(String(cString: strerror(errno)))") }
        self.handle = handle
    }

    func write(_ line: [UInt8]) throws {
        guard let handle else { return console.output(String(decoding: line, as: UTF8.self)) }
        do {
            try handle.write(contentsOf: Data(line))
        } catch {
            throw CommandFailure("cannot write \(temporary): \(error.localizedDescription)")
        }
    }

    func finish() throws(CommandFailure) {
        guard let path, let handle else { return }
        try? handle.close()
        guard rename(temporary, path) == 0 else {
            throw CommandFailure("cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }
}
