internal import TidemarkAttribution
internal import TidemarkEvents

/// What the places of a chunk mean in the reader's vocabulary.
struct StateChunkTables: ~Copyable {
    private var texts = Scratch<UInt32>()
    private var labels = Scratch<UInt32>()
    private var messages = Scratch<UInt32>()
    private var campaigns = Scratch<UInt32>()
    private var kinds = Scratch<EntryKind>()
    private let vocabulary: Vocabulary

    init(_ reader: inout BinaryReader, _ vocabulary: Vocabulary) throws(BinaryReader.Damaged) {
        self.vocabulary = vocabulary
        try readTexts(&reader)
        try readLabels(&reader)
        try readMessages(&reader)
        try readCampaigns(&reader)
        try readKinds(&reader)
    }

    deinit {
        texts.deallocate()
        labels.deallocate()
        messages.deallocate()
        campaigns.deallocate()
        kinds.deallocate()
    }

    // MARK: Reading places

    @inline(__always)
    func text(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UInt32 {
        try StateChunkTables.number(&reader, texts)
    }

    @inline(__always)
    func label(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UInt32 {
        try StateChunkTables.number(&reader, labels)
    }

    func campaign(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UInt32 {
        try StateChunkTables.number(&reader, campaigns)
    }

    func message(
        _ reader: inout BinaryReader
    ) throws(BinaryReader.Damaged) -> (message: UInt32, campaign: UInt32) {
        let message = try StateChunkTables.number(&reader, messages)
        return (message, vocabulary.campaignOfMessage[Int(message)])
    }

    @inline(__always)
    func kind(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> EntryKind {
        let place: Int = try reader.number()
        guard place < kinds.count else { throw BinaryReader.Damaged() }
        return kinds[place]
    }

    @inline(__always)
    private static func number(
        _ reader: inout BinaryReader, _ table: Scratch<UInt32>
    ) throws(BinaryReader.Damaged) -> UInt32 {
        let place: Int = try reader.number()
        guard place < table.count else { throw BinaryReader.Damaged() }
        return table[place]
    }

    // MARK: Reading tables

    private mutating func readTexts(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        var bytes = [UInt8](repeating: 0, count: 256)
        texts.append(0)
        for _ in 0..<(try reader.number(Int.self)) {
            let view = try PackedView(&reader)
            if view.length > bytes.count { bytes = Array(repeating: 0, count: 2 * view.length) }
            let number = bytes.withUnsafeMutableBufferPointer { buffer in
                guard let target = buffer.baseAddress, view.length > 0 else { return UInt32(0) }
                view.unpack(into: target)
                return vocabulary.strings.intern(ByteView(start: target, count: view.length))
            }
            texts.append(number)
        }
    }

    private mutating func readLabels(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        labels.append(0)
        for _ in 0..<(try reader.number(Int.self)) {
            var set = MessageLabels()
            for kind in NamedID.allCases {
                let id = vocabulary.strings[try text(&reader)]
                let name = vocabulary.strings[try text(&reader)]
                set.set(kind, id: id, name: name)
            }
            labels.append(vocabulary.label(set))
        }
    }

    private mutating func readMessages(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        messages.append(0)
        for _ in 0..<(try reader.number(Int.self)) {
            var key = MessageKey()
            key.campaign = try text(&reader)
            key.messageVariation = try text(&reader)
            key.canvas = try text(&reader)
            key.canvasVariation = try text(&reader)
            key.canvasStep = try text(&reader)
            messages.append(vocabulary.message(key))
        }
    }

    private mutating func readCampaigns(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        campaigns.append(0)
        for _ in 0..<(try reader.number(Int.self)) {
            var key = CampaignKey()
            key.campaign = try text(&reader)
            key.canvas = try text(&reader)
            key.canvasStep = try text(&reader)
            campaigns.append(vocabulary.campaign(key))
        }
    }

    private mutating func readKinds(_ reader: inout BinaryReader) throws(BinaryReader.Damaged) {
        for _ in 0..<(try reader.number(Int.self)) {
            let typeByte = try reader.byte()
            guard let type = EventType(rawValue: typeByte & ~StateChunk.buttonBit) else { throw BinaryReader.Damaged() }
            let flags = TimelineEntry.Flags(rawValue: try reader.byte())
            let platform = try text(&reader)
            let app = try text(&reader)
            kinds.append(
                EntryKind(
                    type: type, flags: flags, platform: platform, app: app,
                    hasButton: typeByte & StateChunk.buttonBit != 0))
        }
    }
}

extension MessageLabels {
    /// Sets the id and the name of a kind.
    fileprivate mutating func set(_ kind: NamedID, id: ByteView, name: ByteView) {
        switch kind {
        case .campaign: (campaignID, campaignName) = (id, name)
        case .messageVariation: (messageVariationID, messageVariationName) = (id, name)
        case .canvas: (canvasID, canvasName) = (id, name)
        case .canvasVariation: (canvasVariationID, canvasVariationName) = (id, name)
        case .canvasStep: (canvasStepID, canvasStepName) = (id, name)
        }
    }
}
