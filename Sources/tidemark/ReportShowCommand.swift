import TidemarkConfiguration
import TidemarkKafka
import TidemarkProcessor
import TidemarkReports

/// `tidemark report show`: the report as it stands on its topic.
struct ReportShowCommand: Command {
    static let spec = CommandSpec(
        "report show", summary: "Print the report as it stands on its topic.",
        details: """
            Reads output.reports from its beginning, committed records only, and prints the latest version of each \
            row. Joins no consumer group.
            """,
        options: CommonOptions.all + [
            ReportOptions.format, ReportOptions.by, ReportOptions.output,
            .value("campaign", "PATTERN", "Only campaigns and canvases of this name or id; * stands for any text."),
            .value("channel", "CHANNEL", "Only this channel, for example push or content_card."),
            .value(
                "day", "DAY",
                "Only this day, or days FROM..TO, either of which may be left out; campaign lines then add up days."),
        ],
        example: """
            tidemark report show -c tidemark.yaml --channel push --campaign 'Spring*'
            tidemark report show --by day --day 2026-11-01.. --format table
            """)

    private let arguments: ParsedArguments
    private let options: ReportOptions
    private let filter: RowFilter

    init(arguments: ParsedArguments) throws {
        self.arguments = arguments
        options = try ReportOptions(arguments)
        var filter = RowFilter()
        filter.campaign = arguments.value("campaign")
        if let name = arguments.value("channel") {
            guard let channel = Channel(name: name) else {
                let names = Channel.allCases.map { "`\($0.name)`" }.joined(separator: ", ")
                throw UsageError("`--channel` takes one of \(names), not `\(name)`")
            }
            filter.channel = channel
        }
        if let text = arguments.value("day") { filter.days = try Self.days(text) }
        self.filter = filter
    }

    /// `2026-11-30`, `2026-11-01..2026-11-30`, `2026-11-01..` or `..2026-11-30`.
    private static func days(_ text: String) throws(UsageError) -> ClosedRange<Int32> {
        var first: Int32?
        var last: Int32?
        if let dots = text.firstRange(of: "..") {
            let (from, to) = (text[..<dots.lowerBound], text[dots.upperBound...])
            first = from.isEmpty ? RowKey.noDay + 1 : DayTable.day(iso: from)
            last = to.isEmpty ? Int32.max : DayTable.day(iso: to)
        } else {
            first = DayTable.day(iso: text)
            last = first
        }
        guard let first, let last, first <= last else {
            throw UsageError(
                "`--day` takes a day such as 2026-11-30, or days as in 2026-11-01..2026-11-30, not `\(text)`")
        }
        return first...last
    }

    func run() throws -> Int32 {
        let configuration = try loadConfiguration(arguments)
        try options.checkOutput()
        let progress = ProgressLine(isQuiet: arguments.has("quiet"))
        progress.update("reading \(configuration.output.reports)")
        let reader: ReportReader
        do {
            reader = try ReportReader(configuration)
            try reader.readToEnd()
        } catch let error as KafkaError {
            progress.clear()
            throw CommandFailure(
                "cannot read \(configuration.output.reports) from \(configuration.bootstrapServers): \(error)")
        } catch {
            progress.clear()
            throw error
        }
        reader.close()
        progress.clear()
        try options.write(reader.report, filter: filter)
        return ExitCode.done
    }
}
