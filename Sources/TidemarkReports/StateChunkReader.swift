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
            let tables = try Tables(&reader, vocabulary)
            for _ in 0..<(try reader.number(Int.self)) {
                users.append(try user(&reader, tables))
                guard isOurs(users[users.count - 1].userHash) else { throw BinaryReader.Damaged() }
            }
            guard reader.isAtEnd else { throw BinaryReader.Damaged() }
        } catch {
            for user in users { user.deallocate() }
            throw Unreadable("a state chunk is damaged")
        }
        return users
    }

    /// What the places of a chunk mean in the reader's vocabulary.
    private struct Tables {
        var texts: [UInt32] = [0]
        var labels: [UInt32] = [0]
        var messages: [UInt32] = [0]
        var campaigns: [UInt32] = [0]
        let vocabulary: Vocabulary

        init(_ reader: inout BinaryReader, _ vocabulary: Vocabulary) throws(BinaryReader.Damaged) {
            self.vocabulary = vocabulary
            for _ in 0..<(try reader.number(Int.self)) { texts.append(vocabulary.strings.intern(try reader.text())) }
            for _ in 0..<(try reader.number(Int.self)) { labels.append(try label(&reader)) }
            for _ in 0..<(try reader.number(Int.self)) {
                var key = MessageKey()
                key.campaign = try text(&reader)
                key.messageVariation = try text(&reader)
                key.canvas = try text(&reader)
                key.canvasVariation = try text(&reader)
                key.canvasStep = try text(&reader)
                messages.append(vocabulary.message(key))
            }
            for _ in 0..<(try reader.number(Int.self)) {
                var key = CampaignKey()
                key.campaign = try text(&reader)
                key.canvas = try text(&reader)
                key.canvasStep = try text(&reader)
                campaigns.append(vocabulary.campaign(key))
            }
        }

        private func label(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UInt32 {
            var labels = MessageLabels()
            for kind in NamedID.allCases {
                let id = vocabulary.strings[try text(&reader)]
                let name = vocabulary.strings[try text(&reader)]
                labels.set(kind, id: id, name: name)
            }
            return vocabulary.label(labels)
        }

        func text(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UInt32 {
            try Tables.number(&reader, texts)
        }

        static func number(_ reader: inout BinaryReader, _ table: [UInt32]) throws(BinaryReader.Damaged) -> UInt32 {
            let place: Int = try reader.number()
            guard place < table.count else { throw BinaryReader.Damaged() }
            return table[place]
        }
    }

    private static func user(_ reader: inout BinaryReader, _ tables: Tables) throws(BinaryReader.Damaged) -> UserState {
        let id = try reader.text()
        var state = UserState(userID: id, hash: id.hash64)
        do throws(BinaryReader.Damaged) {
            state.nextFold = try reader.number()
            try readEntries(&reader, tables, into: &state)
            try readFolded(&reader, tables, into: state)
        } catch {
            state.deallocate()
            throw error
        }
        return state
    }

    private static func readEntries(
        _ reader: inout BinaryReader, _ tables: Tables, into state: inout UserState
    ) throws(BinaryReader.Damaged) {
        var time: Int64 = 0
        var external = ByteView.null
        for _ in 0..<(try reader.number(Int.self)) {
            time += try reader.signed()
            guard let exact = UInt32(exactly: time), let type = EventType(rawValue: try reader.byte()) else {
                throw BinaryReader.Damaged()
            }
            let flags = TimelineEntry.Flags(rawValue: try reader.byte())
            let parts = try reader.byte()
            let id = try reader.text()
            let platform = try tables.text(&reader)
            let app = try tables.text(&reader)
            let label = try Tables.number(&reader, tables.labels)
            let session = type.isSession ? try reader.text() : .null
            let payload = type.isSession ? 0 : try tables.text(&reader)
            let device = parts & Parts.device != 0 ? try reader.fixed() : 0
            var link = type.isSession ? session.hash64 : 0
            if parts & Parts.link != 0, !type.isSession { link = try reader.fixed() }
            if parts & Parts.external != 0 { external = try reader.text() }
            let hasExternal = parts & (Parts.external | Parts.sameExternal) != 0
            let entry = TimelineEntry(
                time: exact, type: type, flags: flags, platform: platform, app: app, label: label, payload: payload,
                device: device, link: link)
            state.restore(entry, id: id, sessionID: session, externalID: hasExternal ? external : .null)
        }
    }

    private static func readFolded(
        _ reader: inout BinaryReader, _ tables: Tables, into state: UserState
    ) throws(BinaryReader.Damaged) {
        var history: [MonthHistory] = []
        for _ in 0..<(try reader.number(Int.self)) {
            let app = try tables.text(&reader)
            let month = Int32(truncatingIfNeeded: try reader.signed())
            let count: UInt32 = try reader.number()
            let first: UInt32 = try reader.number()
            let length: UInt32 = try reader.number()
            history.append(MonthHistory(app: app, month: month, count: count, first: first, last: first &+ length))
        }
        // In the order of the reader's numbers, as folding keeps it.
        history.sort { ($0.app, $0.month) < ($1.app, $1.month) }
        var memory = UniqueMemory()
        for _ in 0..<(try reader.number(Int.self)) {
            let message = try Tables.number(&reader, tables.messages)
            let platform = try tables.text(&reader)
            let time: UInt32 = try reader.number()
            let day = Int32(truncatingIfNeeded: try reader.signed())
            guard let channel = Channel(rawValue: try reader.byte()) else { throw BinaryReader.Damaged() }
            memory.marks.append(
                Match(
                    message: message, campaign: tables.vocabulary.campaignOfMessage[Int(message)], platform: platform,
                    time: time, day: day, channel: channel, bits: try reader.byte()))
        }
        for _ in 0..<(try reader.number(Int.self)) {
            let campaign = try Tables.number(&reader, tables.campaigns)
            let time: UInt32 = try reader.number()
            guard let channel = Channel(rawValue: try reader.byte()) else { throw BinaryReader.Damaged() }
            memory.bases.append(
                UniqueMemory.Base(campaign: campaign, time: time, channel: channel, bit: try reader.byte()))
        }
        var bytes: [UInt8] = []
        memory.store(into: &bytes)
        history.withUnsafeMutableBufferPointer { history in
            bytes.withUnsafeBytes { state.replaceFolded(history: history, memory: $0) }
        }
    }
}

extension MessageLabels {
    /// Sets the id and the name of a kind.
    mutating func set(_ kind: NamedID, id: ByteView, name: ByteView) {
        switch kind {
        case .campaign: (campaignID, campaignName) = (id, name)
        case .messageVariation: (messageVariationID, messageVariationName) = (id, name)
        case .canvas: (canvasID, canvasName) = (id, name)
        case .canvasVariation: (canvasVariationID, canvasVariationName) = (id, name)
        case .canvasStep: (canvasStepID, canvasStepName) = (id, name)
        }
    }
}
