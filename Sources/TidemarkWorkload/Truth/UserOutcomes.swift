/// An influenced open: an app open that one Send is credited with.
struct InfluencedOpen {
    /// The place of the Send's instance among the user's instances.
    let instance: Int
    /// The credited Send.
    let send: PlainEvent
    let open: AppOpen
    /// W of the credited Send, in seconds.
    let window: Double
}

/// What the attribution rules say about the events of one user, from the whole set of them.
struct UserOutcomes {
    /// The accepted events in order.
    let events: [PlainEvent]
    let instances: Instances
    /// The influenced opens in order of their app opens.
    let influenced: [InfluencedOpen]

    /// - Parameter accepted: the accepted events of one user, in any order.
    init(of accepted: [PlainEvent], settings: PlainSettings) {
        events = accepted.sorted { $0.order < $1.order }
        instances = Instances(of: events, settings: settings)
        let credit = Credit(events: events, instances: instances, settings: settings)
        var seen: Set<Int> = []
        var influenced: [InfluencedOpen] = []
        // App opens come in order, so the first that touches an instance is its earliest.
        for open in credit.opens {
            for touch in credit.touches(of: open)
            where !instances.all[touch.instance].hasDirectOpen && seen.insert(touch.instance).inserted {
                influenced.append(touch)
            }
        }
        self.influenced = influenced
    }
}

/// Which instances each app open touches (section 5 of the attribution rules).
private struct Credit {
    let opens: [AppOpen]
    private let instances: Instances
    private let settings: PlainSettings
    private let windows: Windows
    /// The Sends of each app, in order.
    private var sends: [Text?: [PlainEvent]] = [:]
    /// The direct opens of each app, in order.
    private var direct: [Text?: [PlainEvent]] = [:]

    init(events: [PlainEvent], instances: Instances, settings: PlainSettings) {
        self.instances = instances
        self.settings = settings
        opens = AppOpens(of: events, settings: settings).all
        windows = Windows(of: opens, settings: settings)
        for event in events {
            if event.type == .pushSend { sends[event.app, default: []].append(event) }
            if event.isDirectOpen { direct[event.app, default: []].append(event) }
        }
    }

    /// The instances that an app open touches, each with the Send that it takes of it, latest first.
    func touches(of open: AppOpen) -> [InfluencedOpen] {
        if isDirectBorn(open) { return [] }
        var touched: [InfluencedOpen] = []
        for send in candidates(for: open).reversed() {
            if touched.count == settings.touchLimit { break }
            guard let place = instances.place(of: send), !touched.contains(where: { $0.instance == place }),
                let window = windowIfReached(open, by: send, of: instances.all[place])
            else { continue }
            touched.append(InfluencedOpen(instance: place, send: send, open: open, window: window))
        }
        return touched
    }

    private func isDirectBorn(_ open: AppOpen) -> Bool {
        let direct = direct[open.app] ?? []
        let begin = direct.firstPlace { $0.time >= open.time - settings.directJoin }
        return direct[begin...].prefix { $0.time <= open.time + settings.directJoin }
            .contains { compatible($0.device, open.device) }
    }

    /// The Sends on the app that no window can be too short for; no window is longer than the reach.
    private func candidates(for open: AppOpen) -> ArraySlice<PlainEvent> {
        let sends = sends[open.app] ?? []
        let begin = sends.firstPlace { $0.time >= open.time - settings.reach }
        let end = sends.firstPlace { $0.time > open.time }
        return sends[begin..<end]
    }

    /// The window of the Send if it reaches the app open.
    private func windowIfReached(_ open: AppOpen, by send: PlainEvent, of instance: Instance) -> Double? {
        if send.message.isNone || !compatible(send.device, open.device) || instance.isBlocked(send) { return nil }
        if let platform = send.platform, settings.excludedPlatforms.contains(platform.string) { return nil }
        let window = windows.window(app: send.app, sentAt: send.time)
        return Double(open.time - send.time) < window ? window : nil
    }
}
