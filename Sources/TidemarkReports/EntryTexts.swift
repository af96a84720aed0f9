internal import TidemarkAttribution
internal import TidemarkEvents

// The texts of an entry, written and read the same in chunks and in packed users.

extension ChunkBuffer {
    /// Writes an id.
    ///
    /// - Parameter uuid: the part that says that it is a packed UUID.
    /// - Returns: that part, or nothing.
    @inline(__always)
    mutating func id(_ view: ByteView, _ uuid: UInt8) -> UInt8 {
        if self.uuid(view) { return uuid }
        text(view)
        return 0
    }

    /// Writes the external id of an entry, unless it is the last one again.
    ///
    /// - Parameter last: the place of the external id of this user that was written last.
    /// - Returns: the part that says how.
    @inline(__always)
    mutating func externalID(of entry: TimelineEntry, _ state: UserState, last: inout UInt32) -> UInt8 {
        guard entry.external != 0 else { return 0 }
        if entry.external == last { return StateChunk.Parts.same << StateChunk.Parts.externalShift }
        text(state.externalID(of: entry))
        last = entry.external
        return StateChunk.Parts.new << StateChunk.Parts.externalShift
    }
}

extension UserStateBuilder {
    /// Reads the id of an entry, and the session id with the link, which is its hash.
    @inline(__always)
    mutating func readIDs(
        _ parts: UInt8, isSession: Bool, of entry: inout TimelineEntry, _ reader: inout BinaryReader
    ) throws(BinaryReader.Damaged) {
        let id = try parts & StateChunk.Parts.uuid != 0 ? PackedView(uuid: &reader) : PackedView(&reader)
        id.unpack(into: addID(length: id.length, to: &entry))
        guard isSession else { return }
        let session = try parts & StateChunk.Parts.sessionUUID != 0 ? PackedView(uuid: &reader) : PackedView(&reader)
        let bytes = addSessionID(length: session.length, to: &entry)
        session.unpack(into: bytes)
        entry.link = ByteView(start: bytes, count: session.length).hash64
    }

    /// Reads the external id of an entry, where it has one.
    @inline(__always)
    mutating func readExternalID(
        _ parts: UInt8, of entry: inout TimelineEntry, _ reader: inout BinaryReader
    ) throws(BinaryReader.Damaged) {
        switch parts >> StateChunk.Parts.externalShift & 3 {
        case StateChunk.Parts.none: break
        case StateChunk.Parts.same: shareExternalID(with: &entry)
        case StateChunk.Parts.new:
            let id = try PackedView(&reader)
            id.unpack(into: addExternalID(length: id.length))
            shareExternalID(with: &entry)
        default: throw BinaryReader.Damaged()
        }
    }
}
