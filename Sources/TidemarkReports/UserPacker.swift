public import TidemarkAttribution
public import TidemarkEvents

/// Packs the users of one task, and unpacks them again. Holds working memory, and what many entries have in common; one thread.
///
/// An entry is its kind (`EntryKinds`), a byte of `StateChunk.Parts`, the time since the entry before, its ids, label, button, device, link and
/// external id: written as in a `StateChunk`, but each user by itself and with the numbers of the task.
public struct UserPacker: ~Copyable {
    private var buffer = ChunkBuffer(capacity: 4 << 10)
    private var builder = UserStateBuilder()
    private var kinds = EntryKinds()
    private var devices = RecentValues()
    private var links = RecentValues()
    private var text = Scratch<UInt8>(capacity: 256)

    /// A packer that has seen no users.
    public init() {}

    deinit { text.deallocate() }

    // MARK: Packing

    /// A packed copy of a user, which must have no pending entries.
    ///
    /// - Parameter horizon: no event before this time will be accepted any more, seconds since the epoch. The ids of earlier entries go, unless the
    ///   reports name them: they are kept only to find duplicates (`spec/attribution.md` section 2).
    public mutating func pack(_ state: UserState, horizon: Int64) -> PackedUser {
        precondition(!state.isDirty, "a user with pending events cannot be packed")
        begin(state)
        let isFolded = !state.history.isEmpty || !state.memory.isEmpty
        buffer.unsigned(UInt64(state.entries.count) << 1 | (isFolded ? 1 : 0))
        var time: UInt32 = 0
        var external: UInt32 = 0
        for entry in state.entries {
            append(entry, of: state, after: time, external: &external, horizon: horizon)
            time = entry.time
        }
        if isFolded { appendFolded(of: state) }
        return PackedUser(hash: state.userHash, nextFold: state.nextFold, contents: buffer.bytes)
    }

    /// Packs what came of a user so far, to be put together with what comes later (`join`): its events in the order in which they came, pending
    /// ones included, with all their ids. Nothing of it may be folded.
    ///
    /// - Parameter body: gets the bytes, which are gone afterwards.
    public mutating func withPiece<Failure>(
        of state: UserState, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(state.history.isEmpty && state.memory.isEmpty, "a user that is folded has no pieces")
        begin(state)
        buffer.unsigned(UInt64(state.entries.count + state.pending.count))
        var time: UInt32 = 0
        var external: UInt32 = 0
        for entries in [state.entries, state.pending] {
            for entry in entries {
                // Where the order of arrival goes back in time the difference wraps, which costs bytes and nothing else.
                append(entry, of: state, after: time, external: &external, horizon: .min)
                time = entry.time
            }
        }
        try body(UnsafeRawBufferPointer(buffer.bytes))
    }

    private mutating func begin(_ state: UserState) {
        buffer.removeAll()
        devices.removeAll()
        links.removeAll()
        buffer.text(state.userID)
    }

    @inline(__always)
    private mutating func append(
        _ entry: TimelineEntry, of state: UserState, after time: UInt32, external: inout UInt32, horizon: Int64
    ) {
        let isSession = entry.type.isSession
        let hasButton = !isSession && entry.payload != 0
        kinds.write(entry, hasButton: hasButton, to: &buffer)
        let place = buffer.count
        buffer.byte(0)
        buffer.unsigned(UInt64(entry.time &- time))
        let isNamed = entry.type.isPush || isSession || Int64(entry.time) >= horizon
        var parts = buffer.id(isNamed ? state.id(of: entry) : .null, StateChunk.Parts.uuid)
        if isSession { parts |= buffer.id(state.sessionID(of: entry), StateChunk.Parts.sessionUUID) }
        buffer.unsigned(UInt64(entry.label))
        if hasButton { buffer.unsigned(UInt64(entry.payload)) }
        parts |= devices.write(entry.device, to: &buffer) << StateChunk.Parts.deviceShift
        // The link of a session is the hash of its id, which is here.
        if !isSession { parts |= links.write(entry.link, to: &buffer) << StateChunk.Parts.linkShift }
        parts |= buffer.externalID(of: entry, state, last: &external)
        buffer.replaceByte(at: place, by: parts)
    }

    private mutating func appendFolded(of state: UserState) {
        let history = UnsafeRawBufferPointer(state.history)
        buffer.unsigned(UInt64(history.count))
        buffer.raw(history)
        buffer.unsigned(UInt64(state.memory.count))
        buffer.raw(state.memory)
    }

    // MARK: Unpacking

    /// Whether a packed user has this id.
    public mutating func holds(_ packed: PackedUser, userID: ByteView) -> Bool {
        var reader = BinaryReader(packed.contents)
        guard let id = try? PackedView(&reader) else { return false }
        guard id.length == userID.count else { return false }
        text.resize(to: id.length)
        id.unpack(into: text.base)
        return ByteView(start: text.base, count: id.length) == userID
    }

    /// The user as it was, but for the ids that packing let go; the packed one stays the caller's.
    ///
    /// - Parameter room: bytes for what is added soon.
    public mutating func unpack(_ packed: PackedUser, room: Int = 0) -> UserState {
        do throws(BinaryReader.Damaged) {
            var reader = BinaryReader(packed.contents)
            return try read(&reader, packed, room)
        } catch {
            preconditionFailure("a packed user is damaged")
        }
    }

    /// Whether pieces are of the same user. A text is packed in one way only, so that the ids need no unpacking.
    public static func areOfOneUser(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        var reader = BinaryReader(left)
        guard (try? PackedView(&reader)) != nil else { return false }
        return right.starts(with: left[..<(left.count - reader.remaining)])
    }

    /// The user that pieces are of, with all its events pending, in the order of the pieces.
    ///
    /// - Parameters:
    ///   - pieces: what `withPiece` of this packer gave, one at least; all of one user.
    ///   - hash: the hash of its id.
    public mutating func join(_ pieces: [UnsafeRawBufferPointer], hash: UInt64) -> UserState {
        do throws(BinaryReader.Damaged) {
            for (place, piece) in pieces.enumerated() {
                var reader = BinaryReader(piece)
                let id = try PackedView(&reader)
                if place == 0 { id.unpack(into: builder.begin(userIDLength: id.length)) }
                devices.removeAll()
                links.removeAll()
                var time: UInt32 = 0
                for _ in 0..<(try reader.number(Int.self)) { try readEntry(&time, &reader) }
            }
            return builder.finish(hash: hash, nextFold: 0, isPending: true)
        } catch {
            preconditionFailure("a piece of a user is damaged")
        }
    }

    private mutating func read(
        _ reader: inout BinaryReader, _ packed: PackedUser, _ room: Int
    ) throws(BinaryReader.Damaged) -> UserState {
        devices.removeAll()
        links.removeAll()
        let id = try PackedView(&reader)
        id.unpack(into: builder.begin(userIDLength: id.length))
        let head = try reader.unsigned()
        var time: UInt32 = 0
        for _ in 0..<head >> 1 { try readEntry(&time, &reader) }
        let state = builder.finish(hash: packed.userHash, nextFold: packed.nextFold, room: room)
        guard head & 1 != 0 else { return state }
        let historySize: Int = try reader.number()
        let history = try reader.take(historySize)
        let memorySize: Int = try reader.number()
        let memory = try reader.take(memorySize)
        state.replaceFolded(
            historyBytes: UnsafeRawBufferPointer(start: history, count: historySize),
            memory: UnsafeRawBufferPointer(start: memory, count: memorySize))
        return state
    }

    @inline(__always)
    private mutating func readEntry(_ time: inout UInt32, _ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        let kind = try kinds.read(&reader)
        var entry = kind.entry
        let parts = try reader.byte()
        time &+= try reader.number()
        entry.time = time
        try builder.readIDs(parts, isSession: kind.isSession, of: &entry, &reader)
        entry.label = try reader.number()
        if kind.hasButton { entry.payload = try reader.number() }
        entry.device = try devices.read(parts >> StateChunk.Parts.deviceShift & 3, &reader)
        if !kind.isSession { entry.link = try links.read(parts >> StateChunk.Parts.linkShift & 3, &reader) }
        try builder.readExternalID(parts, of: &entry, &reader)
        builder.append(entry)
    }
}
