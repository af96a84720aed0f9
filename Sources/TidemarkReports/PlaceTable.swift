/// Gives each distinct value the next place of a table, counted from 1; 0 stays 0.
struct PlaceTable: ~Copyable {
    private struct Slot: BitwiseCopyable {
        var value: UInt64
        var place: UInt32
    }

    private var slots: UnsafeMutableBufferPointer<Slot>
    private(set) var count = 0
    private var lastValue: UInt64 = 0
    private var lastPlace: UInt32 = 0

    init() { slots = PlaceTable.slots(64) }

    deinit { slots.deallocate() }

    /// The place of a value.
    ///
    /// - Parameter isNew: set where the value was not there before; else left as it is.
    @inline(__always)
    mutating func place(of value: UInt64, isNew: inout Bool) -> UInt32 {
        if value == lastValue { return lastPlace }
        lastValue = value
        lastPlace = lookUp(value, &isNew)
        return lastPlace
    }

    private mutating func lookUp(_ value: UInt64, _ isNew: inout Bool) -> UInt32 {
        if value == 0 { return 0 }
        let slot = slot(of: value)
        if slots[slot].place != 0 { return slots[slot].place }
        isNew = true
        count += 1
        slots[slot] = Slot(value: value, place: UInt32(count))
        if count * 2 > slots.count { grow() }
        return UInt32(count)
    }

    private func slot(of value: UInt64) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: (value &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        while slots[slot].place != 0, slots[slot].value != value { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        let old = slots
        slots = PlaceTable.slots(old.count * 2)
        for entry in old where entry.place != 0 { slots[slot(of: entry.value)] = entry }
        old.deallocate()
    }

    private static func slots(_ count: Int) -> UnsafeMutableBufferPointer<Slot> {
        let slots = UnsafeMutableBufferPointer<Slot>.allocate(capacity: count)
        slots.initialize(repeating: Slot(value: 0, place: 0))
        return slots
    }
}
