public import TidemarkEvents

/// Gives each distinct string a small number, 0 being null. Numbers mean nothing outside the table.
///
/// Used from one thread. Strings are never forgotten, so it is for values with few distinct ones: apps, platforms, campaigns,
/// names, buttons. Ids that are as many as users or events (devices, dispatches, sessions) stay with their user instead.
public final class StringTable {
    private var views: [ByteView] = [.null]
    private var slots: [UInt32]
    private var hashes: [UInt64] = [0]
    private var arena = Arena()

    /// An empty table.
    public init() {
        slots = Array(repeating: 0, count: 64)
    }

    /// How many numbers are given out, the null included.
    public var count: Int { views.count }

    /// The number of a string, a new one if it was not seen before; 0 for null.
    public func intern(_ view: ByteView) -> UInt32 {
        guard !view.isNull else { return 0 }
        let hash = view.hash64
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let number = slots[slot]
            if number == 0 { return insert(view, hash: hash, slot: slot) }
            if hashes[Int(number)] == hash, views[Int(number)] == view { return number }
            slot = (slot + 1) & mask
        }
    }

    /// The number of a Swift string; for cold paths.
    public func intern(_ text: String) -> UInt32 {
        var text = text
        return text.withUTF8 { intern(ByteView(UnsafeRawBufferPointer($0))) }
    }

    /// The bytes of a number; stable as long as the table lives.
    public subscript(number: UInt32) -> ByteView { views[Int(number)] }

    private func insert(_ view: ByteView, hash: UInt64, slot: Int) -> UInt32 {
        let number = UInt32(views.count)
        views.append(arena.copy(view))
        hashes.append(hash)
        slots[slot] = number
        if views.count * 2 > slots.count { rehash() }
        return number
    }

    private func rehash() {
        slots = Array(repeating: 0, count: slots.count * 2)
        let mask = slots.count - 1
        for number in 1..<views.count {
            var slot = Int(truncatingIfNeeded: hashes[number]) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(number)
        }
    }
}

/// Memory that is handed out piece by piece and given back all at once.
struct Arena: ~Copyable {
    private var chunks: [UnsafeMutablePointer<UInt8>] = []
    private var used = 0
    private var size = 0

    /// A copy of the bytes that lives as long as the arena.
    mutating func copy(_ view: ByteView) -> ByteView {
        guard let start = view.start, view.count > 0 else { return .null }
        if used + view.count > size {
            size = max(64 * 1024, view.count)
            chunks.append(.allocate(capacity: size))
            used = 0
        }
        let target = chunks[chunks.count - 1] + used
        target.update(from: start, count: view.count)
        used += view.count
        return ByteView(start: target, count: view.count)
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }
}
