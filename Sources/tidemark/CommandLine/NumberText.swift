import Foundation

/// Numbers as people read them in progress and summaries.
enum NumberText {
    /// A count with commas between thousands.
    static func count(_ value: Int) -> String {
        let digits = String(value.magnitude)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (value < 0 ? "-" : "") + text
    }

    /// A count and what is counted, `1 user` or `2 users`.
    static func count(_ value: Int, _ noun: String) -> String { "\(count(value)) \(noun)\(value == 1 ? "" : "s")" }

    /// Bytes in the unit that fits.
    static func bytes(_ value: Int64) -> String {
        var amount = Double(value)
        for unit in ["B", "kB", "MB", "GB"] {
            if amount < 1_000 { return String(format: unit == "B" ? "%.0f %@" : "%.1f %@", amount, unit) }
            amount /= 1_000
        }
        return String(format: "%.1f TB", amount)
    }

    /// Seconds with as many decimals as matter.
    static func seconds(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        return String(format: seconds < 10 ? "%.2f s" : "%.1f s", seconds)
    }

    /// How many a second.
    static func rate(_ value: Int, in duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        return count(seconds > 0 ? Int(Double(value) / seconds) : value)
    }
}
