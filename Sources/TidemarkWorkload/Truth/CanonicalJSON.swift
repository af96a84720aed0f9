/// JSON without spaces, in which only `"`, `\` and characters below U+0020 are escaped.
struct CanonicalJSON {
    private(set) var bytes: [UInt8] = []

    mutating func append(raw text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func append(raw text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// A string in quotes, or `null`.
    mutating func append(_ text: Text?) {
        guard let text else { return append(raw: "null") }
        bytes.append(UInt8(ascii: "\""))
        for byte in text.string.utf8 {
            append(escaping: byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append(raw: "\\\"")
        case UInt8(ascii: "\\"): append(raw: "\\\\")
        case 0x08: append(raw: "\\b")
        case 0x09: append(raw: "\\t")
        case 0x0A: append(raw: "\\n")
        case 0x0C: append(raw: "\\f")
        case 0x0D: append(raw: "\\r")
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            append(raw: "\\u00")
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }
}
