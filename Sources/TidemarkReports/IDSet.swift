internal import TidemarkAttribution
internal import TidemarkEvents

/// A set of ids that is filled and emptied once per user; ids are compared by their bytes, not by their hashes alone.
struct IDSet {
    private struct Slot: BitwiseCopyable {
        var hash: UInt64
        var start: UnsafePointer<UInt8>?
        var count: Int32
        var stamp: UInt32
    }

    private var slots = Scratch<Slot>(capacity: 64)
    private var stamp: UInt32 = 0
    private var mask = 0

    /// Empties the set and makes room for `count` ids.
    mutating func reset(for count: Int) {
        var size = 16
        while size < count * 2 { size *= 2 }
        if size > slots.count || stamp == .max {
            slots.fill(max(size, slots.count), with: Slot(hash: 0, start: nil, count: 0, stamp: 0))
            stamp = 0
        }
        mask = size - 1
        stamp += 1
    }

    /// Adds an id whose bytes stay where they are until the next `reset`; says whether it was not there before.
    func insert(_ id: ByteView) -> Bool {
        let hash = id.hash64
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index].stamp == stamp {
            let slot = slots[index]
            if slot.hash == hash, ByteView(start: slot.start, count: Int(slot.count)) == id { return false }
            index = (index + 1) & mask
        }
        slots[index] = Slot(hash: hash, start: id.start, count: Int32(id.count), stamp: stamp)
        return true
    }

    func deallocate() { slots.deallocate() }
}
