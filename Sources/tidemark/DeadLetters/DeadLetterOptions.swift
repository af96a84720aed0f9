import Foundation
import TidemarkEvents
import TidemarkProcessor

/// The options of commands that choose dead letters.
enum DeadLetterOptions {
    static let all: [OptionSpec] = [
        .value("code", "CODE", repeats: true, "Only this reason, for example missing_field. Repeatable."),
        .value("topic", "TOPIC", repeats: true, "Only records of this input topic. Repeatable."),
        .value(
            "id", "ID", repeats: true,
            "Only this dead letter, as `dlq list` names it; its @time may be left out. Repeatable."),
        .value("from", "TIME", "Only those refused at this time or later."),
        .value("to", "TIME", "Only those refused before this time."),
        .value("partition", "N", "Only this partition of the dead-letter topic."),
        .value("offset", "OFFSETS", "Only this offset in the dead-letter topic, or FIRST..LAST; needs --partition."),
    ]

    /// The choice that was typed.
    static func filter(_ arguments: ParsedArguments) throws(UsageError) -> DeadLetterFilter {
        var filter = DeadLetterFilter()
        filter.codes = Set(arguments.values("code"))
        for code in filter.codes where RejectionCode(rawValue: code) == nil {
            let names = RejectionCode.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw UsageError("`--code` takes one of \(names), not `\(code)`")
        }
        filter.topics = Set(arguments.values("topic"))
        filter.ids = Set(arguments.values("id"))
        if let from = arguments.value("from") { filter.from = try TimeArgument.milliseconds(from, option: "from") }
        if let to = arguments.value("to") { filter.to = try TimeArgument.milliseconds(to, option: "to") }
        if arguments.has("partition") {
            filter.partition = Int32(try arguments.integer("partition", in: 0...Int(Int32.max), default: 0))
        }
        if let offsets = arguments.value("offset") {
            guard filter.partition != nil else { throw UsageError("`--offset` needs `--partition`") }
            filter.offsets = try offsetRange(offsets)
        }
        return filter
    }

    /// `17`, `10..20`, `10..` or `..20`.
    private static func offsetRange(_ text: String) throws(UsageError) -> ClosedRange<Int64> {
        var first: Int64?
        var last: Int64?
        if let dots = text.firstRange(of: "..") {
            let (from, to) = (text[..<dots.lowerBound], text[dots.upperBound...])
            first = from.isEmpty ? 0 : Int64(from)
            last = to.isEmpty ? .max : Int64(to)
        } else {
            first = Int64(text)
            last = first
        }
        guard let first, let last, first >= 0, first <= last else {
            throw UsageError("`--offset` takes an offset such as 17, or offsets as in 10..20, not `\(text)`")
        }
        return first...last
    }
}

/// Milliseconds since the epoch as a person reads them.
func timeText(_ milliseconds: Int64) -> String {
    ISO8601DateFormatter.string(
        from: Date(timeIntervalSince1970: Double(milliseconds / 1_000)), timeZone: .gmt,
        formatOptions: .withInternetDateTime)
}
