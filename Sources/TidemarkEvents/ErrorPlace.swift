/// Finds the part of a record that a refusal is about, to be shown to a person.
public enum ErrorPlace {
    /// The bytes that a refusal is about; none of them where something lacks at that offset. `nil` where no place can be told, as for a field that
    /// is not there.
    ///
    /// - Parameters:
    ///   - value: the record, or the event of a batch, as it came.
    ///   - code: the reason.
    ///   - message: the words of the refusal, which begin with the name of a field where it is about one.
    public static func range(in value: ByteView, code: RejectionCode, message: String) -> Range<Int>? {
        if let start = value.start, value.count > 0, Framing.of(start, value.count) != nil {
            return placeNamed(in: message, value.count)
        }
        if let offset = JSONScanner.firstError(in: value) {
            guard code == .malformed else { return nil }
            return offset..<min(offset + 1, value.count)
        }
        let name = code == .late || code == .futureDated ? "time" : String(message.prefix { $0 != " " })
        guard EventField.allCases.contains(where: { $0.name == name }) else { return nil }
        var members = MemberFinder(value).members(of: [name, "user", "properties"])
        let inner = ["user", "properties"].compactMap { members.removeValue(forKey: $0) }
        let found =
            (members[name].map { [$0] } ?? [])
            + inner.flatMap { container in
                MemberFinder(value, at: container.lowerBound).members(of: [name]).values
            }
        // The decoder looks further where a field is null.
        return found.first { !isVoid(value, $0) } ?? found.first
    }

    /// Of Avro, which is not read again for this: the byte that the message names.
    private static func placeNamed(in message: String, _ count: Int) -> Range<Int>? {
        guard let word = message.firstRange(of: "(byte ") else { return nil }
        guard let place = Int(message[word.upperBound...].prefix { $0.isNumber }), place <= count else { return nil }
        return place..<min(place + 1, count)
    }

    private static func isVoid(_ value: ByteView, _ range: Range<Int>) -> Bool {
        let bytes = UnsafeBufferPointer(start: value.start, count: value.count)[range]
        return bytes.elementsEqual("null".utf8) || bytes.elementsEqual("\"\"".utf8)
    }
}

/// Finds members of one object of a valid document.
private struct MemberFinder {
    private var scanner: JSONScanner

    init(_ document: ByteView, at start: Int = 0) {
        scanner = JSONScanner(document)
        scanner.position = start
    }

    /// Where the values of the named members are; of duplicate keys the last one stands. Empty where it is no object.
    func members(of names: Set<String>) -> [String: Range<Int>] {
        var scanner = scanner
        var found: [String: Range<Int>] = [:]
        scanner.skipSpace()
        guard scanner.take("{") else { return found }
        scanner.skipSpace()
        while scanner.position < scanner.bytes.count, scanner.current == UInt8(ascii: "\"") {
            let keyStart = scanner.position + 1
            scanner.skipString()
            let key = String(decoding: scanner.bytes[keyStart..<scanner.position - 1], as: UTF8.self)
            scanner.skipSpace()
            scanner.position += 1
            scanner.skipSpace()
            let start = scanner.position
            scanner.skipValue()
            if names.contains(key) { found[key] = start..<scanner.position }
            scanner.skipSpace()
            guard scanner.take(",") else { break }
            scanner.skipSpace()
        }
        return found
    }
}
