internal import CTidemark
internal import TidemarkAttribution
internal import TidemarkEvents

/// All users of a task: open addressing from the hash of a user id to a small number, which stays the user's while it is there.
struct UserTable: ~Copyable {
    private struct Slot: BitwiseCopyable {
        /// The lower half of the hash, which also chooses the slot: a larger table is filled without a look at the users.
        var tag: UInt32
        /// Number of the user, `UserTable.free` where there is none.
        var user: UInt32
    }

    private static let free = UInt32.max
    private var slots = Scratch<Slot>(capacity: 1_024)
    private var handles = Scratch<UnsafeMutableRawPointer?>(capacity: 512)
    private var unused = Scratch<UInt32>()
    /// How many users there are.
    private(set) var count = 0
    /// Bytes of their states.
    private(set) var byteCount = 0

    init() { slots.fill(1_024, with: Slot(tag: 0, user: UserTable.free)) }

    deinit {
        for handle in handles.elements {
            if let handle { UserState(handle: handle).deallocate() }
        }
        slots.deallocate()
        handles.deallocate()
        unused.deallocate()
    }

    /// One more than the greatest number any user has.
    var numberLimit: Int { handles.count }

    /// The user of a number; `nil` where it is gone.
    func state(_ number: UInt32) -> UserState? { handles[Int(number)].map(UserState.init(handle:)) }

    /// Notes where a user's state is now.
    func moved(_ number: UInt32, to state: UserState) { handles[Int(number)] = state.handle }

    /// Notes that a user's state takes more bytes than before, or fewer.
    mutating func resized(by bytes: Int) { byteCount += bytes }

    /// Takes over states that were kept elsewhere, of users that are not there.
    ///
    /// - Returns: their numbers, in the same order.
    mutating func restore(_ states: [UserState]) -> [UInt32] {
        reserve(count + states.count)
        return states.map { state in
            let tag = UInt32(truncatingIfNeeded: state.userHash)
            return insert(state, tag: tag, slot: freeSlot(for: tag))
        }
    }

    /// The number of a user, a new one if it was not there.
    ///
    /// - Parameter hash: `id.hash64`.
    mutating func user(_ id: ByteView, hash: UInt64, isNew: inout Bool) -> UInt32 {
        let tag = UInt32(truncatingIfNeeded: hash)
        let mask = slots.count - 1
        var slot = Int(tag) & mask
        while slots[slot].user != UserTable.free {
            if slots[slot].tag == tag, let handle = handles[Int(slots[slot].user)] {
                let state = UserState(handle: handle)
                if state.userHash == hash, state.userID == id { return slots[slot].user }
            }
            slot = (slot + 1) & mask
        }
        isNew = true
        return insert(UserState(userID: id, hash: hash), tag: tag, slot: slot)
    }

    // MARK: Fetching ahead

    // With many users, most of a look-up is waiting for memory: for the slot, then what it points to, and so on. Where it is known which users
    // come next, each of these steps has the next place fetched into the cache while other events are worked on. They change nothing.

    /// The first step.
    func fetchSlot(hash: UInt64) {
        tidemark_prefetch(slots.base + Int(UInt32(truncatingIfNeeded: hash)) & (slots.count - 1))
    }

    /// The second step.
    func fetchHandle(hash: UInt64) {
        if let number = number(tagged: UInt32(truncatingIfNeeded: hash)) {
            tidemark_prefetch(handles.base + Int(number))
        }
    }

    /// The third step.
    func fetchBlock(hash: UInt64) {
        if let number = number(tagged: UInt32(truncatingIfNeeded: hash)) { fetchBlock(number) }
    }

    /// As above, for a user whose number is known: its first entries as well.
    func fetchBlock(_ number: UInt32) {
        guard let block = handles[Int(number)] else { return }
        tidemark_prefetch(block)
        tidemark_prefetch(block + 64)
        tidemark_prefetch(block + 128)
    }

    /// The fourth step: what the next event of the user is written to.
    func fetchPlaces(hash: UInt64) {
        guard let number = number(tagged: UInt32(truncatingIfNeeded: hash)), let block = handles[Int(number)] else {
            return
        }
        let places = UserState(handle: block).placesOfNext
        tidemark_prefetch(places.entry)
        tidemark_prefetch(places.texts)
    }

    /// The fourth step where duplicates are looked for as well: also the latest events with their ids, and the user id.
    func fetchLatest(hash: UInt64) {
        guard let number = number(tagged: UInt32(truncatingIfNeeded: hash)), let block = handles[Int(number)] else {
            return
        }
        let state = UserState(handle: block)
        let places = state.placesOfNext
        for line in 0..<4 {
            tidemark_prefetch(places.entry - line * 64)
            tidemark_prefetch(places.texts + line * 64)
        }
        tidemark_prefetch(state.userID.start)
    }

    /// The first user with a tag: nearly always the one that has the hash.
    private func number(tagged tag: UInt32) -> UInt32? {
        let mask = slots.count - 1
        var slot = Int(tag) & mask
        while slots[slot].user != UserTable.free {
            if slots[slot].tag == tag { return slots[slot].user }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Drops a user and frees its memory.
    mutating func remove(_ number: UInt32) {
        guard let handle = handles[Int(number)] else { return }
        let state = UserState(handle: handle)
        removeSlot(of: number, hash: state.userHash)
        byteCount -= state.byteCount
        state.deallocate()
        handles[Int(number)] = nil
        unused.append(number)
        count -= 1
    }

    private mutating func insert(_ state: UserState, tag: UInt32, slot: Int) -> UInt32 {
        let number: UInt32
        if unused.count > 0 {
            number = unused[unused.count - 1]
            unused.truncate(to: unused.count - 1)
            handles[Int(number)] = state.handle
        } else {
            number = UInt32(handles.count)
            handles.append(state.handle)
        }
        slots[slot] = Slot(tag: tag, user: number)
        count += 1
        byteCount += state.byteCount
        reserve(count)
        return number
    }

    /// Makes room for some users without another look-up getting slow.
    private mutating func reserve(_ users: Int) {
        guard users * 3 > slots.count * 2 else { return }
        var size = slots.count * 2
        while users * 3 > size * 2 { size *= 2 }
        let old = slots
        defer { old.deallocate() }
        slots = Scratch(capacity: size)
        slots.fill(size, with: Slot(tag: 0, user: UserTable.free))
        for slot in old.elements where slot.user != UserTable.free { slots[freeSlot(for: slot.tag)] = slot }
    }

    private func freeSlot(for tag: UInt32) -> Int {
        let mask = slots.count - 1
        var slot = Int(tag) & mask
        while slots[slot].user != UserTable.free { slot = (slot + 1) & mask }
        return slot
    }

    /// Empties a slot and moves back those behind it that probing would no longer find.
    private mutating func removeSlot(of number: UInt32, hash: UInt64) {
        let mask = slots.count - 1
        var hole = Int(truncatingIfNeeded: hash) & mask
        while slots[hole].user != number { hole = (hole + 1) & mask }
        var next = (hole + 1) & mask
        while slots[next].user != UserTable.free {
            let home = Int(slots[next].tag) & mask
            if (next &- home) & mask >= (next &- hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot(tag: 0, user: UserTable.free)
    }
}
