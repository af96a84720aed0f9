public import TidemarkAttribution
internal import TidemarkEvents

/// Packs users into a chunk.
public struct StateChunkWriter: ~Copyable {
    private let vocabulary: Vocabulary
    private var body = ChunkBuffer(capacity: 64 << 10)
    private var count = 0
    private var texts = NumberTable()
    private var labels = NumberTable()
    private var messages = NumberTable()
    private var campaigns = NumberTable()
    private var kinds = KindTable()
    private var devices = PlaceTable()
    private var links = PlaceTable()
    private var neighbour = StateChunk.Neighbour()
    private var lastDevice: UInt64 = 0
    private var lastLink: UInt64 = 0
    private var memory = UniqueMemory()

    /// A writer of users of one task.
    public init(vocabulary: Vocabulary) { self.vocabulary = vocabulary }

    /// Adds a user, which must have no pending entries.
    public mutating func append(_ state: UserState) {
        precondition(!state.isDirty, "a user with pending events cannot be written")
        count += 1
        body.text(state.userID)
        body.signed(Int64(state.nextFold) - Int64(neighbour.nextFold))
        neighbour.nextFold = state.nextFold
        let isFolded = !state.history.isEmpty || !state.memory.isEmpty
        body.unsigned(UInt64(state.entries.count) << 1 | (isFolded ? 1 : 0))
        appendEntries(of: state)
        if isFolded {
            appendHistory(of: state)
            appendMemory(of: state)
        }
    }

    /// The whole chunk.
    public consuming func finish() -> [UInt8] {
        var tables = ChunkBuffer(capacity: 16 << 10)
        writeTables(&tables)
        var head = ChunkBuffer(capacity: 16 << 10)
        head.byte(StateChunk.version)
        head.unsigned(UInt64(texts.numbers.count))
        for number in texts.numbers { head.text(vocabulary.strings[number]) }
        tables.unsigned(UInt64(count))
        var chunk: [UInt8] = []
        chunk.reserveCapacity(head.count + tables.count + body.count)
        chunk.append(contentsOf: head.bytes)
        chunk.append(contentsOf: tables.bytes)
        chunk.append(contentsOf: body.bytes)
        return chunk
    }

    private mutating func writeTables(_ tables: inout ChunkBuffer) {
        tables.unsigned(UInt64(labels.numbers.count))
        for number in labels.numbers {
            let set = vocabulary.labelSets[Int(number)]
            for kind in 0..<5 {
                tables.unsigned(texts.place(of: set.ids[kind]))
                tables.unsigned(texts.place(of: set.names[kind]))
            }
        }
        tables.unsigned(UInt64(messages.numbers.count))
        for number in messages.numbers {
            let key = vocabulary.messages[Int(number)]
            for id in [key.campaign, key.messageVariation, key.canvas, key.canvasVariation, key.canvasStep] {
                tables.unsigned(texts.place(of: id))
            }
        }
        tables.unsigned(UInt64(campaigns.numbers.count))
        for number in campaigns.numbers {
            let key = vocabulary.campaigns[Int(number)]
            for id in [key.campaign, key.canvas, key.canvasStep] { tables.unsigned(texts.place(of: id)) }
        }
        tables.unsigned(UInt64(kinds.kinds.count))
        for kind in kinds.kinds {
            tables.byte(kind.type | (kind.hasButton ? StateChunk.buttonBit : 0))
            tables.byte(kind.flags)
            tables.unsigned(kind.platform)
            tables.unsigned(kind.app)
        }
    }

    // MARK: Entries

    private mutating func appendEntries(of state: UserState) {
        var external: UInt32 = 0
        var time = neighbour.time
        for (index, entry) in state.entries.enumerated() {
            if index == 0 {
                body.signed(Int64(entry.time) - Int64(time))
                neighbour.time = entry.time
            } else {
                body.unsigned(UInt64(entry.time &- time))
            }
            time = entry.time
            append(entry, of: state, external: &external)
        }
    }

    @inline(__always)
    private mutating func append(_ entry: TimelineEntry, of state: UserState, external: inout UInt32) {
        let isSession = entry.type.isSession
        let hasButton = !isSession && entry.payload != 0
        body.unsigned(
            kinds.place(
                of: KindTable.Kind(
                    type: entry.type.rawValue, flags: entry.flags.rawValue, hasButton: hasButton,
                    platform: texts.place(of: entry.platform), app: texts.place(of: entry.app))))
        let place = body.count
        body.byte(0)
        var parts = body.id(state.id(of: entry), StateChunk.Parts.uuid)
        if isSession { parts |= body.id(state.sessionID(of: entry), StateChunk.Parts.sessionUUID) }
        body.unsigned(labels.place(of: entry.label))
        if hasButton { body.unsigned(texts.place(of: entry.payload)) }
        parts |= appendDevice(entry.device) << StateChunk.Parts.deviceShift
        // The link of a session is the hash of its id, which is here.
        if !isSession { parts |= appendLink(entry.link) << StateChunk.Parts.linkShift }
        parts |= body.externalID(of: entry, state, last: &external)
        body.replaceByte(at: place, by: parts)
    }

    private mutating func appendDevice(_ device: UInt64) -> UInt8 {
        if device == 0 { return StateChunk.Parts.none }
        if device == lastDevice { return StateChunk.Parts.same }
        lastDevice = device
        var isNew = false
        let place = devices.place(of: device, isNew: &isNew)
        if isNew {
            body.fixed(device)
            return StateChunk.Parts.new
        }
        body.unsigned(UInt64(devices.count) - UInt64(place))
        return StateChunk.Parts.known
    }

    private mutating func appendLink(_ link: UInt64) -> UInt8 {
        if link == 0 { return StateChunk.Parts.none }
        if link == lastLink { return StateChunk.Parts.same }
        lastLink = link
        var isNew = false
        let place = links.place(of: link, isNew: &isNew)
        if isNew {
            body.fixed(link)
            return StateChunk.Parts.new
        }
        body.unsigned(UInt64(place) - 1)
        return StateChunk.Parts.known
    }

    // MARK: What is folded

    private mutating func appendHistory(of state: UserState) {
        body.unsigned(UInt64(state.history.count))
        for month in state.history {
            body.unsigned(texts.place(of: month.app))
            body.signed(Int64(month.month) - Int64(neighbour.month))
            neighbour.month = month.month
            body.unsigned(UInt64(month.count))
            body.signed(Int64(month.first) - Int64(neighbour.time))
            body.unsigned(UInt64(month.last &- month.first))
        }
    }

    private mutating func appendMemory(of state: UserState) {
        memory.load(state.memory)
        body.unsigned(UInt64(memory.marks.count))
        for mark in memory.marks.elements {
            body.unsigned(messages.place(of: mark.message))
            body.unsigned(texts.place(of: mark.platform))
            body.signed(Int64(mark.time) - Int64(neighbour.time))
            body.signed(Int64(mark.day) - Int64(neighbour.day))
            neighbour.day = mark.day
            body.byte(mark.channel.rawValue)
            body.byte(mark.bits)
        }
        body.unsigned(UInt64(memory.bases.count))
        for base in memory.bases.elements {
            body.unsigned(campaigns.place(of: base.campaign))
            body.signed(Int64(base.time) - Int64(neighbour.time))
            body.byte(base.channel.rawValue)
            body.byte(base.bit)
        }
    }
}

/// Numbers of a vocabulary by their places in a chunk.
private struct NumberTable: ~Copyable {
    private(set) var numbers: [UInt32] = []
    private var places = PlaceTable()

    @inline(__always)
    mutating func place(of number: UInt32) -> UInt64 {
        var isNew = false
        let place = places.place(of: UInt64(number), isNew: &isNew)
        if isNew { numbers.append(number) }
        return UInt64(place)
    }
}

/// Kinds of entry by their places, counted from 0: what many entries have in common.
private struct KindTable: ~Copyable {
    struct Kind {
        var type: UInt8
        var flags: UInt8
        var hasButton: Bool
        /// Places of texts.
        var platform: UInt64
        var app: UInt64
    }

    private(set) var kinds: [Kind] = []
    private var places = PlaceTable()

    @inline(__always)
    mutating func place(of kind: Kind) -> UInt64 {
        precondition(kind.platform < 1 << 23 && kind.app < 1 << 23, "a chunk has too many texts")
        let bits = UInt64(kind.type) << 9 | UInt64(kind.flags) << 1 | (kind.hasButton ? 1 : 0)
        var isNew = false
        // The highest bit keeps the value from being 0.
        let place = places.place(of: 1 << 63 | kind.platform << 40 | kind.app << 17 | bits, isNew: &isNew)
        if isNew { kinds.append(kind) }
        return UInt64(place) - 1
    }
}
