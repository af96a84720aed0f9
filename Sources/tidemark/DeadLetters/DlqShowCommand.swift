import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka
import TidemarkProcessor
import TidemarkReports

/// `tidemark dlq show`: dead letters one by one.
struct DlqShowCommand: Command {
    static let spec = CommandSpec(
        "dlq show", summary: "Show dead letters with the place of the error marked.",
        details: """
            Prints where a record came from, why it was refused and what to do about it, its key and headers, and its \
            value with a marker below the part that the error is about: as text, or in hexadecimal where it is not text. \
            --partition and --offset are those of the dead-letter topic.
            """,
        options: CommonOptions.all + DeadLetterOptions.all + [
            .value("limit", "N", "How many at most; 10 unless given."),
            .flag("full", "Show values whole, however long they are."),
        ],
        example: """
            tidemark dlq show --id currents.events/0/17 -c tidemark.yaml
            tidemark dlq show --code malformed --limit 3
            """)

    private let arguments: ParsedArguments
    private let filter: DeadLetterFilter
    private let limit: Int

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        filter = try DeadLetterOptions.filter(arguments)
        limit = try arguments.integer("limit", in: 1...Int.max, default: 10)
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        let console = arguments.console
        let control = RunControl { console.note($0) }
        let signals = StopSignals { control.stop() }
        defer { signals.cancel() }
        let reader = try DeadLetterReader(configuration, control: control)
        defer { reader.close() }
        let marks = try reader.redriven()
        var count = 0
        try reader.read(filter) { letter in
            count += 1
            guard count <= limit else { return }
            let text = DeadLetterText(
                letter: letter, redrivenAt: marks.time(of: letter.id),
                width: Terminal.standardOutput.width, isFull: arguments.has("full"))
            console.output((count == 1 ? "" : "\n") + text.text)
        }
        if count > limit {
            console.note("\(NumberText.count(count - limit)) more are not shown; --limit N shows more")
        }
        guard count > 0 else {
            console.note("no dead letter is like that")
            return ExitCode.failed
        }
        return ExitCode.done
    }
}

/// One dead letter for a person.
struct DeadLetterText {
    let letter: DeadLetter
    /// When it was fed again, milliseconds since the epoch.
    let redrivenAt: Int64?
    let width: Int
    let isFull: Bool

    var text: String {
        var text = "\(letter.id)\n"
        let origin = letter.origin
        let event = origin.index.map { ", event \($0) of its batch" } ?? ""
        let place =
            origin.offset >= 0
            ? "\(origin.topic)[\(origin.partition)] offset \(origin.offset)" : "on its way to \(origin.topic)"
        text += field("from", "\(place)\(event), \(timeText(origin.timestamp))")
        if let source = letter.source { text += field("source", DisplayText.safe(source)) }
        text += field(
            "stands in",
            "\(letter.topic)[\(letter.partition)] offset \(letter.offset), refused \(timeText(letter.time))")
        text += field("code", letter.code + (letter.stage.isEmpty ? "" : " (\(letter.stage))"))
        text += field("message", DisplayText.safe(letter.message))
        text += field("what to do", letter.advice)
        if let redrivenAt { text += field("fed again", timeText(redrivenAt)) }
        text += field("key", letter.key.map(Self.short) ?? "none")
        for header in letter.headers {
            text += field("header", "\(DisplayText.safe(header.name)): \(header.value.map(Self.short) ?? "null")")
        }
        return text + payload
    }

    private var payload: String {
        guard let value = letter.value else { return field("value", "none (a tombstone)") }
        var size = NumberText.count(value.count, "byte")
        if let excerpt = letter.excerpt { size = "the first \(size) of \(NumberText.count(excerpt.size))" }
        let mark = letter.excerpt == nil ? errorPlace(in: value) : nil
        return field("value", size)
            + PayloadText(value: value, mark: mark, width: width, isFull: isFull).text
    }

    private func errorPlace(in value: [UInt8]) -> Range<Int>? {
        guard let code = letter.rejection else { return nil }
        return value.withUnsafeBytes { ErrorPlace.range(in: ByteView($0), code: code, message: letter.message) }
    }

    private static let nameWidth = 12

    private func field(_ name: String, _ text: String) -> String {
        let indent = Self.nameWidth + 2
        let lines = HelpText.wrap(text, indent: indent)
        return "  \(name)" + String(repeating: " ", count: Self.nameWidth - name.count) + lines.dropFirst(indent)
    }

    /// Bytes on one line, in hexadecimal where they are not text.
    private static func short(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return DisplayText.safe(text) }
        return "hex " + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
