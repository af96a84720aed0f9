internal import TidemarkAttribution
internal import TidemarkEvents

/// What many entries have in common.
struct EntryKind: BitwiseCopyable {
    /// An entry with nothing else in it.
    var entry: TimelineEntry
    var isSession: Bool
    var hasButton: Bool

    init(type: EventType, flags: TimelineEntry.Flags, platform: UInt32, app: UInt32, hasButton: Bool) {
        entry = TimelineEntry(
            time: 0, type: type, flags: flags, platform: platform, app: app, label: 0, payload: 0, device: 0, link: 0)
        isSession = type.isSession
        self.hasButton = hasButton
    }
}

/// The kinds of a task's entries by small numbers.
struct EntryKinds: ~Copyable {
    private var kinds = Scratch<EntryKind>()
    private var places = PlaceTable()
    /// Texts with greater numbers do not fit the key of the table: such an entry has its kind written with it.
    private static let maxNumber: UInt32 = 1 << 23

    deinit { kinds.deallocate() }

    /// Writes the number of an entry's kind, counted from 1; 0 and the kind itself where it has none.
    @inline(__always)
    mutating func write(_ entry: TimelineEntry, hasButton: Bool, to buffer: inout ChunkBuffer) {
        guard entry.platform < EntryKinds.maxNumber, entry.app < EntryKinds.maxNumber else {
            return writeInFull(entry, hasButton: hasButton, to: &buffer)
        }
        let bits = UInt64(entry.type.rawValue) << 9 | UInt64(entry.flags.rawValue) << 1 | (hasButton ? 1 : 0)
        var isNew = false
        // The highest bit keeps the key from being 0.
        let place = places.place(
            of: 1 << 63 | UInt64(entry.platform) << 40 | UInt64(entry.app) << 17 | bits, isNew: &isNew)
        if isNew {
            kinds.append(
                EntryKind(
                    type: entry.type, flags: entry.flags, platform: entry.platform, app: entry.app, hasButton: hasButton
                ))
        }
        buffer.unsigned(UInt64(place))
    }

    @inline(never)
    private func writeInFull(_ entry: TimelineEntry, hasButton: Bool, to buffer: inout ChunkBuffer) {
        buffer.byte(0)
        buffer.byte(entry.type.rawValue | (hasButton ? StateChunk.buttonBit : 0))
        buffer.byte(entry.flags.rawValue)
        buffer.unsigned(UInt64(entry.platform))
        buffer.unsigned(UInt64(entry.app))
    }

    @inline(__always)
    func read(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> EntryKind {
        let place: Int = try reader.number()
        guard place > 0 else { return try readInFull(&reader) }
        guard place <= kinds.count else { throw BinaryReader.Damaged() }
        return kinds[place - 1]
    }

    @inline(never)
    private func readInFull(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> EntryKind {
        let typeByte = try reader.byte()
        guard let type = EventType(rawValue: typeByte & ~StateChunk.buttonBit) else { throw BinaryReader.Damaged() }
        return EntryKind(
            type: type, flags: TimelineEntry.Flags(rawValue: try reader.byte()), platform: try reader.number(),
            app: try reader.number(), hasButton: typeByte & StateChunk.buttonBit != 0)
    }
}
