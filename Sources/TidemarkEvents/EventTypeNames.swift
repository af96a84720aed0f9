#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension EventType {
    /// The type with this wire name, or `nil` for a name that the rules do not know. Case counts.
    public init?(wireName: ByteView) {
        guard let type = EventTypeNames.shared.lookUp(wireName) else { return nil }
        self = type
    }
}

/// The wire names of all event types in a small open-addressed hash table, so that a look-up allocates nothing.
final class EventTypeNames: Sendable {
    static let shared = EventTypeNames()

    private struct Entry {
        var name: ByteView
        var type: EventType
    }

    private static let slotBits: UInt64 = 7
    private static let slotCount = 1 << 7
    // Written by the initialiser only, and never freed: the table lives as long as the process.
    nonisolated(unsafe) private let slots: UnsafeMutablePointer<Entry>

    private init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: Entry(name: .null, type: .pushSend), count: Self.slotCount)
        for type in EventType.allCases {
            let name = Array(type.wireName.utf8)
            let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: name.count)
            bytes.initialize(from: name, count: name.count)
            let view = ByteView(start: UnsafePointer(bytes), count: name.count)
            var slot = Self.slot(of: view)
            while !slots[slot].name.isNull { slot = (slot + 1) % Self.slotCount }
            slots[slot] = Entry(name: view, type: type)
        }
    }

    /// Names differ in their ends, so the last eight bytes and the length spread them well.
    @inline(__always)
    private static func slot(of name: ByteView) -> Int {
        guard let start = name.start, name.count >= 8 else { return 0 }
        let tail = UnsafeRawPointer(start + (name.count - 8)).loadUnaligned(as: UInt64.self)
        return Int(((tail ^ UInt64(name.count)) &* 0x9E37_79B9_7F4A_7C15) >> (64 - slotBits))
    }

    func lookUp(_ name: ByteView) -> EventType? {
        var slot = Self.slot(of: name)
        while !slots[slot].name.isNull {
            if slots[slot].name == name { return slots[slot].type }
            slot = (slot + 1) % Self.slotCount
        }
        return nil
    }
}
