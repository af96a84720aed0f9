internal import CTidemark
internal import TidemarkAttribution
internal import TidemarkEvents
internal import TidemarkReports

/// All users of a task: open addressing from the hash of a user id to a small number, which stays the user's while it is there.
///
/// Users that nothing happens to can be packed (`packIdle`). Looking one up unpacks it.
struct UserTable: ~Copyable {
    private struct Slot: BitwiseCopyable {
        /// The lower half of the hash, which also chooses the slot: a larger table is filled without a look at the users.
        var tag: UInt32
        /// Number of the user, `UserTable.free` where there is none.
        var user: UInt32
    }

    private static let free = UInt32.max
    private var slots = Scratch<Slot>(capacity: 1_024)
    /// Where each user is: a `UserState`, or a `PackedUser` with `UserTable.packedBit`.
    private var handles = Scratch<UnsafeMutableRawPointer?>(capacity: 512)
    private var unused = Scratch<UInt32>()
    /// How many users there are.
    private(set) var count = 0
    /// Bytes of their states.
    private(set) var byteCount = 0

    /// The bit of a handle that says that the user is packed: blocks of memory lie at multiples of 16.
    private static let packedBit: UInt = 1
    private var packer = UserPacker()
    /// Numbers of the users that are not packed; some that are or are gone may be among them.
    private var unpacked = Scratch<UInt32>()
    /// Bytes of the states of users that are not packed.
    private(set) var unpackedByteCount = 0
    /// Where the search for idle users goes on.
    private var hand = 0
    /// Bytes that an unpacked user has free for its next event.
    private static let room = 192
    /// Users that take more than this are never packed: they are few, and it would take as long as many others.
    private static let packingLimit = 256 << 10

    init() { slots.fill(1_024, with: Slot(tag: 0, user: UserTable.free)) }

    deinit {
        for number in 0..<UInt32(handles.count) {
            if let packed = packed(number) { packed.deallocate() } else { state(number)?.deallocate() }
        }
        slots.deallocate()
        handles.deallocate()
        unused.deallocate()
        unpacked.deallocate()
    }

    /// One more than the greatest number any user has.
    var numberLimit: Int { handles.count }

    /// The user of a number, which must not be packed; `nil` where it is gone.
    func state(_ number: UInt32) -> UserState? {
        guard let handle = handles[Int(number)] else { return nil }
        precondition(!UserTable.isPacked(handle), "a packed user has no state to work on")
        return UserState(handle: handle)
    }

    /// Notes where a user's state is now.
    func moved(_ number: UInt32, to state: UserState) { handles[Int(number)] = state.handle }

    /// Notes that a user's state takes more bytes than before, or fewer.
    mutating func resized(by bytes: Int) {
        byteCount += bytes
        unpackedByteCount += bytes
    }

    /// The hash of a user's id; `nil` where the user is gone.
    func userHash(_ number: UInt32) -> UInt64? { packed(number)?.userHash ?? state(number)?.userHash }

    /// `UserState.nextFold`; `nil` where the user is gone.
    func nextFold(_ number: UInt32) -> UInt32? { packed(number)?.nextFold ?? state(number)?.nextFold }

    /// Takes over states that were kept elsewhere, of users that are not there.
    ///
    /// - Returns: their numbers, in the same order.
    mutating func restore(_ states: [UserState]) -> [UInt32] {
        reserve(count + states.count)
        var numbers: [UInt32] = []
        numbers.reserveCapacity(states.count)
        for state in states {
            let tag = UInt32(truncatingIfNeeded: state.userHash)
            numbers.append(insert(state, tag: tag, slot: freeSlot(for: tag)))
        }
        return numbers
    }

    /// The number of a user, a new one if it was not there. The user is not packed afterwards.
    ///
    /// - Parameter hash: `id.hash64`.
    mutating func user(_ id: ByteView, hash: UInt64, isNew: inout Bool) -> UInt32 {
        let tag = UInt32(truncatingIfNeeded: hash)
        let mask = slots.count - 1
        var slot = Int(tag) & mask
        while slots[slot].user != UserTable.free {
            if slots[slot].tag == tag, let handle = handles[Int(slots[slot].user)] {
                if UserTable.isPacked(handle) {
                    if unpack(slots[slot].user, if: id, hash: hash) { return slots[slot].user }
                } else {
                    let state = UserState(handle: handle)
                    if state.userHash == hash, state.userID == id { return slots[slot].user }
                }
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
        // The bit of packed ones is within the same line.
        guard let block = handles[Int(number)] else { return }
        tidemark_prefetch(block)
        tidemark_prefetch(block + 64)
        tidemark_prefetch(block + 128)
    }

    /// The fourth step: what the next event of the user is written to.
    func fetchPlaces(hash: UInt64) {
        guard let number = number(tagged: UInt32(truncatingIfNeeded: hash)), let block = handles[Int(number)],
            !UserTable.isPacked(block)
        else { return }
        let places = UserState(handle: block).placesOfNext
        tidemark_prefetch(places.entry)
        tidemark_prefetch(places.texts)
    }

    /// The fourth step where duplicates are looked for as well: also the latest events with their ids, and the user id.
    func fetchLatest(hash: UInt64) {
        guard let number = number(tagged: UInt32(truncatingIfNeeded: hash)), let block = handles[Int(number)],
            !UserTable.isPacked(block)
        else { return }
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
        guard let hash = userHash(number) else { return }
        removeSlot(of: number, hash: hash)
        if let packed = packed(number) {
            byteCount -= packed.byteCount
            packed.deallocate()
        } else if let state = state(number) {
            resized(by: -state.byteCount)
            state.deallocate()
        }
        handles[Int(number)] = nil
        unused.append(number)
        count -= 1
    }

    // MARK: Packing

    private static func isPacked(_ handle: UnsafeMutableRawPointer) -> Bool {
        UInt(bitPattern: handle) & UserTable.packedBit != 0
    }

    private func packed(_ number: UInt32) -> PackedUser? {
        guard let handle = handles[Int(number)], UserTable.isPacked(handle) else { return nil }
        return PackedUser(handle: handle - Int(UserTable.packedBit))
    }

    /// Packs users until the others take no more than `limit` bytes, those first that were not worked on for long.
    ///
    /// None may have pending entries.
    ///
    /// - Parameters:
    ///   - turn: the present turn: users that were worked on in it stay, unless all together take more than twice the limit.
    ///   - horizon: see `UserPacker.pack`.
    mutating func packIdle(downTo limit: Int, turn: UInt32, horizon: Int64) {
        dropStale()
        // Once round at most: who is left then was worked on just now.
        for _ in 0..<unpacked.count {
            guard unpackedByteCount > limit, unpacked.count > 0 else { return }
            if hand >= unpacked.count { hand = 0 }
            let ahead = hand + 4 < unpacked.count ? hand + 4 : 0
            fetchBlock(unpacked[ahead])
            let number = unpacked[hand]
            guard let handle = handles[Int(number)], !UserTable.isPacked(handle) else {
                dropAtHand()
                continue
            }
            let state = UserState(handle: handle)
            guard state.turn != turn || unpackedByteCount > 2 * limit, state.byteCount <= UserTable.packingLimit else {
                hand += 1
                continue
            }
            pack(number, state, horizon)
            dropAtHand()
        }
    }

    private mutating func dropAtHand() {
        unpacked[hand] = unpacked[unpacked.count - 1]
        unpacked.truncate(to: unpacked.count - 1)
    }

    /// Lists the unpacked users anew where most of the list is of users that are gone.
    private mutating func dropStale() {
        guard unpacked.count > 2 * count + 1_024 else { return }
        unpacked.removeAll()
        for number in 0..<UInt32(handles.count) {
            if let handle = handles[Int(number)], !UserTable.isPacked(handle) { unpacked.append(number) }
        }
    }

    private mutating func pack(_ number: UInt32, _ state: UserState, _ horizon: Int64) {
        let packed = packer.pack(state, horizon: horizon)
        resized(by: -state.byteCount)
        byteCount += packed.byteCount
        state.deallocate()
        handles[Int(number)] = packed.handle + Int(UserTable.packedBit)
    }

    /// Unpacks a user for work on it.
    mutating func unpack(_ number: UInt32) {
        guard let packed = packed(number) else { return }
        let state = packer.unpack(packed, room: UserTable.room)
        byteCount -= packed.byteCount
        resized(by: state.byteCount)
        packed.deallocate()
        handles[Int(number)] = state.handle
        unpacked.append(number)
    }

    private mutating func unpack(_ number: UInt32, if id: ByteView, hash: UInt64) -> Bool {
        guard let packed = packed(number), packed.userHash == hash, packer.holds(packed, userID: id) else {
            return false
        }
        unpack(number)
        return true
    }

    /// Writes a user into a chunk, and leaves it as it is.
    mutating func write(_ number: UInt32, to writer: inout StateChunkWriter) {
        guard let packed = packed(number) else {
            if let state = state(number) { writer.append(state) }
            return
        }
        let state = packer.unpack(packed)
        defer { state.deallocate() }
        writer.append(state)
    }

    // MARK: Draining

    /// Hands out all users in the order of their hashes, and forgets each one after. None may be packed.
    mutating func drain<Failure>(_ body: (UserState) throws(Failure) -> Void) throws(Failure) {
        var order: [(hash: UInt64, number: UInt32)] = []
        order.reserveCapacity(count)
        for number in 0..<UInt32(handles.count) {
            if let state = state(number) { order.append((state.userHash, number)) }
        }
        order.sort { $0.hash < $1.hash }
        for (place, user) in order.enumerated() {
            if place + 4 < order.count { fetchBlock(order[place + 4].number) }
            guard let state = state(user.number) else { continue }
            try body(state)
            resized(by: -state.byteCount)
            state.deallocate()
            handles[Int(user.number)] = nil
            count -= 1
        }
        slots.fill(slots.count, with: Slot(tag: 0, user: UserTable.free))
        handles.removeAll()
        unused.removeAll()
        unpacked.removeAll()
    }

    // MARK: Slots

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
        resized(by: state.byteCount)
        unpacked.append(number)
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
