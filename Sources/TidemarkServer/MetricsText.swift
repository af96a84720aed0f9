/// Writes metrics in the Prometheus text format, version 0.0.4.
struct MetricsText {
    /// What kind of figure a family holds.
    enum Kind: String {
        /// Only grows while the process lives; its name ends in `_total`.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts below bounds, their sum and their number.
        case histogram
    }

    /// The media type of the format.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// All that was written.
    private(set) var text = ""
    private var name = ""

    /// Begins a family; its samples follow.
    ///
    /// - Parameter help: one sentence without its final stop.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        text += "# HELP \(name) \(MetricsText.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a sample to the family begun last.
    mutating func sample(_ value: Int64, _ labels: KeyValuePairs<String, String> = [:], suffix: String = "") {
        write("\(value)", labels, suffix)
    }

    /// Adds a sample to the family begun last.
    mutating func sample(_ value: Int, _ labels: KeyValuePairs<String, String> = [:], suffix: String = "") {
        write("\(value)", labels, suffix)
    }

    /// Adds a sample to the family begun last.
    mutating func sample(_ value: Double, _ labels: KeyValuePairs<String, String> = [:], suffix: String = "") {
        write(MetricsText.number(value), labels, suffix)
    }

    /// Adds the buckets of a histogram, each with all below it.
    mutating func histogram(_ bounds: [Double], _ counts: [Int], count: Int) {
        var below = 0
        for (bound, count) in zip(bounds, counts) {
            below += count
            sample(below, ["le": MetricsText.number(bound)], suffix: "_bucket")
        }
        sample(count, ["le": "+Inf"], suffix: "_bucket")
    }

    private mutating func write(_ value: String, _ labels: KeyValuePairs<String, String>, _ suffix: String) {
        let pairs = labels.map { "\($0.key)=\"\(MetricsText.escaped($0.value, quotes: true))\"" }
        text += name + suffix + (pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}") + " \(value)\n"
    }

    /// Whole numbers without a fraction, and the format's words for what is no number.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
