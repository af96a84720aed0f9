/// A string that is compared, ordered and hashed by its UTF-8 bytes.
///
/// The rules speak of bytes: two spellings that Unicode calls equivalent are two different ids, which Swift's own
/// string comparison would not tell apart.
struct Text: Hashable, Comparable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    /// The text of a field, where the empty string is null.
    init?(field: String?) {
        guard let field, !field.isEmpty else { return nil }
        string = field
    }

    /// The text with the letters A to Z in lower case.
    var lowercased: Text {
        guard string.utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else { return self }
        let bytes = string.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }
        return Text(String(decoding: bytes, as: UTF8.self))
    }

    static func == (left: Text, right: Text) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    static func < (left: Text, right: Text) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var copy = string
        copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
