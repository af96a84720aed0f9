internal import TidemarkAttribution

/// One thing that a user did that counts for distinct users, or, folded, that was counted and must not be counted again.
struct Match: BitwiseCopyable {
    /// Number of the message, and of its campaign.
    var message, campaign: UInt32
    /// Number of the platform of the row.
    var platform: UInt32
    /// When, and on which day of the report.
    var time: UInt32
    var day: Int32
    var channel: Channel
    /// See `UniqueKinds`.
    var bits: UInt8
}

/// What a user's state remembers of folded outcomes, so that distinct users stay right (`spec/reports.md` section 2):
/// *marks* for day rows that can still change, and *bases*, the last folded time per campaign, channel and kind, for totals.
///
/// As bytes: the number of marks, the marks, then the bases.
struct UniqueMemory: ~Copyable {
    /// The last folded match of a campaign, channel and kind of distinct user.
    struct Base: BitwiseCopyable {
        var campaign: UInt32
        var time: UInt32
        var channel: Channel
        var bit: UInt8

        /// What bases are of and in order of: campaign, channel, kind of distinct user.
        var kind: UInt64 { Base.kind(campaign: campaign, channel: channel, bit: bit) }

        static func kind(campaign: UInt32, channel: Channel, bit: UInt8) -> UInt64 {
            UInt64(campaign) << 32 | UInt64(channel.rawValue) << 8 | UInt64(bit)
        }
    }

    var marks = Scratch<Match>()
    /// In order of their kinds once loaded.
    var bases = Scratch<Base>()

    deinit {
        marks.deallocate()
        bases.deallocate()
    }

    /// Forgets everything and keeps the room.
    mutating func removeAll() {
        marks.removeAll()
        bases.removeAll()
    }

    /// Replaces the content by what a user's state holds.
    mutating func load(_ bytes: UnsafeRawBufferPointer) {
        removeAll()
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        let count = Int(start.loadUnaligned(as: UInt32.self))
        var place = start + 4
        for _ in 0..<count {
            marks.append(place.loadUnaligned(as: Match.self))
            place += MemoryLayout<Match>.stride
        }
        var isSorted = true
        while place < start + bytes.count {
            let base = place.loadUnaligned(as: Base.self)
            if bases.count > 0, bases[bases.count - 1].kind > base.kind { isSorted = false }
            bases.append(base)
            place += MemoryLayout<Base>.stride
        }
        // Campaigns have other numbers once a user was restored.
        if !isSorted { sortBases() }
    }

    private mutating func sortBases() {
        var sorted = bases.elements
        sorted.sort { $0.kind < $1.kind }
    }

    /// Moves marks that no day row needs into the bases, and drops bases that no later match can be near to.
    ///
    /// - Parameters:
    ///   - limit: no match before this time can appear or vanish any more.
    ///   - retention: `report.unique_retention`, seconds.
    mutating func compact(limit: UInt32, days: DayTable, retention: Int64) {
        let firstDay = days.day(of: limit)
        var kept = 0
        for index in 0..<marks.count {
            let mark = marks[index]
            if mark.day < firstDay {
                raise(mark)
            } else {
                marks[kept] = mark
                kept += 1
            }
        }
        marks.truncate(to: kept)
        mergeBases(limit: limit, retention: retention)
    }

    private mutating func raise(_ mark: Match) {
        for bit in 0..<UInt8(UniqueKinds.count(mark.channel)) where mark.bits & (1 << bit) != 0 {
            bases.append(Base(campaign: mark.campaign, time: mark.time, channel: mark.channel, bit: bit))
        }
    }

    /// Leaves the latest base of each kind, if it is not too old.
    private mutating func mergeBases(limit: UInt32, retention: Int64) {
        sortBases()
        var kept = 0
        for index in 0..<bases.count where Int64(bases[index].time) + retention >= Int64(limit) {
            let base = bases[index]
            if kept > 0, bases[kept - 1].kind == base.kind {
                bases.base[kept - 1].time = max(bases[kept - 1].time, base.time)
            } else {
                bases[kept] = base
                kept += 1
            }
        }
        bases.truncate(to: kept)
    }

    /// The last folded match; `nil` where there is none.
    func lastTime(campaign: UInt32, channel: Channel, bit: UInt8) -> UInt32? {
        let kind = Base.kind(campaign: campaign, channel: channel, bit: bit)
        var low = 0
        var high = bases.count
        while low < high {
            let middle = (low + high) / 2
            if bases[middle].kind < kind { low = middle + 1 } else { high = middle }
        }
        return low < bases.count && bases[low].kind == kind ? bases[low].time : nil
    }

    /// The content as bytes; empty where there is nothing to remember.
    func store(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        guard marks.count > 0 || bases.count > 0 else { return }
        withUnsafeBytes(of: UInt32(marks.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: UnsafeRawBufferPointer(marks.elements))
        bytes.append(contentsOf: UnsafeRawBufferPointer(bases.elements))
    }
}
