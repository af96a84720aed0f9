import TidemarkConfiguration
import TidemarkProcessor
import TidemarkReports

/// `tidemark dlq list`: how many dead letters there are, and why.
struct DlqListCommand: Command {
    static let spec = CommandSpec(
        "dlq list", summary: "Count dead letters by reason and topic, with samples.",
        details: """
            Reads the dead-letter topic from its beginning to where it ends now, committed records only, and joins no \
            consumer group. REDRIVEN counts those that `dlq redrive` or `dlq import` has fed again. Times are those at \
            which records were refused.
            """,
        options: CommonOptions.all + DeadLetterOptions.all + [
            .value(
                "samples", "N", "How many samples of each reason and topic, those with other words; 3 unless given."),
            .value("format", "FORMAT", "table (default), ndjson (one group a line), json or csv (without samples)."),
        ],
        example: """
            tidemark dlq list -c tidemark.yaml
            tidemark dlq list --code missing_field --from 2026-11-30 --format csv
            """)

    private let arguments: ParsedArguments
    private let filter: DeadLetterFilter
    private let format: ReportFormat
    private let samples: Int

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        filter = try DeadLetterOptions.filter(arguments)
        format = try arguments.choice("format", default: .table)
        samples = try arguments.integer("samples", in: 0...1_000, default: 3)
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        let console = arguments.console
        let control = RunControl { console.note($0) }
        let signals = StopSignals { control.stop() }
        defer { signals.cancel() }
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        defer { progress.clear() }
        let reader = try DeadLetterReader(configuration, control: control)
        defer { reader.close() }
        let marks = try reader.redriven()
        var summary = DeadLetterSummary(samples: samples)
        var count = 0
        try reader.read(filter) { letter in
            summary.add(letter, isRedriven: marks.time(of: letter.id) != nil)
            count += 1
            if count % 1_000 == 0 { progress.update(NumberText.count(count, "dead letter")) }
        }
        progress.clear()
        console.output(DeadLetterListing(summary: summary).text(format, width: Terminal.standardOutput.width))
        if reader.foreignCount > 0 {
            console.note(
                "\(NumberText.count(reader.foreignCount, "record")) of \(configuration.output.deadLetters) without the headers of a dead letter "
                    + "are left out: something else writes to that topic")
        }
        return ExitCode.done
    }
}

/// Writes a summary of dead letters.
struct DeadLetterListing {
    let summary: DeadLetterSummary

    private var groups: [(key: DeadLetterSummary.Key, value: DeadLetterSummary.Group)] {
        summary.groups.sorted { $0.key < $1.key }
    }

    func text(_ format: ReportFormat, width: Int) -> String {
        switch format {
        case .table: table(width)
        case .csv: csv
        case .ndjson: groups.map { json($0.key, $0.value) + "\n" }.joined()
        case .json:
            groups.isEmpty
                ? "[]\n" : "[\n" + groups.map { json($0.key, $0.value) }.joined(separator: ",\n") + "\n]\n"
        }
    }

    private func table(_ width: Int) -> String {
        guard !groups.isEmpty else { return "No dead letters.\n" }
        var rows = [["CODE", "TOPIC", "COUNT", "REDRIVEN", "FIRST", "LAST"]]
        for (key, group) in groups {
            rows.append([
                key.code, key.topic, NumberText.count(group.count), NumberText.count(group.redriven),
                timeText(group.first), timeText(group.last),
            ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var text = rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 2 || column == 3 ? space + cell : cell + space
            }
            return trimmed(cells.joined(separator: "  ")) + "\n"
        }.joined()
        for (key, group) in groups where !group.samples.isEmpty {
            text += "\n\(key.code), \(key.topic):\n"
            for sample in group.samples {
                text += "  \(sample.id)\n" + HelpText.wrap(DisplayText.safe(sample.message), indent: 4)
            }
        }
        return text
    }

    private func trimmed(_ line: String) -> String {
        var rest = line[...]
        while rest.last == " " { rest = rest.dropLast() }
        return String(rest)
    }

    /// Codes and topics hold nothing that needs quotes.
    private var csv: String {
        "code,topic,count,redriven,first,last\r\n"
            + groups.map { key, group in
                "\(key.code),\(key.topic),\(group.count),\(group.redriven),\(timeText(group.first)),\(timeText(group.last))\r\n"
            }.joined()
    }

    private func json(_ key: DeadLetterSummary.Key, _ group: DeadLetterSummary.Group) -> String {
        var json = JSONWriter()
        json.raw("{\"code\":")
        json.string(key.code)
        json.raw(",\"topic\":")
        json.string(key.topic)
        json.raw(
            ",\"count\":\(group.count),\"redriven\":\(group.redriven),\"first\":\(group.first),\"last\":\(group.last)")
        json.raw(",\"samples\":[")
        for (place, sample) in group.samples.enumerated() {
            json.raw(place == 0 ? "{\"id\":" : ",{\"id\":")
            json.string(sample.id)
            json.raw(",\"time\":\(sample.time),\"message\":")
            json.string(sample.message)
            json.raw("}")
        }
        json.raw("]}")
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
