public import TidemarkEvents

/// All that is kept of one user, in one block of memory:
///
///     header │ entries, in order │ pending entries, as they came │ free │ heap: texts, from the end backwards
///
/// The heap holds the user id, event ids, session ids and external ids. Places in it count from the end of the block, so that
/// they stay valid when the block grows. What is folded (session history, unique users) lies in a second block, absent for most.
///
/// - Important: A value is a handle; copies share the memory, and `append` and `rebuild` may move it.
public struct UserState {
    struct Header {
        var capacity: UInt32
        var heapUsed: UInt32
        var entryCount: UInt32
        var pendingCount: UInt32
        var userIDLength: UInt32
        /// Place of the external id that came last, so that a repeated one is not stored again.
        var lastExternal: UInt32
        /// Watermark from which folding is worth trying again.
        var nextFold: UInt32
        var historyCount: UInt32
        var userHash: UInt64
        var folded: UnsafeMutableRawPointer?
        var memoryBytes: UInt32
        /// See `turn`.
        var turn: UInt32
    }

    static let headerSize = 64
    private(set) var block: UnsafeMutableRawPointer

    private var header: UnsafeMutablePointer<Header> { block.assumingMemoryBound(to: Header.self) }

    /// A new user without events.
    public init(userID: ByteView, hash: UInt64) {
        let capacity = UserState.roundUp(
            UserState.headerSize + 2 * MemoryLayout<TimelineEntry>.stride + 3 * 40 + userID.count)
        block = .allocate(byteCount: capacity, alignment: 16)
        block.initializeMemory(
            as: Header.self,
            to: Header(
                capacity: UInt32(capacity), heapUsed: 0, entryCount: 0, pendingCount: 0,
                userIDLength: UInt32(userID.count),
                lastExternal: 0, nextFold: 0, historyCount: 0, userHash: hash, folded: nil, memoryBytes: 0, turn: 0))
        _ = store(userID)
    }

    /// The state behind a handle that was given out by `handle`.
    @inline(__always) public init(handle: UnsafeMutableRawPointer) { block = handle }

    /// The state as one pointer, for tables. Changes whenever the state moves.
    public var handle: UnsafeMutableRawPointer { block }

    /// Gives the memory back.
    public func deallocate() {
        header.pointee.folded?.deallocate()
        block.deallocate()
    }

    /// `user_id`.
    public var userID: ByteView {
        text(at: header.pointee.userIDLength, length: Int(header.pointee.userIDLength))
    }
    /// The hash that the user was created with.
    public var userHash: UInt64 { header.pointee.userHash }
    /// Entries in order, without the pending ones.
    public var entries: UnsafeMutableBufferPointer<TimelineEntry> {
        .init(start: entryBase, count: Int(header.pointee.entryCount))
    }
    /// Entries that came since the last `adopt`, in the order of arrival.
    public var pending: UnsafeMutableBufferPointer<TimelineEntry> {
        .init(start: entryBase + Int(header.pointee.entryCount), count: Int(header.pointee.pendingCount))
    }
    /// Whether there are pending entries.
    public var isDirty: Bool { header.pointee.pendingCount > 0 }
    /// Bytes of memory that the user takes.
    public var byteCount: Int {
        let folded = header.pointee.folded == nil ? 0 : foldedSize
        return Int(header.pointee.capacity) + folded
    }
    /// Watermark from which folding is worth trying again; the caller's to set.
    public var nextFold: UInt32 {
        get { header.pointee.nextFold }
        nonmutating set { header.pointee.nextFold = newValue }
    }

    /// When the user was worked on last, by its table's count of turns; the caller's to set. A new user has 0.
    public var turn: UInt32 {
        get { header.pointee.turn }
        nonmutating set { header.pointee.turn = newValue }
    }

    private var entryBase: UnsafeMutablePointer<TimelineEntry> {
        (block + UserState.headerSize).assumingMemoryBound(to: TimelineEntry.self)
    }

    /// Where the next event of the user goes, and its texts: what an append touches beside the beginning of the block.
    @inline(__always)
    public var placesOfNext: (entry: UnsafeRawPointer, texts: UnsafeRawPointer) {
        let count = Int(header.pointee.entryCount + header.pointee.pendingCount)
        let heap = block + Int(header.pointee.capacity) - Int(header.pointee.heapUsed)
        return (UnsafeRawPointer(entryBase + count), UnsafeRawPointer(heap))
    }

    // MARK: Texts

    /// The bytes of a place in the heap; valid until the state moves.
    @inline(__always)
    public func text(at place: UInt32, length: Int) -> ByteView {
        ByteView(
            start: UnsafePointer(
                (block + Int(header.pointee.capacity) - Int(place)).assumingMemoryBound(to: UInt8.self)),
            count: length)
    }

    /// The bytes of a place that carries its own length.
    public func prefixedText(at place: UInt32) -> ByteView {
        guard place != 0 else { return .null }
        let base = block + Int(header.pointee.capacity) - Int(place)
        let length = Int(base.loadUnaligned(as: UInt16.self))
        return ByteView(start: UnsafePointer((base + 2).assumingMemoryBound(to: UInt8.self)), count: length)
    }

    /// The `id` of an entry of this user.
    @inline(__always)
    public func id(of entry: TimelineEntry) -> ByteView { text(at: entry.idOffset, length: Int(entry.idLength)) }

    /// The `session_id` of a session.
    public func sessionID(of entry: TimelineEntry) -> ByteView { prefixedText(at: entry.payload) }

    /// The `external_user_id` that an entry carried.
    public func externalID(of entry: TimelineEntry) -> ByteView { prefixedText(at: entry.external) }

    /// Order of events (`spec/attribution.md` section 1, "order").
    public func isBefore(_ left: TimelineEntry, _ right: TimelineEntry) -> Bool {
        if left.time != right.time { return left.time < right.time }
        let (leftRank, rightRank) = (left.type.rank, right.type.rank)
        if leftRank != rightRank { return leftRank < rightRank }
        return ByteView.compare(id(of: left), id(of: right)) < 0
    }

    private func store(_ view: ByteView) -> UInt32 {
        header.pointee.heapUsed += UInt32(view.count)
        let place = header.pointee.heapUsed
        if let start = view.start {
            (block + Int(header.pointee.capacity) - Int(place)).copyMemory(from: start, byteCount: view.count)
        }
        return place
    }

    private func storePrefixed(_ view: ByteView) -> UInt32 {
        _ = store(view)
        header.pointee.heapUsed += 2
        let place = header.pointee.heapUsed
        (block + Int(header.pointee.capacity) - Int(place)).storeBytes(of: UInt16(view.count), as: UInt16.self)
        return place
    }

    // MARK: Adding events

    /// Adds an event behind the pending ones. Texts are copied.
    public mutating func append(_ event: borrowing Event, vocabulary: Vocabulary) {
        let texts =
            event.id.count + (event.type.isSession ? event.sessionID.count + 2 : 0) + event.externalUserID.count + 2
        reserve(MemoryLayout<TimelineEntry>.stride + texts)
        let idOffset = store(event.id)
        var external = UInt32(0)
        if !event.externalUserID.isNull {
            if prefixedText(at: header.pointee.lastExternal) == event.externalUserID {
                external = header.pointee.lastExternal
            } else {
                external = storePrefixed(event.externalUserID)
                header.pointee.lastExternal = external
            }
        }
        var flags = TimelineEntry.Flags(rawValue: event.conversionIndex & TimelineEntry.Flags.conversionIndexBits)
        if event.isInControlGroup { flags.insert(.inControlGroup) }
        let payload = payload(of: event, vocabulary: vocabulary, flags: &flags)
        // Other channels are counted by message alone.
        var device: UInt64 = 0
        var link: UInt64 = 0
        if event.type.isSession {
            device = event.deviceID.hash64
            link = event.sessionID.hash64
        } else if event.type.isPush {
            device = event.deviceID.hash64
            link = event.dispatchID.hash64
        }
        let position = Int(header.pointee.entryCount + header.pointee.pendingCount)
        (entryBase + position).initialize(
            to: TimelineEntry(
                time: event.time, type: event.type, flags: flags, platform: vocabulary.internLowercase(event.platform),
                app: vocabulary.strings.intern(event.appID), label: vocabulary.label(event.labels), payload: payload,
                device: device, link: link, idOffset: idOffset, idLength: UInt16(event.id.count),
                external: external))
        header.pointee.pendingCount += 1
    }

    private func payload(
        of event: borrowing Event, vocabulary: Vocabulary, flags: inout TimelineEntry.Flags
    ) -> UInt32 {
        switch event.type {
        case .firstSession, .sessionStart:
            return storePrefixed(event.sessionID)
        case .pushOpen:
            guard !event.buttonActionType.isNull else {
                flags.insert(.bodyClick)
                return 0
            }
            if event.buttonActionType.equalsIgnoringCase("close") { flags.insert(.closes) }
            return event.buttonString.isNull
                ? vocabulary.internLowercase(event.buttonActionType) : vocabulary.strings.intern(event.buttonString)
        case .inAppMessageClick, .bannerClick:
            if event.buttonID.isNull { flags.insert(.bodyClick) }
            return vocabulary.strings.intern(event.buttonID)
        default:
            return 0
        }
    }

    /// Replaces entries and pending ones by `entries`, which must be of this user and no more than there were.
    public func adopt(_ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        if let source = entries.baseAddress, entries.count > 0 {
            entryBase.update(from: source, count: entries.count)
        }
        header.pointee.entryCount = UInt32(entries.count)
        header.pointee.pendingCount = 0
    }

    private mutating func reserve(_ additional: Int) {
        let count = Int(header.pointee.entryCount + header.pointee.pendingCount)
        let used = UserState.headerSize + count * MemoryLayout<TimelineEntry>.stride + Int(header.pointee.heapUsed)
        guard used + additional > Int(header.pointee.capacity) else { return }
        move(to: UserState.roundUp(max(used + additional, used + used / 2)))
    }

    private mutating func move(to capacity: Int) {
        let count = Int(header.pointee.entryCount + header.pointee.pendingCount)
        let front = UserState.headerSize + count * MemoryLayout<TimelineEntry>.stride
        let heap = Int(header.pointee.heapUsed)
        let target = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        target.copyMemory(from: block, byteCount: front)
        (target + capacity - heap).copyMemory(from: block + Int(header.pointee.capacity) - heap, byteCount: heap)
        block.deallocate()
        block = target
        header.pointee.capacity = UInt32(capacity)
    }

    static func roundUp(_ bytes: Int) -> Int { (bytes + 31) & ~31 }

    // MARK: Folding

    /// Session history of folded app opens, by app and month in order.
    public var history: UnsafeBufferPointer<MonthHistory> {
        guard let folded = header.pointee.folded else { return .init(start: nil, count: 0) }
        return .init(start: folded.assumingMemoryBound(to: MonthHistory.self), count: Int(header.pointee.historyCount))
    }

    /// What the report remembers of folded outcomes; its meaning is the report's.
    public var memory: UnsafeRawBufferPointer {
        guard let folded = header.pointee.folded else { return .init(start: nil, count: 0) }
        let offset = Int(header.pointee.historyCount) * MemoryLayout<MonthHistory>.stride
        return .init(start: folded + offset, count: Int(header.pointee.memoryBytes))
    }

    private var foldedSize: Int {
        Int(header.pointee.historyCount) * MemoryLayout<MonthHistory>.stride + Int(header.pointee.memoryBytes)
    }

    /// Whether nothing is left that could ever matter.
    public var isEmpty: Bool {
        header.pointee.entryCount == 0 && header.pointee.pendingCount == 0 && header.pointee.folded == nil
    }

    /// Replaces what is folded.
    public func replaceFolded(history: UnsafeMutableBufferPointer<MonthHistory>, memory: UnsafeRawBufferPointer) {
        replaceFolded(historyBytes: UnsafeRawBufferPointer(history), memory: memory)
    }

    /// As above, with the memory of the months of history, aligned or not.
    public func replaceFolded(historyBytes history: UnsafeRawBufferPointer, memory: UnsafeRawBufferPointer) {
        header.pointee.folded?.deallocate()
        header.pointee.historyCount = UInt32(history.count / MemoryLayout<MonthHistory>.stride)
        header.pointee.memoryBytes = UInt32(memory.count)
        guard foldedSize > 0 else {
            header.pointee.folded = nil
            return
        }
        let folded = UnsafeMutableRawPointer.allocate(byteCount: foldedSize, alignment: 8)
        let offset = history.count
        if let source = history.baseAddress, offset > 0 { folded.copyMemory(from: source, byteCount: offset) }
        if let source = memory.baseAddress, memory.count > 0 {
            (folded + offset).copyMemory(from: source, byteCount: memory.count)
        }
        header.pointee.folded = folded
    }

    /// Keeps only `kept` (entries of this user, in order) and their texts, in a block that fits.
    public mutating func rebuild(keeping kept: UnsafeMutableBufferPointer<TimelineEntry>) {
        var heap = userID.count
        for entry in kept {
            heap += Int(entry.idLength)
            if entry.type.isSession { heap += sessionID(of: entry).count + 2 }
            heap += entry.external == 0 ? 0 : externalID(of: entry).count + 2
        }
        let old = self
        let stride = MemoryLayout<TimelineEntry>.stride
        let capacity = UserState.roundUp(UserState.headerSize + kept.count * stride + heap)
        block = .allocate(byteCount: capacity, alignment: 16)
        block.copyMemory(from: old.block, byteCount: UserState.headerSize)
        header.pointee.capacity = UInt32(capacity)
        header.pointee.heapUsed = 0
        header.pointee.lastExternal = 0
        header.pointee.entryCount = UInt32(kept.count)
        header.pointee.pendingCount = 0
        _ = store(old.userID)
        for (index, var entry) in kept.enumerated() {
            let external = old.externalID(of: entry)
            if entry.external != 0 {
                if prefixedText(at: header.pointee.lastExternal) != external {
                    header.pointee.lastExternal = storePrefixed(external)
                }
                entry.external = header.pointee.lastExternal
            }
            if entry.type.isSession { entry.payload = storePrefixed(old.sessionID(of: entry)) }
            entry.idOffset = store(old.id(of: entry))
            (entryBase + index).initialize(to: entry)
        }
        old.block.deallocate()
    }
}

extension ByteView {
    static func != (left: ByteView, right: ByteView) -> Bool { !(left == right) }

    /// Whether the bytes spell `text`, an ASCII word in lower case, in whatever case.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let start else { return false }
        for index in 0..<count {
            let byte = start[index]
            let lower = byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte
            if lower != text.utf8Start[index] { return false }
        }
        return true
    }
}
