/// The key of a row, in numbers of a vocabulary (`spec/reports.md` section 1).
public struct RowKey: Hashable, BitwiseCopyable, Sendable {
    /// Number of the message (`message_day`) or of the campaign (the other kinds).
    public var subject: UInt32
    /// Number of the platform; 0 where the kind has none.
    public var platform: UInt32
    /// Days since the epoch in the report's zone; `RowKey.noDay` where the kind has none.
    public var day: Int32
    /// The kind of row.
    public var kind: RowKind
    /// The channel.
    public var channel: Channel

    /// Stands where a kind of row has no day.
    public static let noDay = Int32.min

    /// A key.
    public init(kind: RowKind, channel: Channel, subject: UInt32, platform: UInt32, day: Int32) {
        self.subject = subject
        self.platform = platform
        self.day = day
        self.kind = kind
        self.channel = channel
    }

    @inline(__always)
    var fastHash: UInt64 {
        var hash = UInt64(subject) << 32 | UInt64(UInt32(bitPattern: day))
        hash ^=
            (UInt64(platform) << 16 | UInt64(kind.rawValue) << 8 | UInt64(channel.rawValue)) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 31) &* 0xBF58_476D_1CE4_E5B9
        return hash ^ hash >> 29
    }
}

/// Changes of rows, added up: one per row and counter. Filled by a `Tally`, emptied once per commit; one thread.
public final class DeltaTable {
    /// The keys of the rows touched, in order of first touch.
    public private(set) var keys: [RowKey] = []
    /// Clicks by button: `row << 32 | button` to the change.
    public private(set) var buttons: [UInt64: Int64] = [:]

    private var counters: [Int64] = []
    private var slots = [Int32](repeating: -1, count: 256)
    private var lastKey = RowKey(kind: .messageDay, channel: .push, subject: .max, platform: .max, day: 0)
    private var lastRow = 0

    /// An empty table.
    public init() {}

    /// The row of a key, a new one if it was not touched before.
    @inline(__always)
    public func row(_ key: RowKey) -> Int {
        if key == lastKey { return lastRow }
        let row = find(key)
        lastKey = key
        lastRow = row
        return row
    }

    /// Adds to a counter of a row.
    @inline(__always)
    public func add(_ row: Int, _ counter: Int, _ amount: Int64) {
        counters[row * Counter.stride + counter] += amount
    }

    /// Adds to the clicks of a button.
    public func addButton(_ row: Int, _ button: UInt32, _ amount: Int64) {
        buttons[UInt64(row) << 32 | UInt64(button), default: 0] += amount
    }

    /// The change of a counter of a row.
    public func value(_ row: Int, _ counter: Int) -> Int64 { counters[row * Counter.stride + counter] }

    /// Forgets all changes and keeps the memory.
    public func removeAll() {
        keys.removeAll(keepingCapacity: true)
        counters.removeAll(keepingCapacity: true)
        buttons.removeAll(keepingCapacity: true)
        for index in slots.indices { slots[index] = -1 }
        lastKey.subject = .max
        lastKey.platform = .max
    }

    private func find(_ key: RowKey) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: key.fastHash) & mask
        while slots[slot] >= 0 {
            if keys[Int(slots[slot])] == key { return Int(slots[slot]) }
            slot = (slot + 1) & mask
        }
        let row = keys.count
        slots[slot] = Int32(row)
        keys.append(key)
        counters.append(contentsOf: repeatElement(0, count: Counter.stride))
        if keys.count * 2 > slots.count { rehash() }
        return row
    }

    private func rehash() {
        slots = Array(repeating: -1, count: slots.count * 2)
        let mask = slots.count - 1
        for (row, key) in keys.enumerated() {
            var slot = Int(truncatingIfNeeded: key.fastHash) & mask
            while slots[slot] >= 0 { slot = (slot + 1) & mask }
            slots[slot] = Int32(row)
        }
    }
}
