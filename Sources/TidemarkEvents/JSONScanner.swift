/// A plain reader of JSON for the cold path: finds where a document breaks, and where its parts begin and end.
///
/// simdjson decides what is valid; this one only says where. It is written to agree with simdjson.
struct JSONScanner {
    /// simdjson's limit on nested containers.
    static let maxDepth = 1024

    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    /// What is wrong at the position, once something is.
    var mistake = Mistake.value

    init(_ value: ByteView) {
        bytes = UnsafeBufferPointer(start: value.start, count: value.start == nil ? 0 : value.count)
    }

    /// The byte at the position, or 0 at the end; a NUL is valid nowhere outside of a string, nor inside.
    var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// Steps over a byte if it is there.
    mutating func take(_ byte: Character) -> Bool {
        guard position < bytes.count, bytes[position] == byte.asciiValue else { return false }
        position += 1
        return true
    }
}

// MARK: - Parts of a valid document

extension JSONScanner {
    /// Steps over one value of a document that is known to be valid.
    mutating func skipValue() {
        skipSpace()
        var depth = 0
        repeat {
            switch current {
            case UInt8(ascii: "\""):
                skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D:
                position += 1
            default:
                skipScalar()
            }
        } while depth > 0 && position < bytes.count
    }

    /// Steps over a string of a valid document.
    mutating func skipString() {
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
    }

    /// Steps over a number, `true`, `false` or `null`.
    private mutating func skipScalar() {
        let start = position
        while position < bytes.count, isScalarByte(bytes[position]) { position += 1 }
        if position == start { position += 1 }
    }

    private func isScalarByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// A copy of a document with every number that may not fit into 64 bits replaced by a fraction of the same length,
    /// so that all other bytes stay where they are; `nil` if the document is broken otherwise, or has no such number.
    static func replacingLargeNumbers(in value: ByteView) -> [UInt8]? {
        guard firstError(in: value) == nil else { return nil }
        var scanner = JSONScanner(value)
        var copy = Array(scanner.bytes)
        var isChanged = false
        while scanner.position < copy.count {
            switch scanner.current {
            case UInt8(ascii: "\""):
                scanner.skipString()
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                let start = scanner.position
                scanner.skipScalar()
                let number = start..<scanner.position
                guard mayBeLarge(copy[number]) else { continue }
                copy.replaceSubrange(number, with: Array("0.5".utf8) + Array(repeating: 0x20, count: number.count - 3))
                isChanged = true
            default:
                scanner.position += 1
            }
        }
        return isChanged ? copy : nil
    }

    /// Integers of 19 digits and more, and anything with an exponent or a fraction that long.
    private static func mayBeLarge(_ number: ArraySlice<UInt8>) -> Bool {
        number.count >= 19 || (number.count > 3 && number.contains { $0 | 0x20 == UInt8(ascii: "e") })
    }
}
