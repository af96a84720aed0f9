public import TidemarkAttribution
public import TidemarkEvents

/// Which event gave a name: names follow event order, not arrival (`spec/reports.md` section 3).
public struct NameOrder: Equatable, Sendable {
    /// Event time, seconds since the epoch.
    public var time: UInt32
    /// `EventType.rank`.
    public var rank: UInt8
    /// `id` of the event.
    public var eventID: [UInt8]

    /// An order.
    public init(time: UInt32, rank: UInt8, eventID: [UInt8]) {
        self.time = time
        self.rank = rank
        self.eventID = eventID
    }

    /// Negative, zero or positive as this order is before, the same as, or after that of an event.
    @inline(__always)
    func compare(time: UInt32, rank: UInt8, eventID: ByteView) -> Int {
        if self.time != time { return self.time < time ? -1 : 1 }
        if self.rank != rank { return self.rank < rank ? -1 : 1 }
        return self.eventID.withUnsafeBytes { ByteView.compare(ByteView($0), eventID) }
    }
}

/// The names of ids: of each id the one of the last event, by event order, that gave it one; equal order: the greater name by bytes.
///
/// Taking the same names in any order, any number of times, gives the same table. One thread.
public final class NameTable {
    /// What is known of one id.
    public struct Slot: Sendable {
        /// The kind of id.
        public var kind: NamedID
        /// Number of the id.
        public var id: UInt32
        /// Number of the name.
        public var name: UInt32
        /// The event that gave it.
        public var order: NameOrder
        /// Whether name or order changed since `takeChanges`.
        var isChanged = false
    }

    private struct Key: Hashable {
        var kind: NamedID
        var id: UInt32
    }

    /// All ids with a name, in the order of first sight.
    public private(set) var slots: [Slot] = []
    private let vocabulary: Vocabulary
    private var numbers: [Key: Int32] = [:]
    /// Per label set: the slots of its five ids, -2 where not yet looked up, -1 where there is no name.
    private var slotsOfLabel: [InlineArray<5, Int32>] = []
    private var changed: [Int32] = []

    /// An empty table.
    public init(vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
    }

    /// Takes the names that an accepted event gives.
    public func take(label: UInt32, time: UInt32, rank: UInt8, eventID: ByteView) {
        while slotsOfLabel.count <= Int(label) { slotsOfLabel.append(.init(repeating: -2)) }
        if slotsOfLabel[Int(label)][0] == -2 { resolve(label) }
        for kind in 0..<5 {
            let slot = slotsOfLabel[Int(label)][kind]
            guard slot >= 0 else { continue }
            offer(
                slot: Int(slot), name: vocabulary.labelSets[Int(label)].names[kind], time: time, rank: rank,
                eventID: eventID)
        }
    }

    /// Takes a name that another table knew.
    ///
    /// - Returns: Whether the id's name is another one now.
    @discardableResult
    public func take(kind: NamedID, id: UInt32, name: UInt32, order: NameOrder) -> Bool {
        order.eventID.withUnsafeBytes {
            take(kind: kind, id: id, name: name, time: order.time, rank: order.rank, eventID: ByteView($0))
        }
    }

    /// As above, with the parts of the order.
    @discardableResult
    public func take(
        kind: NamedID, id: UInt32, name: UInt32, time: UInt32, rank: UInt8, eventID: ByteView
    ) -> Bool {
        offer(slot: slot(kind, id), name: name, time: time, rank: rank, eventID: eventID)
    }

    /// Takes all names of another table.
    public func take(all other: NameTable, madeWith theirs: Vocabulary) {
        for slot in other.slots {
            take(
                kind: slot.kind, id: vocabulary.strings.intern(theirs.strings[slot.id]),
                name: vocabulary.strings.intern(theirs.strings[slot.name]), order: slot.order)
        }
    }

    /// The number of an id's name; 0 where it has none.
    public func name(_ kind: NamedID, of id: UInt32) -> UInt32 {
        guard id != 0, let slot = numbers[Key(kind: kind, id: id)] else { return 0 }
        return slots[Int(slot)].name
    }

    /// The slots that changed since the last call, in the order of change.
    public func takeChanges() -> [Slot] {
        let result = changed.map { slots[Int($0)] }
        for slot in changed { slots[Int(slot)].isChanged = false }
        changed.removeAll(keepingCapacity: true)
        return result
    }

    private func resolve(_ label: UInt32) {
        let set = vocabulary.labelSets[Int(label)]
        for kind in 0..<5 {
            let isNamed = set.ids[kind] != 0 && set.names[kind] != 0
            slotsOfLabel[Int(label)][kind] = isNamed ? Int32(slot(NamedID(rawValue: UInt8(kind))!, set.ids[kind])) : -1
        }
    }

    private func slot(_ kind: NamedID, _ id: UInt32) -> Int {
        if let known = numbers[Key(kind: kind, id: id)] { return Int(known) }
        let number = slots.count
        numbers[Key(kind: kind, id: id)] = Int32(number)
        slots.append(Slot(kind: kind, id: id, name: 0, order: NameOrder(time: 0, rank: 0, eventID: [])))
        return number
    }

    @discardableResult
    private func offer(slot: Int, name: UInt32, time: UInt32, rank: UInt8, eventID: ByteView) -> Bool {
        let known = slots[slot].name
        if known != 0 {
            let order = slots[slot].order.compare(time: time, rank: rank, eventID: eventID)
            if order > 0 { return false }
            if order == 0, ByteView.compare(vocabulary.strings[known], vocabulary.strings[name]) >= 0 { return false }
        }
        slots[slot].name = name
        slots[slot].order.time = time
        slots[slot].order.rank = rank
        slots[slot].order.eventID.replaceAll(with: eventID)
        if !slots[slot].isChanged {
            slots[slot].isChanged = true
            changed.append(Int32(slot))
        }
        return known != name
    }
}

extension [UInt8] {
    /// Takes over the bytes of a view and keeps the memory.
    mutating func replaceAll(with view: ByteView) {
        removeAll(keepingCapacity: true)
        append(contentsOf: UnsafeBufferPointer(start: view.start, count: view.count))
    }
}
