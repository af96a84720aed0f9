public import TidemarkAttribution
internal import TidemarkEvents

extension StateChunk {
    /// Reads the users of a chunk, in the reader's own vocabulary.
    ///
    /// - Parameters:
    ///   - bytes: a chunk that `StateChunkWriter` wrote.
    ///   - isOurs: whether the hash of a user's id is one that the chunk can hold.
    /// - Returns: the users; their memory is the caller's.
    public static func read(
        _ bytes: UnsafeRawBufferPointer, vocabulary: Vocabulary, within isOurs: (UInt64) -> Bool = { _ in true }
    ) throws(Unreadable) -> [UserState] {
        guard let version = bytes.first else { throw Unreadable("a state chunk is empty") }
        guard version == StateChunk.version else {
            throw Unreadable("a state chunk has format version \(version), this program reads \(StateChunk.version)")
        }
        var users: [UserState] = []
        do throws(BinaryReader.Damaged) {
            var reader = BinaryReader(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
            var parser = try StateChunkParser(&reader, vocabulary)
            let count: Int = try reader.number()
            users.reserveCapacity(min(count, reader.remaining))
            for _ in 0..<count {
                let user = try parser.user(&reader)
                users.append(user)
                guard isOurs(user.userHash) else { throw BinaryReader.Damaged() }
            }
            guard reader.isAtEnd else { throw BinaryReader.Damaged() }
        } catch {
            for user in users { user.deallocate() }
            throw Unreadable("a state chunk is damaged")
        }
        return users
    }
}

/// Reads users one by one; holds what those read before leave behind for the next.
private struct StateChunkParser: ~Copyable {
    private let tables: StateChunkTables
    private var builder = UserStateBuilder()
    private var neighbour = StateChunk.Neighbour()
    private var devices = Scratch<UInt64>(capacity: 1_024)
    private var links = Scratch<UInt64>(capacity: 1_024)
    private var lastDevice: UInt64 = 0
    private var lastLink: UInt64 = 0
    private var history: [MonthHistory] = []
    private var memory = UniqueMemory()
    private var memoryBytes: [UInt8] = []

    init(_ reader: inout BinaryReader, _ vocabulary: Vocabulary) throws(BinaryReader.Damaged) {
        tables = try StateChunkTables(&reader, vocabulary)
    }

    deinit {
        devices.deallocate()
        links.deallocate()
    }

    mutating func user(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UserState {
        let id = try PackedView(&reader)
        let idBytes = builder.begin(userIDLength: id.length)
        id.unpack(into: idBytes)
        let hash = ByteView(start: idBytes, count: id.length).hash64
        neighbour.nextFold = try near(neighbour.nextFold, &reader)
        let head: UInt64 = try reader.unsigned()
        try readEntries(head >> 1, &reader)
        guard head & 1 != 0 else { return builder.finish(hash: hash, nextFold: neighbour.nextFold) }
        try readHistory(&reader)
        try readMemory(&reader)
        let state = builder.finish(hash: hash, nextFold: neighbour.nextFold)
        history.withUnsafeMutableBufferPointer { history in
            memoryBytes.withUnsafeBytes { state.replaceFolded(history: history, memory: $0) }
        }
        return state
    }

    // MARK: Entries

    @inline(__always)
    private mutating func readEntries(_ count: UInt64, _ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        guard count > 0 else { return }
        var time = try near(neighbour.time, &reader)
        neighbour.time = time
        try readEntry(time, &reader)
        for _ in 1..<count {
            time &+= try reader.number()
            try readEntry(time, &reader)
        }
    }

    @inline(__always)
    private mutating func readEntry(_ time: UInt32, _ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        let kind = try tables.kind(&reader)
        var entry = kind.entry
        entry.time = time
        let parts = try reader.byte()
        try builder.readIDs(parts, isSession: kind.isSession, of: &entry, &reader)
        entry.label = try tables.label(&reader)
        if kind.hasButton { entry.payload = try tables.text(&reader) }
        entry.device = try device(parts >> StateChunk.Parts.deviceShift & 3, &reader)
        if !kind.isSession { entry.link = try link(parts >> StateChunk.Parts.linkShift & 3, &reader) }
        try builder.readExternalID(parts, of: &entry, &reader)
        builder.append(entry)
    }

    @inline(__always)
    private mutating func device(_ how: UInt8, _ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UInt64 {
        switch how {
        case StateChunk.Parts.none: return 0
        case StateChunk.Parts.same: break
        case StateChunk.Parts.new:
            lastDevice = try reader.fixed()
            devices.append(lastDevice)
        default:
            let ago: Int = try reader.number()
            guard ago < devices.count else { throw BinaryReader.Damaged() }
            lastDevice = devices[devices.count - 1 - ago]
        }
        return lastDevice
    }

    @inline(__always)
    private mutating func link(_ how: UInt8, _ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UInt64 {
        switch how {
        case StateChunk.Parts.none: return 0
        case StateChunk.Parts.same: break
        case StateChunk.Parts.new:
            lastLink = try reader.fixed()
            links.append(lastLink)
        default:
            let place: Int = try reader.number()
            guard place < links.count else { throw BinaryReader.Damaged() }
            lastLink = links[place]
        }
        return lastLink
    }

    // MARK: What is folded

    private mutating func readHistory(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        history.removeAll(keepingCapacity: true)
        for _ in 0..<(try reader.number(Int.self)) {
            let app = try tables.text(&reader)
            neighbour.month = try near(neighbour.month, &reader)
            let count: UInt32 = try reader.number()
            let first = try near(neighbour.time, &reader)
            let length: UInt32 = try reader.number()
            history.append(
                MonthHistory(app: app, month: neighbour.month, count: count, first: first, last: first &+ length))
        }
        // In the order of the reader's numbers, as folding keeps it.
        if history.count > 1 { history.sort { ($0.app, $0.month) < ($1.app, $1.month) } }
    }

    private mutating func readMemory(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        memory.removeAll()
        for _ in 0..<(try reader.number(Int.self)) {
            let (message, campaign) = try tables.message(&reader)
            let platform = try tables.text(&reader)
            let time = try near(neighbour.time, &reader)
            neighbour.day = try near(neighbour.day, &reader)
            let channel = try channel(&reader)
            memory.marks.append(
                Match(
                    message: message, campaign: campaign, platform: platform, time: time, day: neighbour.day,
                    channel: channel, bits: try reader.byte()))
        }
        for _ in 0..<(try reader.number(Int.self)) {
            let campaign = try tables.campaign(&reader)
            let time = try near(neighbour.time, &reader)
            let channel = try channel(&reader)
            memory.bases.append(
                UniqueMemory.Base(campaign: campaign, time: time, channel: channel, bit: try reader.byte()))
        }
        memory.store(into: &memoryBytes)
    }

    private func channel(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> Channel {
        guard let channel = Channel(rawValue: try reader.byte()) else { throw BinaryReader.Damaged() }
        return channel
    }

    @inline(__always)
    private func near<Number: FixedWidthInteger>(
        _ other: Number, _ reader: inout BinaryReader
    ) throws(BinaryReader.Damaged) -> Number {
        guard let number = Number(exactly: Int64(other) &+ (try reader.signed())) else { throw BinaryReader.Damaged() }
        return number
    }
}
