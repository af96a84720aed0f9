/// Puts together users that were kept elsewhere: each in working memory first, so that its block has its final size at once.
///
/// For each user: `begin`, texts and entries, `finish`. A text's bytes are the caller's to fill, before the next call.
public struct UserStateBuilder: ~Copyable {
    private var entries = Scratch<TimelineEntry>(capacity: 64)
    /// Filled from the end backwards, as the heap of a state.
    private var heap: UnsafeMutableRawPointer
    private var heapCapacity = 8_192
    private var heapUsed = 0
    private var userIDLength = 0
    private var lastExternal: UInt32 = 0

    /// A builder without a user.
    public init() { heap = .allocate(byteCount: heapCapacity, alignment: 16) }

    deinit {
        entries.deallocate()
        heap.deallocate()
    }

    /// Forgets the user before and makes room for the id of the next.
    public mutating func begin(userIDLength: Int) -> UnsafeMutablePointer<UInt8> {
        entries.removeAll()
        heapUsed = 0
        lastExternal = 0
        self.userIDLength = userIDLength
        return room(userIDLength)
    }

    /// Makes room for an entry's id.
    @inline(__always)
    public mutating func addID(length: Int, to entry: inout TimelineEntry) -> UnsafeMutablePointer<UInt8> {
        let target = room(length)
        entry.idLength = UInt16(truncatingIfNeeded: length)
        entry.idOffset = UInt32(truncatingIfNeeded: heapUsed)
        return target
    }

    /// Makes room for a session's id.
    public mutating func addSessionID(length: Int, to entry: inout TimelineEntry) -> UnsafeMutablePointer<UInt8> {
        let target = prefixedRoom(length)
        entry.payload = UInt32(truncatingIfNeeded: heapUsed)
        return target
    }

    /// Makes room for an external id, which the entries after it may share.
    public mutating func addExternalID(length: Int) -> UnsafeMutablePointer<UInt8> {
        let target = prefixedRoom(length)
        lastExternal = UInt32(truncatingIfNeeded: heapUsed)
        return target
    }

    /// Gives an entry the external id that was added last.
    public func shareExternalID(with entry: inout TimelineEntry) { entry.external = lastExternal }

    /// Adds an entry behind those there are.
    @inline(__always)
    public mutating func append(_ entry: TimelineEntry) { entries.append(entry) }

    /// The user, without anything folded; its memory is the caller's.
    ///
    /// - Parameters:
    ///   - hash: `id.hash64`.
    ///   - room: bytes that stay free, for what is added soon.
    ///   - isPending: whether the entries are as they came, in no order, and still have to be merged.
    public mutating func finish(
        hash: UInt64, nextFold: UInt32, room: Int = 0, isPending: Bool = false
    ) -> UserState {
        let entrySize = entries.count * MemoryLayout<TimelineEntry>.stride
        let capacity = UserState.roundUp(UserState.headerSize + entrySize + heapUsed + room)
        let block = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        block.initializeMemory(
            as: UserState.Header.self,
            to: UserState.Header(
                capacity: UInt32(capacity), heapUsed: UInt32(heapUsed),
                entryCount: isPending ? 0 : UInt32(entries.count), pendingCount: isPending ? UInt32(entries.count) : 0,
                userIDLength: UInt32(userIDLength), lastExternal: lastExternal, nextFold: nextFold, historyCount: 0,
                userHash: hash, folded: nil, memoryBytes: 0, turn: 0))
        (block + UserState.headerSize).copyMemory(from: entries.base, byteCount: entrySize)
        (block + capacity - heapUsed).copyMemory(from: heap + heapCapacity - heapUsed, byteCount: heapUsed)
        return UserState(handle: block)
    }

    private mutating func prefixedRoom(_ length: Int) -> UnsafeMutablePointer<UInt8> {
        let target = room(length + 2)
        UnsafeMutableRawPointer(target).storeBytes(of: UInt16(truncatingIfNeeded: length), as: UInt16.self)
        return target + 2
    }

    @inline(__always)
    private mutating func room(_ length: Int) -> UnsafeMutablePointer<UInt8> {
        if heapUsed + length > heapCapacity { grow(to: heapUsed + length) }
        heapUsed += length
        return (heap + heapCapacity - heapUsed).assumingMemoryBound(to: UInt8.self)
    }

    @inline(never)
    private mutating func grow(to needed: Int) {
        let capacity = max(needed, heapCapacity * 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        (larger + capacity - heapUsed).copyMemory(from: heap + heapCapacity - heapUsed, byteCount: heapUsed)
        heap.deallocate()
        heap = larger
        heapCapacity = capacity
    }
}
