public import TidemarkEvents

/// The ids of a message: those of its canvas when it has one, else those of its campaign, else none
/// (`spec/attribution.md` section 1, "message"). Numbers of the vocabulary's strings, 0 being null.
public struct MessageKey: Hashable, Sendable {
    /// `campaign_id`.
    public var campaign: UInt32 = 0
    /// `message_variation_id`.
    public var messageVariation: UInt32 = 0
    /// `canvas_id`.
    public var canvas: UInt32 = 0
    /// `canvas_variation_id`.
    public var canvasVariation: UInt32 = 0
    /// `canvas_step_id`.
    public var canvasStep: UInt32 = 0

    /// The key without ids: unattributed.
    public init() {}
}

/// Which rows a message adds up to: a campaign, or a canvas and step (`spec/reports.md` section 1, `campaign_day`).
public struct CampaignKey: Hashable, Sendable {
    /// `campaign_id`.
    public var campaign: UInt32 = 0
    /// `canvas_id`.
    public var canvas: UInt32 = 0
    /// `canvas_step_id`.
    public var canvasStep: UInt32 = 0

    /// The key without ids: unattributed.
    public init() {}
}

/// The five kinds of id that have a name (`spec/reports.md` section 3).
public enum NamedID: UInt8, CaseIterable, Sendable {
    case campaign, messageVariation, canvas, canvasVariation, canvasStep
}

/// Numbers for everything that many users share: apps, platforms, buttons, messages, campaigns. One per task; one thread.
///
/// A *label set* is all that an event says about its message: the five ids, raw, and the five names. Few are distinct, so
/// that one look-up per event yields message, campaign and names.
public final class Vocabulary {
    /// What a label set means.
    public struct LabelSet: Sendable {
        /// The message; 0 is none.
        public var message: UInt32
        /// The number of the id of each kind, in the order of `NamedID`; 0 is null.
        public var ids: InlineArray<5, UInt32>
        /// The number of the name given to each of them; 0 is null.
        public var names: InlineArray<5, UInt32>
        /// Whether any id has a name.
        public var hasNames: Bool
    }

    /// Apps, platforms, buttons, ids and names.
    public let strings = StringTable()
    /// Label sets by number; number 0 is the one with nothing in it.
    public private(set) var labelSets: [LabelSet] = []
    /// The message of each label set, apart so that the hot loop touches little memory.
    public private(set) var messageOfLabel: [UInt32] = []
    /// Messages by number; number 0 is none.
    public private(set) var messages: [MessageKey] = [MessageKey()]
    /// The campaign of each message.
    public private(set) var campaignOfMessage: [UInt32] = [0]
    /// Campaigns by number; number 0 is none.
    public private(set) var campaigns: [CampaignKey] = [CampaignKey()]

    private var messageNumbers: [MessageKey: UInt32] = [MessageKey(): 0]
    private var campaignNumbers: [CampaignKey: UInt32] = [CampaignKey(): 0]
    private var labelHashes: [UInt64] = []
    private var labelSlots = [UInt32](repeating: .max, count: 256)
    private var excluded: Set<UInt32>
    private var lowercase: [UInt8] = []

    /// A vocabulary with nothing in it but the excluded platforms of the rules.
    public init(excludedPlatforms: Set<String>) {
        excluded = []
        for platform in excludedPlatforms.sorted() { excluded.insert(strings.intern(platform)) }
        _ = label(MessageLabels())
    }

    /// Whether Sends to this platform influence nothing (`spec/attribution.md` section 5, rule 2).
    public func isExcluded(platform: UInt32) -> Bool {
        platform != 0 && excluded.contains(platform)
    }

    /// The number of a text that compares without case: that of its lower-case form.
    public func internLowercase(_ view: ByteView) -> UInt32 {
        guard let start = view.start, view.count > 0 else { return 0 }
        let bytes = UnsafeBufferPointer(start: start, count: view.count)
        guard bytes.contains(where: { $0 >= 0x41 && $0 <= 0x5A || $0 >= 0x80 }) else { return strings.intern(view) }
        if bytes.contains(where: { $0 >= 0x80 }) {
            return strings.intern(String(decoding: bytes, as: UTF8.self).lowercased())
        }
        lowercase.removeAll(keepingCapacity: true)
        for byte in bytes { lowercase.append(byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte) }
        return lowercase.withUnsafeBytes { strings.intern(ByteView($0)) }
    }

    /// The number of a label set.
    public func label(_ labels: borrowing MessageLabels) -> UInt32 {
        let hash = labels.hash
        let mask = labelSlots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let number = labelSlots[slot]
            if number == .max { return insert(labels, hash: hash, slot: slot) }
            if labelHashes[Int(number)] == hash, holds(labels, number: number) { return number }
            slot = (slot + 1) & mask
        }
    }

    /// The message with these ids.
    public func message(_ key: MessageKey) -> UInt32 {
        if let number = messageNumbers[key] { return number }
        let number = UInt32(messages.count)
        messages.append(key)
        messageNumbers[key] = number
        var campaign = CampaignKey()
        campaign.campaign = key.campaign
        campaign.canvas = key.canvas
        campaign.canvasStep = key.canvasStep
        campaignOfMessage.append(self.campaign(campaign))
        return number
    }

    /// The campaign with these ids.
    public func campaign(_ key: CampaignKey) -> UInt32 {
        if let number = campaignNumbers[key] { return number }
        let number = UInt32(campaigns.count)
        campaigns.append(key)
        campaignNumbers[key] = number
        return number
    }

    private func holds(_ labels: borrowing MessageLabels, number: UInt32) -> Bool {
        let set = labelSets[Int(number)]
        for kind in 0..<5 {
            let (id, name) = labels.pair(kind)
            guard strings[set.ids[kind]] == id, strings[set.names[kind]] == name else { return false }
        }
        return true
    }

    private func insert(_ labels: borrowing MessageLabels, hash: UInt64, slot: Int) -> UInt32 {
        let number = UInt32(labelSets.count)
        var set = LabelSet(message: 0, ids: .init(repeating: 0), names: .init(repeating: 0), hasNames: false)
        for kind in 0..<5 {
            let (id, name) = labels.pair(kind)
            set.ids[kind] = strings.intern(id)
            set.names[kind] = strings.intern(name)
            if set.ids[kind] != 0, set.names[kind] != 0 { set.hasNames = true }
        }
        var key = MessageKey()
        if !labels.canvasID.isNull {
            key.canvas = set.ids[2]
            key.canvasVariation = set.ids[3]
            key.canvasStep = set.ids[4]
        } else if !labels.campaignID.isNull {
            key.campaign = set.ids[0]
            key.messageVariation = set.ids[1]
        }
        set.message = message(key)
        labelSets.append(set)
        messageOfLabel.append(set.message)
        labelHashes.append(hash)
        labelSlots[slot] = number
        if labelSets.count * 2 > labelSlots.count { rehash() }
        return number
    }

    private func rehash() {
        labelSlots = Array(repeating: .max, count: labelSlots.count * 2)
        let mask = labelSlots.count - 1
        for (number, hash) in labelHashes.enumerated() {
            var slot = Int(truncatingIfNeeded: hash) & mask
            while labelSlots[slot] != .max { slot = (slot + 1) & mask }
            labelSlots[slot] = UInt32(number)
        }
    }
}

extension MessageLabels {
    /// The id and the name of a kind, by its raw value.
    @inline(__always)
    func pair(_ kind: Int) -> (id: ByteView, name: ByteView) {
        switch kind {
        case 0: (campaignID, campaignName)
        case 1: (messageVariationID, messageVariationName)
        case 2: (canvasID, canvasName)
        case 3: (canvasVariationID, canvasVariationName)
        default: (canvasStepID, canvasStepName)
        }
    }

    /// One hash over all ten parts; the seed carries the place, so that equal texts in other places differ.
    var hash: UInt64 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        for kind in 0..<5 {
            let (id, name) = pair(kind)
            if !id.isNull { hash = id.hash64(seed: hash &+ UInt64(kind)) }
            if !name.isNull { hash = name.hash64(seed: hash &+ UInt64(kind + 8)) }
        }
        return hash
    }
}
