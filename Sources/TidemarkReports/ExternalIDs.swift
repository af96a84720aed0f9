internal import TidemarkAttribution
internal import TidemarkEvents

/// The entries of a user that carry an `external_user_id`, so that the one of an open is found without going through all entries.
struct ExternalIDs: ~Copyable {
    /// Entries with an `external_user_id`, in order.
    private var carriers = Scratch<Int32>()
    private var isListed = false

    init() {}

    deinit { carriers.deallocate() }

    /// Forgets the entries and keeps the memory.
    mutating func removeAll() {
        carriers.removeAll()
        isListed = false
    }

    /// Lists the entries, once until `removeAll`: few users have opens, and only opens ask.
    mutating func list(_ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        guard !isListed else { return }
        isListed = true
        for index in 0..<entries.count where entries[index].external != 0 { carriers.append(Int32(index)) }
    }

    /// The last non-null `external_user_id`, by event order, of the events until a span after an open. (Not of all events ever, because
    /// an open must not change after it is folded: `docs/attribution.md`.)
    func id(
        at time: UInt32, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, state: UserState, span: Int64
    ) -> ByteView {
        let newest = Int64(time) + span
        var low = 0
        var high = carriers.count
        // All from `high` on are too new, all below `low` are not. Mostly none is too new.
        if high > 0, Int64(entries[Int(carriers[high - 1])].time) <= newest { low = high }
        while low < high {
            let middle = (low + high) / 2
            if Int64(entries[Int(carriers[middle])].time) <= newest { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return .null }
        let entry = entries[Int(carriers[low - 1])]
        return Int64(entry.time) >= Int64(time) - Fold.externalIDMemory ? state.externalID(of: entry) : .null
    }
}
