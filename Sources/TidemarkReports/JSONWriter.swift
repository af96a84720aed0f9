public import TidemarkEvents

/// Writes canonical JSON into bytes: no spaces; only `"`, `\` and characters below U+0020 escaped (`spec/reports.md` section 1).
///
/// Our own writer, because a library's costs some 20 to 50 µs a record where this one costs one.
public struct JSONWriter {
    /// What was written so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer.
    public init() {}

    /// Forgets what was written and keeps the memory.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Writes text that needs no escapes: punctuation and names of keys.
    public mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes text that needs no escapes.
    public mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Writes bytes as they are.
    public mutating func append(_ view: ByteView) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: view.start, count: view.count))
    }

    /// Writes 128 bits as a string in the usual form of a UUID.
    public mutating func uuid(high: UInt64, low: UInt64) {
        raw("\"")
        for position in 0..<32 {
            if position == 8 || position == 12 || position == 16 || position == 20 { raw("-") }
            let half = position < 16 ? high : low
            hexDigit(UInt8(truncatingIfNeeded: half >> UInt64(60 - position % 16 * 4)) & 0xF)
        }
        raw("\"")
    }

    /// A day as `YYYY-MM-DD`.
    static func day(_ day: Int32) -> String {
        var json = JSONWriter()
        json.day(day)
        return String(decoding: json.bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    /// 128 bits in the usual form of a UUID.
    static func uuid(high: UInt64, low: UInt64) -> String {
        var json = JSONWriter()
        json.uuid(high: high, low: low)
        return String(decoding: json.bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    /// Writes a string, or `null` where the view is null.
    public mutating func string(_ view: ByteView) {
        guard let start = view.start, view.count > 0 else { return raw("null") }
        quoted(UnsafeBufferPointer(start: start, count: view.count))
    }

    /// Writes a string.
    public mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { quoted($0) }
    }

    /// Writes a whole number.
    public mutating func integer(_ value: Int64) { bytes.append(contentsOf: String(value).utf8) }

    /// Writes a number; whole ones without a fraction.
    public mutating func number(_ value: Double) {
        if value == value.rounded(), abs(value) < 9e15 { integer(Int64(value)) } else { raw(String(value)) }
    }

    /// Writes a day as `"YYYY-MM-DD"`.
    public mutating func day(_ day: Int32) {
        let (year, month, dayOfMonth) = DayTable.civil(day)
        raw("\"")
        digits(year, width: 4)
        raw("-")
        digits(month, width: 2)
        raw("-")
        digits(dayOfMonth, width: 2)
        raw("\"")
    }

    private mutating func digits(_ value: Int, width: Int) {
        let text = String(value)
        for _ in 0..<max(width - text.utf8.count, 0) { bytes.append(UInt8(ascii: "0")) }
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func quoted(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        var plainFrom = 0
        for (index, byte) in text.enumerated()
        where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            bytes.append(contentsOf: text[plainFrom..<index])
            escape(byte)
            plainFrom = index + 1
        }
        bytes.append(contentsOf: text[plainFrom...])
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x08: raw("\\b")
        case 0x09: raw("\\t")
        case 0x0A: raw("\\n")
        case 0x0C: raw("\\f")
        case 0x0D: raw("\\r")
        default:
            raw("\\u00")
            hexDigit(byte >> 4)
            hexDigit(byte & 0xF)
        }
    }

    private mutating func hexDigit(_ digit: UInt8) {
        bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
}
