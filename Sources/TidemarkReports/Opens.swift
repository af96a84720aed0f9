public import TidemarkAttribution
internal import TidemarkEvents

/// The open records of one outcome of a user (`spec/reports.md` section 4), as keys and fingerprints, so that two outcomes compare cheaply.
struct OpenList: ~Copyable {
    struct Open: BitwiseCopyable {
        /// Identifies the open among those of its user. The id itself for influenced ones, a hash of it for direct ones.
        var high, low: UInt64
        /// A fingerprint of all fields of the record.
        var content: UInt64
        /// The entry of a direct open, the instance of an influenced one.
        var index: Int32
        var isDirect: Bool
    }

    var opens = Scratch<Open>()
    /// Where the external ids of these opens are found.
    private(set) var externals = ExternalIDs()
    private var bytes: [UInt8] = []

    deinit { opens.deallocate() }

    /// Collects the opens of a user, in order of their keys.
    mutating func collect(
        _ entries: UnsafeMutableBufferPointer<TimelineEntry>, of state: UserState, evaluator: Evaluator,
        vocabulary: Vocabulary
    ) {
        opens.removeAll()
        externals.removeAll()
        for index in 0..<entries.count where entries[index].isDirectOpen && !entries[index].isSettled {
            externals.list(entries)
            let (low, high) = state.id(of: entries[index]).hash128
            let details = OpenDetails(
                direct: index, entries, state: state, evaluator: evaluator, vocabulary: vocabulary,
                externals: externals)
            opens.append(
                Open(high: high, low: low, content: details.fingerprint, index: Int32(index), isDirect: true))
        }
        for number in 0..<evaluator.instances.count where evaluator.instances[number].influencedSend >= 0 {
            externals.list(entries)
            let details = OpenDetails(
                influenced: number, entries, state: state, evaluator: evaluator, vocabulary: vocabulary,
                externals: externals)
            let (low, high) = influencedID(number, entries, state: state, evaluator: evaluator, vocabulary: vocabulary)
            opens.append(
                Open(high: high, low: low, content: details.fingerprint, index: Int32(number), isDirect: false))
        }
        var sorted = opens.elements
        sorted.sort { ($0.high, $0.low) < ($1.high, $1.low) }
    }

    /// Identifies an influenced open by user, first Send of the instance and app open: the same in every run.
    private mutating func influencedID(
        _ number: Int, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, state: UserState, evaluator: Evaluator,
        vocabulary: Vocabulary
    ) -> (low: UInt64, high: UInt64) {
        let instance = evaluator.instances[number]
        let appOpen = evaluator.appOpens[Int(instance.influencedBy)]
        bytes.removeAll(keepingCapacity: true)
        let parts = [
            state.userID, state.id(of: entries[Int(instance.firstSend)]), vocabulary.strings[appOpen.app],
            state.sessionID(of: entries[Int(appOpen.entry)]),
        ]
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: UnsafeBufferPointer(start: part.start, count: part.count))
        }
        withUnsafeBytes(of: appOpen.time.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes.withUnsafeBytes { ByteView($0).hash128 }
    }
}

/// The fields of one open record.
struct OpenDetails {
    var isDirect: Bool
    var time: UInt32
    /// Entry of the Open itself, or of the credited Send.
    var subject: TimelineEntry
    /// Number of the platform; 0 is null.
    var platform: UInt32
    /// The first Send of a direct open's instance, or the credited Send; `nil` where there is none.
    var send: TimelineEntry?
    /// The first event of an influenced open's app open.
    var session: TimelineEntry?
    var window = 0.0
    var message: UInt32
    var externalID: ByteView
    /// A fingerprint of all of it.
    var fingerprint: UInt64 = 0

    init(
        direct index: Int, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, state: UserState, evaluator: Evaluator,
        vocabulary: Vocabulary, externals: borrowing ExternalIDs
    ) {
        isDirect = true
        subject = entries[index]
        time = subject.time
        platform = subject.platform
        let owner = evaluator.ownerOf[index]
        if owner >= 0 {
            let instance = evaluator.instances[Int(owner)]
            send = entries[Int(instance.firstSend)]
            if platform == 0 { platform = instance.anyPlatform }
        }
        message = vocabulary.messageOfLabel[Int(subject.label)]
        externalID = externals.id(at: time, entries, state: state, span: evaluator.instanceSpan)
        fingerprint = makeFingerprint(state)
    }

    init(
        influenced number: Int, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, state: UserState,
        evaluator: Evaluator, vocabulary: Vocabulary, externals: borrowing ExternalIDs
    ) {
        let instance = evaluator.instances[number]
        let appOpen = evaluator.appOpens[Int(instance.influencedBy)]
        isDirect = false
        subject = entries[Int(instance.influencedSend)]
        time = appOpen.time
        platform = subject.platform
        send = subject
        session = entries[Int(appOpen.entry)]
        window = evaluator.windowOf[Int(instance.influencedSend)]
        message = instance.message
        externalID = externals.id(at: time, entries, state: state, span: evaluator.instanceSpan)
        fingerprint = makeFingerprint(state)
    }

    private func makeFingerprint(_ state: UserState) -> UInt64 {
        var hash: UInt64 = isDirect ? 1 : 2
        func mix(_ value: UInt64) {
            hash = (hash ^ value) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        mix(UInt64(time))
        mix(UInt64(platform) << 32 | UInt64(message))
        mix(UInt64(subject.app))
        mix(externalID.hash64)
        mix(send.map { state.id(of: $0).hash64 } ?? 0)
        mix(send.map { UInt64($0.time) } ?? .max)
        mix(window.bitPattern)
        return hash
    }
}

/// Changes of a user's open records, as bytes to publish. Filled by a `UserPass`, emptied once per commit; one thread.
public final class OpenChanges {
    /// One record to publish.
    public struct Change: Sendable {
        /// Hash of the user id by which records are partitioned is the publisher's to take; here is the user id's place in `bytes`.
        public var userID: Range<Int>
        /// The record key.
        public var key: Range<Int>
        /// The record, empty for a tombstone.
        public var value: Range<Int>
    }

    /// The records to publish, in order.
    public private(set) var changes: [Change] = []
    /// How records are written; keys are JSON always.
    public var encoding = RecordEncoding.json
    private var json = JSONWriter()
    private var avro = AvroRecordWriter()
    private let vocabulary: Vocabulary
    private let rules: AttributionRules

    /// An empty list.
    public init(vocabulary: Vocabulary, rules: AttributionRules) {
        self.vocabulary = vocabulary
        self.rules = rules
    }

    /// What the ranges of `changes` are places in.
    public var bytes: [UInt8] { json.bytes }

    /// Forgets all changes and keeps the memory.
    public func removeAll() {
        changes.removeAll(keepingCapacity: true)
        json.removeAll()
    }

    /// Adds what changed from one outcome of a user to the next.
    func add(
        from before: borrowing OpenList, to after: borrowing OpenList,
        _ entries: UnsafeMutableBufferPointer<TimelineEntry>,
        state: UserState, evaluator: Evaluator
    ) {
        var old = 0
        var new = 0
        while old < before.opens.count || new < after.opens.count {
            let order: Int
            if old == before.opens.count {
                order = 1
            } else if new == after.opens.count {
                order = -1
            } else {
                let (left, right) = (before.opens[old], after.opens[new])
                order =
                    left.high == right.high
                    ? (left.low == right.low ? 0 : left.low < right.low ? -1 : 1) : left.high < right.high ? -1 : 1
            }
            if order < 0 {
                withdraw(before.opens[old], state)
                old += 1
            } else {
                if order > 0 || before.opens[old].content != after.opens[new].content {
                    publish(after.opens[new], entries, state, evaluator, after.externals)
                }
                old += order == 0 ? 1 : 0
                new += 1
            }
        }
    }

    private func withdraw(_ open: OpenList.Open, _ state: UserState) {
        // Events are never taken back, so only influenced opens vanish.
        precondition(!open.isDirect, "a direct open cannot vanish")
        let user = appendUser(state)
        let start = json.bytes.count
        writeKey(open, id: .null, state)
        let end = json.bytes.count
        changes.append(Change(userID: user, key: start..<end, value: end..<end))
    }

    private func publish(
        _ open: OpenList.Open, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, _ state: UserState,
        _ evaluator: Evaluator, _ externals: borrowing ExternalIDs
    ) {
        let index = Int(open.index)
        let details =
            open.isDirect
            ? OpenDetails(
                direct: index, entries, state: state, evaluator: evaluator, vocabulary: vocabulary,
                externals: externals)
            : OpenDetails(
                influenced: index, entries, state: state, evaluator: evaluator, vocabulary: vocabulary,
                externals: externals)
        let id = open.isDirect ? state.id(of: entries[index]) : .null
        let user = appendUser(state)
        let start = json.bytes.count
        writeKey(open, id: id, state)
        let middle = json.bytes.count
        switch encoding {
        case .json: writeRecord(open, id: id, details, state)
        case .avro(let schemaID): writeAvro(open, id: id, details, state, schemaID)
        }
        changes.append(Change(userID: user, key: start..<middle, value: middle..<json.bytes.count))
    }

    private func appendUser(_ state: UserState) -> Range<Int> {
        let start = json.bytes.count
        json.append(state.userID)
        return start..<json.bytes.count
    }

    private func writeID(_ open: OpenList.Open, id: ByteView) {
        if open.isDirect { json.string(id) } else { json.uuid(high: open.high, low: open.low) }
    }

    private func writeKey(_ open: OpenList.Open, id: ByteView, _ state: UserState) {
        json.raw("[")
        json.string(state.userID)
        json.raw(",")
        writeID(open, id: id)
        json.raw("]")
    }

    /// Writes a record in Avro of the schema `schemas/avro/open.avsc`.
    private func writeAvro(
        _ open: OpenList.Open, id: ByteView, _ details: OpenDetails, _ state: UserState, _ schemaID: UInt32
    ) {
        let strings = vocabulary.strings
        let ids = vocabulary.messages[Int(details.message)]
        avro.removeAll()
        avro.begin(schemaID: schemaID)
        avro.string(details.isDirect ? "direct" : "influenced")
        if open.isDirect { avro.string(id) } else { avro.string(JSONWriter.uuid(high: open.high, low: open.low)) }
        avro.string("users.messages.pushnotification." + (details.isDirect ? "Open" : "InfluencedOpen"))
        avro.string(state.userID)
        avro.optional(details.externalID)
        for id in [ids.campaign, ids.messageVariation, ids.canvas, ids.canvasVariation, ids.canvasStep] {
            avro.optional(strings[id])
        }
        avro.optional(strings[details.subject.app])
        avro.optional(strings[details.platform])
        avro.integer(Int64(details.time))
        if let send = details.send {
            avro.present()
            avro.integer(Int64(send.time))
        } else {
            avro.null()
        }
        avro.optional(details.send.map { state.id(of: $0) } ?? .null)
        avro.optional(details.session.map { state.sessionID(of: $0) } ?? .null)
        if details.isDirect {
            avro.null()
            avro.null()
        } else {
            avro.present()
            avro.number(details.window)
            avro.present()
            avro.string(rules.creditModel.rawValue)
        }
        avro.bytes.withUnsafeBytes { json.append(ByteView($0)) }
    }

    private func writeRecord(_ open: OpenList.Open, id: ByteView, _ details: OpenDetails, _ state: UserState) {
        let strings = vocabulary.strings
        let ids = vocabulary.messages[Int(details.message)]
        json.raw(details.isDirect ? "{\"kind\":\"direct\",\"id\":" : "{\"kind\":\"influenced\",\"id\":")
        writeID(open, id: id)
        json.raw(",\"event_type\":\"users.messages.pushnotification.")
        json.raw(details.isDirect ? "Open\",\"user_id\":" : "InfluencedOpen\",\"user_id\":")
        json.string(state.userID)
        field(",\"external_user_id\":", details.externalID)
        field(",\"campaign_id\":", strings[ids.campaign])
        field(",\"message_variation_id\":", strings[ids.messageVariation])
        field(",\"canvas_id\":", strings[ids.canvas])
        field(",\"canvas_variation_id\":", strings[ids.canvasVariation])
        field(",\"canvas_step_id\":", strings[ids.canvasStep])
        field(",\"app_id\":", strings[details.subject.app])
        field(",\"platform\":", strings[details.platform])
        json.raw(",\"time\":")
        json.integer(Int64(details.time))
        json.raw(",\"send_time\":")
        if let send = details.send { json.integer(Int64(send.time)) } else { json.raw("null") }
        field(",\"send_event_id\":", details.send.map { state.id(of: $0) } ?? .null)
        field(",\"session_id\":", details.session.map { state.sessionID(of: $0) } ?? .null)
        json.raw(",\"window_seconds\":")
        if details.isDirect { json.raw("null") } else { json.number(details.window) }
        json.raw(",\"model\":")
        if details.isDirect { json.raw("null") } else { json.string(rules.creditModel.rawValue) }
        json.raw("}")

        func field(_ name: StaticString, _ value: ByteView) {
            json.raw(name)
            json.string(value)
        }
    }
}
