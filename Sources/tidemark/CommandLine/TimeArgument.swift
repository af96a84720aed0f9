import Foundation

/// Points in time as they are typed.
enum TimeArgument {
    static let allowed =
        "a time such as 2026-01-05T08:00:00Z, a day such as 2026-01-05 (from midnight UTC) or epoch seconds"

    /// Milliseconds since the epoch.
    ///
    /// - Parameter option: the option's name, for the message.
    static func milliseconds(_ text: String, option: String) throws(UsageError) -> Int64 {
        if let seconds = Int64(text), (0...253_402_300_799).contains(seconds) { return seconds * 1_000 }
        for options: ISO8601DateFormatter.Options in [
            .withInternetDateTime, [.withInternetDateTime, .withFractionalSeconds], .withFullDate,
        ] {
            let formatter = ISO8601DateFormatter()
            formatter.formatOptions = options
            if let date = formatter.date(from: text) { return Int64((date.timeIntervalSince1970 * 1_000).rounded()) }
        }
        throw UsageError("`--\(option)` takes \(allowed), not `\(text)`")
    }
}
