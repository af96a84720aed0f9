/// A small map that is filled and emptied once per user: open addressing, emptied by a stamp instead of a sweep.
///
/// - Important: The owner frees it with `deallocate()`; copies of the value share the memory.
public struct ScratchMap {
    /// What values are kept by.
    public struct Key: BitwiseCopyable {
        var link: UInt64
        var first: UInt32
        var second: UInt32

        /// A key of three parts.
        @inline(__always)
        public init(link: UInt64, first: UInt32, second: UInt32) {
            self.link = link
            self.first = first
            self.second = second
        }
    }

    private struct Slot: BitwiseCopyable {
        var key: Key
        var stamp: UInt32
        var value: Int32
    }

    private var slots = Scratch<Slot>(capacity: 64)
    private var stamp: UInt32 = 0
    private var mask = 0

    /// A map without room; `reset` comes first.
    public init() {}

    /// Empties the map and makes room for `count` keys.
    public mutating func reset(for count: Int) {
        var size = 16
        while size < count * 2 { size *= 2 }
        if size > slots.count || stamp == .max {
            slots.fill(max(size, slots.count), with: Slot(key: Key(link: 0, first: 0, second: 0), stamp: 0, value: 0))
            stamp = 0
        }
        mask = size - 1
        stamp += 1
    }

    /// Where the key is, or would be.
    @inline(__always)
    private func find(_ key: Key) -> Int {
        var hash = key.link ^ (UInt64(key.first) << 32 | UInt64(key.second)) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        hash = hash &* 0xBF58_476D_1CE4_E5B9
        hash ^= hash >> 32
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index].stamp == stamp {
            let other = slots[index].key
            if other.link == key.link, other.first == key.first, other.second == key.second { break }
            index = (index + 1) & mask
        }
        return index
    }

    /// The value of a key; -1 where there is none.
    @inline(__always)
    public func value(_ key: Key) -> Int32 {
        let index = find(key)
        return slots[index].stamp == stamp ? slots[index].value : -1
    }

    /// Sets the value of a key and returns the one before; -1 where there was none.
    @inline(__always)
    public func exchange(_ key: Key, _ value: Int32) -> Int32 {
        let index = find(key)
        let before = slots[index].stamp == stamp ? slots[index].value : -1
        slots[index] = Slot(key: key, stamp: stamp, value: value)
        return before
    }

    /// Gives the memory back. The map must not be used after.
    public func deallocate() { slots.deallocate() }
}
