/// How long after a Send an app open is influenced by it, from the user's habit on the app (section 4 of the
/// attribution rules).
struct Windows {
    /// The kept starts of each app, in order of time.
    private var kept: [Text?: [Int]] = [:]
    private let settings: PlainSettings

    /// - Parameter opens: the app opens of one user, in order.
    init(of opens: [AppOpen], settings: PlainSettings) {
        self.settings = settings
        for open in opens {
            // A later start decides nothing about an earlier one, so the kept starts of a month can be picked once
            // and cut off at each Send's time.
            if let last = kept[open.app]?.last, UTCDate.month(of: last) == UTCDate.month(of: open.time),
                open.time - last < settings.sessionMerge
            {
                continue
            }
            kept[open.app, default: []].append(open.time)
        }
    }

    /// The window W of a Send on an app, in seconds.
    func window(app: Text?, sentAt time: Int) -> Double {
        let fixed = Double(settings.fixed)
        guard settings.policy != .fixed, let personal = personal(app: app, sentAt: time) else { return fixed }
        return settings.policy == .longer ? max(fixed, personal) : min(fixed, personal)
    }

    private func personal(app: Text?, sentAt time: Int) -> Double? {
        let starts = kept[app] ?? []
        let oldest = UTCDate.month(of: time) - (settings.months - 1)
        let begin = starts.firstPlace { UTCDate.month(of: $0) >= oldest }
        let end = starts.firstPlace { $0 >= time }
        guard end - begin >= 2 else { return nil }
        let gap = Double(starts[end - 1] - starts[begin]) / Double(end - begin - 1)
        return min(settings.factor * gap, Double(settings.cap))
    }
}

extension Array {
    /// The place of the first element that passes a test which every later element passes too; `count` if none does.
    func firstPlace(where passes: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if passes(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
