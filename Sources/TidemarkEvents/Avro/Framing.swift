/// How a value that is not JSON begins, and so how its schema is named.
enum Framing: Equatable {
    /// A byte 0, the id of a schema in a registry in four bytes, then the value.
    case registry(id: UInt32)
    /// Single-object encoding: two bytes, the fingerprint of a schema in eight, then the value.
    case fingerprint(UInt64)
    /// An object container file, which brings its schema along.
    case container
    /// One of the first two, cut off before the value begins.
    case cutOff

    /// Bytes before the value where a registry's id names its schema.
    static let registrySize = 5
    /// Bytes before the value where a fingerprint does.
    static let fingerprintSize = 10

    /// What the first bytes say; `nil` for JSON, which none of the others can be taken for.
    @inline(__always)
    static func of(_ start: UnsafePointer<UInt8>, _ count: Int) -> Framing? {
        // Nearly all JSON begins with one of these.
        if start[0] == UInt8(ascii: "{") || start[0] == UInt8(ascii: "[") { return nil }
        return ofOther(start, count)
    }

    @inline(never)
    private static func ofOther(_ start: UnsafePointer<UInt8>, _ count: Int) -> Framing? {
        let raw = UnsafeRawPointer(start)
        switch start[0] {
        case 0:
            guard count >= registrySize else { return .cutOff }
            return .registry(id: UInt32(bigEndian: (raw + 1).loadUnaligned(as: UInt32.self)))
        case 0xC3 where count > 1 && start[1] == 1:
            guard count >= fingerprintSize else { return .cutOff }
            return .fingerprint(UInt64(littleEndian: (raw + 2).loadUnaligned(as: UInt64.self)))
        case UInt8(ascii: "O"):
            let magic = ContainerHeader.magic
            let isContainer = count >= magic.count && magic.indices.allSatisfy { start[$0] == magic[$0] }
            return isContainer ? .container : nil
        default:
            return nil
        }
    }
}
