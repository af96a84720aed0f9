import Foundation
import TidemarkReports

/// The options of commands that print a report.
struct ReportOptions {
    static let format = OptionSpec.value(
        "format", "FORMAT", "table (default), ndjson (one record a line), json or csv.")
    static let by = OptionSpec.value(
        "by", "WHAT", "Lines of the table: campaign (default), message or day.")
    static let output = OptionSpec.value("output", short: "o", "FILE", "Write the report here, not to standard output.")

    let format: ReportFormat
    let grouping: ReportGrouping
    private let output: String?
    private let console: Console

    init(_ arguments: ParsedArguments) throws(UsageError) {
        format = try arguments.choice("format", default: .table)
        grouping = try arguments.choice("by", default: .campaign)
        guard !arguments.has("by") || format == .table else {
            throw UsageError("`--by` is for tables; `--format \(format.rawValue)` holds all rows")
        }
        output = arguments.value("output")
        console = arguments.console
    }

    /// Finds out before long work whether its result can be written.
    func checkOutput() throws(CommandFailure) {
        guard let output, !FileManager.default.fileExists(atPath: output) else { return }
        let folder = URL(fileURLWithPath: output).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw CommandFailure("cannot write \(output): there is no folder \(folder) to write to")
        }
    }

    /// Writes a report where it was asked for. A file gets all of it or stays as it was.
    func write(_ report: Report, filter: RowFilter = RowFilter()) throws(CommandFailure) {
        let bytes = report.rendered(format, by: grouping, filter: filter, width: Terminal.usualWidth)
        guard let output else { return console.output(String(decoding: bytes, as: UTF8.self)) }
        var status = stat()
        let isSpecial = stat(output, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: output), options: isSpecial ? [] : .atomic)
        } catch {
            throw CommandFailure("cannot write \(output): \(error.localizedDescription)")
        }
    }
}
