public import TidemarkAttribution

/// The current sums of rows: what a report is (`spec/reports.md` section 1). One thread.
///
/// Campaign rows follow from message rows by addition, but for distinct users, which have changes of their own.
public final class RowStore {
    /// The keys of the rows, in order of first touch; also of rows that are all zero by now.
    public private(set) var keys: [RowKey] = []
    /// The vocabulary that the keys' numbers come from.
    public let vocabulary: Vocabulary

    private var counters: [Int64] = []
    private var buttons: [Int32: [UInt32: Int64]] = [:]
    private var numbers: [RowKey: Int32] = [:]
    private var isChanged: [Bool] = []
    private var changed: [Int32] = []

    /// An empty store.
    public init(vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
    }

    /// Applies changes made with the same vocabulary.
    public func apply(_ deltas: DeltaTable) {
        for (number, key) in deltas.keys.enumerated() {
            let rows = affected(by: key)
            for counter in 0..<Counter.stride {
                let amount = deltas.value(number, counter)
                if amount != 0 { add(amount, counter, key: key, rows: rows) }
            }
        }
        for (place, amount) in deltas.buttons where amount != 0 {
            let rows = affected(by: deltas.keys[Int(place >> 32)])
            addButton(amount, UInt32(truncatingIfNeeded: place), rows: rows)
        }
    }

    /// Applies changes made with another vocabulary.
    public func apply(_ deltas: DeltaTable, madeWith theirs: Vocabulary) {
        let header = DeltaRecord.Header(epoch: 0, task: 0, watermark: 0)
        let record = DeltaRecord.encode(
            Array(deltas.keys.indices), of: deltas, vocabulary: theirs, header: header)
        do {
            try record.withUnsafeBytes { try DeltaRecord.apply($0, to: self) }
        } catch {
            preconditionFailure("what was just encoded cannot be unreadable: \(error)")
        }
    }

    /// The rows that a change of `key` goes to: itself, and for a message row those of its campaign.
    func affected(by key: RowKey) -> (own: Int, day: Int, total: Int) {
        let own = row(key)
        guard key.kind == .messageDay else { return (own, -1, -1) }
        let campaign = vocabulary.campaignOfMessage[Int(key.subject)]
        let day = RowKey(kind: .campaignDay, channel: key.channel, subject: campaign, platform: 0, day: key.day)
        let total = RowKey(
            kind: .campaignTotal, channel: key.channel, subject: campaign, platform: 0, day: RowKey.noDay)
        return (own, row(day), row(total))
    }

    /// Adds to a counter of a row and of those that follow from it.
    func add(_ amount: Int64, _ counter: Int, key: RowKey, rows: (own: Int, day: Int, total: Int)) {
        add(amount, counter, to: rows.own)
        guard key.kind == .messageDay, !Counter.isUnique(counter, key.channel) else { return }
        add(amount, counter, to: rows.day)
        if key.channel == .push, counter >= Counter.Push.bouncesBySendTime { return }
        add(amount, counter, to: rows.total)
    }

    /// Adds to the clicks of a button of a row and of those that follow from it.
    func addButton(_ amount: Int64, _ button: UInt32, rows: (own: Int, day: Int, total: Int)) {
        for row in [rows.own, rows.day, rows.total] where row >= 0 {
            markChanged(row)
            let sum = (buttons[Int32(row)]?[button] ?? 0) + amount
            if sum == 0 {
                buttons[Int32(row)]?[button] = nil
                if buttons[Int32(row)]?.isEmpty == true { buttons[Int32(row)] = nil }
            } else {
                buttons[Int32(row), default: [:]][button] = sum
            }
        }
    }

    /// Sets a counter of a row alone, as read from a published record; campaign rows do not follow, and nothing is marked as changed.
    public func restore(_ row: Int, counter: Int, to value: Int64) { counters[row * Counter.stride + counter] = value }

    /// Sets all counters of a row alone; see above.
    public func restore(_ row: Int, counters values: InlineArray<16, Int64>) {
        for counter in 0..<Counter.stride { counters[row * Counter.stride + counter] = values[counter] }
    }

    /// Sets the clicks of a button of a row alone, as read from a published record.
    public func restore(_ row: Int, button: UInt32, to value: Int64) {
        guard value != 0 else { return }
        buttons[Int32(row), default: [:]][button] = value
    }

    /// Brings all metrics of a row alone back to zero, as a tombstone or a newer version of it asks for; nothing is marked as changed.
    public func clear(_ row: Int) {
        for counter in 0..<Counter.stride { counters[row * Counter.stride + counter] = 0 }
        buttons[Int32(row)] = nil
    }

    /// The number of a key's row, `nil` if it was never touched.
    public func knownRow(_ key: RowKey) -> Int? { numbers[key].map(Int.init) }

    /// The number of a key's row, a new one if it was not touched before.
    public func row(_ key: RowKey) -> Int {
        if let known = numbers[key] { return Int(known) }
        let number = keys.count
        numbers[key] = Int32(number)
        keys.append(key)
        counters.append(contentsOf: repeatElement(0, count: Counter.stride))
        isChanged.append(false)
        return number
    }

    /// The value of a metric's source in a row; 0 for `buttonClicks`.
    public func value(_ row: Int, _ source: Metric.Source) -> Int64 {
        let base = row * Counter.stride
        switch source {
        case .counter(let counter): return counters[base + counter]
        case .difference(let left, let right): return counters[base + left] - counters[base + right]
        case .sum(let left, let right): return counters[base + left] + counters[base + right]
        case .buttonClicks: return 0
        }
    }

    /// The clicks by button of a row: numbers of buttons and counts, none of them zero, in no order.
    public func buttonClicks(_ row: Int) -> [UInt32: Int64] { buttons[Int32(row)] ?? [:] }

    /// Whether the row exists: one of its metrics is not zero.
    public func exists(_ row: Int) -> Bool {
        if buttons[Int32(row)] != nil { return true }
        let base = row * Counter.stride
        for counter in 0..<Counter.stride where counters[base + counter] != 0 { return true }
        return false
    }

    /// Marks a row as changed though its sums are not, because a name of it is.
    public func markChanged(_ row: Int) {
        guard !isChanged[row] else { return }
        isChanged[row] = true
        changed.append(Int32(row))
    }

    /// The rows that changed since the last call.
    public func takeChanges() -> [Int] {
        defer { changed.removeAll(keepingCapacity: true) }
        for row in changed { isChanged[Int(row)] = false }
        return changed.map(Int.init)
    }

    private func add(_ amount: Int64, _ counter: Int, to row: Int) {
        counters[row * Counter.stride + counter] += amount
        markChanged(row)
    }
}
