public import TidemarkAttribution
internal import TidemarkEvents

/// The states of some users as bytes that another process can read: what checkpoints are made of.
///
/// Numbers of a vocabulary mean nothing elsewhere, so a chunk begins with the texts, label sets, messages and campaigns that its users
/// use, and users refer to these by their place. Times are differences; all numbers have variable length.
public enum StateChunk {
    /// Version of the encoding; a reader refuses others.
    public static let version: UInt8 = 1

    /// A chunk that cannot be read.
    public struct Unreadable: Error, Equatable, CustomStringConvertible {
        /// What is wrong.
        public let description: String
        /// An error that says what is wrong.
        public init(_ description: String) { self.description = description }
    }

    /// Flags of an entry on the wire.
    enum Parts {
        static let device: UInt8 = 1
        static let link: UInt8 = 2
        static let external: UInt8 = 4
        /// The external id is that of the entry before that had one.
        static let sameExternal: UInt8 = 8
    }
}

/// Packs users into a chunk.
public struct StateChunkWriter {
    private let vocabulary: Vocabulary
    private var body = BinaryWriter()
    private var count = 0
    private var texts = PlaceTable()
    private var labels = PlaceTable()
    private var messages = PlaceTable()
    private var campaigns = PlaceTable()

    /// A writer of users of one task.
    public init(vocabulary: Vocabulary) { self.vocabulary = vocabulary }

    /// Bytes of users so far.
    public var byteCount: Int { body.bytes.count }

    /// Adds a user, which must have no pending entries.
    public mutating func append(_ state: UserState) {
        precondition(!state.isDirty, "a user with pending events cannot be written")
        count += 1
        body.text(state.userID)
        body.unsigned(UInt64(state.nextFold))
        appendEntries(of: state)
        appendHistory(of: state)
        appendMemory(of: state)
    }

    /// The whole chunk.
    public func finish() -> [UInt8] {
        var head = BinaryWriter()
        head.byte(StateChunk.version)
        var texts = texts
        var tables = BinaryWriter()
        writeTables(&tables, &texts)
        head.unsigned(UInt64(texts.numbers.count))
        for number in texts.numbers { head.text(vocabulary.strings[number]) }
        var counted = BinaryWriter()
        counted.unsigned(UInt64(count))
        return head.bytes + tables.bytes + counted.bytes + body.bytes
    }

    private func writeTables(_ tables: inout BinaryWriter, _ texts: inout PlaceTable) {
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
    }

    private mutating func appendEntries(of state: UserState) {
        let entries = state.entries
        body.unsigned(UInt64(entries.count))
        var time: UInt32 = 0
        var external: UInt32 = 0
        for entry in entries {
            body.signed(Int64(entry.time) - Int64(time))
            time = entry.time
            body.byte(entry.type.rawValue)
            body.byte(entry.flags.rawValue)
            var parts: UInt8 = 0
            if entry.device != 0 { parts |= StateChunk.Parts.device }
            if entry.link != 0 { parts |= StateChunk.Parts.link }
            if entry.external != 0 {
                parts |= entry.external == external ? StateChunk.Parts.sameExternal : StateChunk.Parts.external
            }
            body.byte(parts)
            body.text(state.id(of: entry))
            body.unsigned(texts.place(of: entry.platform))
            body.unsigned(texts.place(of: entry.app))
            body.unsigned(labels.place(of: entry.label))
            if entry.type.isSession {
                body.text(state.sessionID(of: entry))
            } else {
                body.unsigned(texts.place(of: entry.payload))
            }
            if entry.device != 0 { body.fixed(entry.device) }
            // The link of a session is the hash of its id, which is here.
            if entry.link != 0, !entry.type.isSession { body.fixed(entry.link) }
            if parts & StateChunk.Parts.external != 0 {
                body.text(state.externalID(of: entry))
                external = entry.external
            }
        }
    }

    private mutating func appendHistory(of state: UserState) {
        body.unsigned(UInt64(state.history.count))
        for month in state.history {
            body.unsigned(texts.place(of: month.app))
            body.signed(Int64(month.month))
            body.unsigned(UInt64(month.count))
            body.unsigned(UInt64(month.first))
            body.unsigned(UInt64(month.last - month.first))
        }
    }

    private mutating func appendMemory(of state: UserState) {
        var memory = UniqueMemory()
        memory.load(state.memory)
        body.unsigned(UInt64(memory.marks.count))
        for mark in memory.marks.elements {
            body.unsigned(messages.place(of: mark.message))
            body.unsigned(texts.place(of: mark.platform))
            body.unsigned(UInt64(mark.time))
            body.signed(Int64(mark.day))
            body.byte(mark.channel.rawValue)
            body.byte(mark.bits)
        }
        body.unsigned(UInt64(memory.bases.count))
        for base in memory.bases.elements {
            body.unsigned(campaigns.place(of: base.campaign))
            body.unsigned(UInt64(base.time))
            body.byte(base.channel.rawValue)
            body.byte(base.bit)
        }
    }
}

/// Places of numbers in a chunk's tables, counted from 1; 0 stays 0.
private struct PlaceTable {
    private(set) var numbers: [UInt32] = []
    private var places: [UInt32: UInt64] = [:]
    private var lastNumber: UInt32 = 0
    private var lastPlace: UInt64 = 0

    mutating func place(of number: UInt32) -> UInt64 {
        if number == 0 { return 0 }
        if number == lastNumber { return lastPlace }
        lastNumber = number
        if let place = places[number] {
            lastPlace = place
            return place
        }
        numbers.append(number)
        lastPlace = UInt64(numbers.count)
        places[number] = lastPlace
        return lastPlace
    }
}
