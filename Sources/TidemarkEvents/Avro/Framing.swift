/// How a value that is not JSON begins, and so how its schema is named.
enum Framing {
    /// A byte 0, the id of a schema in a registry in four bytes, then the value.
    case registry(id: UInt32)
    /// As above, cut off before the value begins.
    case short

    /// Bytes before the value where a registry's id names its schema.
    static let registrySize = 5

    /// What the first bytes say; `nil` for JSON, which none of the others can be taken for.
    @inline(__always)
    static func of(_ start: UnsafePointer<UInt8>, _ count: Int) -> Framing? {
        // No JSON begins with a byte 0. Nearly all begins with a brace or a bracket.
        start[0] == 0 ? registry(start, count) : nil
    }

    private static func registry(_ start: UnsafePointer<UInt8>, _ count: Int) -> Framing {
        guard count >= registrySize else { return .short }
        let id = UnsafeRawPointer(start + 1).loadUnaligned(as: UInt32.self)
        return .registry(id: UInt32(bigEndian: id))
    }
}
