/// The session history of one user's apps while its timeline is walked in order: what the personal window follows from
/// (`spec/attribution.md` section 4).
struct AppHistories {
    private struct Month: BitwiseCopyable {
        var history: MonthHistory
        /// The month before of the same app; -1 is none.
        var previous: Int32
    }

    private struct App: BitwiseCopyable {
        var app: UInt32
        var lastMonth: Int32
    }

    /// As many apps as are looked through sooner than hashed.
    private static let fewApps = 8

    private var months = Scratch<Month>()
    private var apps = Scratch<App>()
    /// Slots of apps beyond the first few.
    private var furtherSlots = ScratchMap()
    private var room = 0

    /// Starts a user, with what is folded of its sessions.
    ///
    /// - Parameter events: the greatest number of times that an app will be asked for.
    mutating func reset(history: UnsafeBufferPointer<MonthHistory>, events: Int) {
        months.removeAll()
        apps.removeAll()
        room = history.count + events
        for month in history { append(month, to: slot(of: month.app)) }
    }

    /// Takes the next app open in order.
    mutating func add(app: UInt32, time: UInt32, merge: Int64) {
        let slot = slot(of: app)
        let month = UTCMonth.of(time)
        let last = Int(apps[slot].lastMonth)
        if last >= 0, months[last].history.month == month {
            months.base[last].history.add(time, merge: merge)
        } else {
            append(MonthHistory(app: app, month: month, count: 1, first: time, last: time), to: slot)
        }
    }

    /// W of a Send, in seconds, from the app opens taken so far, which are those before it.
    mutating func window(app: UInt32, time: UInt32, rules: AttributionRules) -> Double {
        let fixed = Double(rules.fixedWindow)
        if rules.windowPolicy == .fixed { return fixed }
        let oldest = UTCMonth.of(time) - Int32(rules.historyMonths - 1)
        // In a step of its own, because a new app may move `apps`.
        let slot = slot(of: app)
        var index = apps[slot].lastMonth
        var count: UInt64 = 0
        var first: UInt32 = 0
        var last: UInt32 = 0
        while index >= 0, months[Int(index)].history.month >= oldest {
            let month = months[Int(index)].history
            if count == 0 { last = month.last }
            first = month.first
            count += UInt64(month.count)
            index = months[Int(index)].previous
        }
        guard count >= 2 else { return fixed }
        let gap = Double(last - first) / Double(count - 1)
        let personal = min(rules.windowFactor * gap, Double(rules.windowCap))
        return rules.windowPolicy == .longer ? max(fixed, personal) : min(fixed, personal)
    }

    func deallocate() {
        months.deallocate()
        apps.deallocate()
        furtherSlots.deallocate()
    }

    private mutating func append(_ month: MonthHistory, to slot: Int) {
        let number = Int32(months.count)
        months.append(Month(history: month, previous: apps[slot].lastMonth))
        apps.base[slot].lastMonth = number
    }

    private mutating func slot(of app: UInt32) -> Int {
        for slot in 0..<min(apps.count, AppHistories.fewApps) where apps[slot].app == app { return slot }
        if apps.count >= AppHistories.fewApps {
            if apps.count == AppHistories.fewApps { furtherSlots.reset(for: room) }
            let key = ScratchMap.Key(link: UInt64(app), first: 0, second: 0)
            let known = furtherSlots.value(key)
            if known >= 0 { return Int(known) }
            _ = furtherSlots.exchange(key, Int32(apps.count))
        }
        apps.append(App(app: app, lastMonth: -1))
        return apps.count - 1
    }
}
