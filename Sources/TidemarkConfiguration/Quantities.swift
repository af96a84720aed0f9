/// Durations as written in a configuration: a whole number and a unit, `500ms`, `30s`, `45m`, `24h`, `7d`.
enum DurationText {
    /// Units in milliseconds, largest first.
    static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// The longest duration that a setting takes: 100 years of 365 days, far below any overflow downstream.
    static let longest: Int64 = 36_500 * 86_400_000

    /// Reads a duration into milliseconds.
    static func parse(_ text: String) throws(ValueProblem) -> Int64 {
        let (number, unit) = try splitQuantity(text)
        guard let factor = units.first(where: { $0.name == unit })?.milliseconds else {
            throw ValueProblem("`\(text)` has the unknown unit `\(unit)`")
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, product <= longest else { throw ValueProblem("`\(text)` is longer than 36500d") }
        return product
    }

    /// Writes a duration in the largest unit that divides it.
    static func print(_ milliseconds: Int64) -> String {
        if milliseconds == 0 { return "0s" }
        let unit = units.first { milliseconds % $0.milliseconds == 0 } ?? ("ms", 1)
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}

/// Sizes as written in a configuration: a whole number and a unit, `512B`, `64KiB`, `4MiB`, `1GB`.
enum SizeText {
    /// Units in bytes, largest first.
    static let units: [(name: String, bytes: Int64)] = [
        ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000),
        ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("B", 1),
    ]

    /// Reads a size into bytes; the case of the unit does not matter.
    static func parse(_ text: String) throws(ValueProblem) -> Int {
        let (number, unit) = try splitQuantity(text)
        guard let factor = units.first(where: { $0.name.lowercased() == unit.lowercased() })?.bytes else {
            throw ValueProblem("`\(text)` has the unknown unit `\(unit)`")
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw ValueProblem("`\(text)` is too large") }
        return Int(product)
    }

    /// Writes a size in the unit that needs the smallest number.
    static func print(_ bytes: Int) -> String {
        let unit = units.first { bytes != 0 && Int64(bytes) % $0.bytes == 0 } ?? ("B", 1)
        return "\(Int64(bytes) / unit.bytes)\(unit.name)"
    }
}

/// Splits `30s` into 30 and `s`.
private func splitQuantity(_ text: String) throws(ValueProblem) -> (number: Int64, unit: String) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    var unit = text.dropFirst(digits.count)
    while unit.first == " " { unit = unit.dropFirst() }
    guard !digits.isEmpty else { throw ValueProblem("`\(text)` does not start with a whole number") }
    guard let number = Int64(digits) else { throw ValueProblem("`\(text)` is too large") }
    guard !unit.isEmpty else { throw ValueProblem("`\(text)` has no unit") }
    guard unit.first != "." else { throw ValueProblem("`\(text)` is not a whole number with a unit") }
    return (number, String(unit))
}
