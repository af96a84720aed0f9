internal import TidemarkEvents

extension Evaluator {
    /// Marks the app opens that a direct open caused (`spec/attribution.md` section 5, rule 1).
    ///
    /// App opens are taken in order, each after all direct opens until `direct_join` after it: of those with a fitting app and device the
    /// latest alone can be near enough.
    func markDirectBorn(_ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        guard directOpens.count > 0 else { return }
        map.reset(for: directOpens.count)
        byDevice.reset(for: directOpens.count)
        var next = 0
        var latest = Int64.min
        for number in 0..<appOpens.count {
            let appOpen = appOpens[number]
            let oldest = Int64(appOpen.time) - join
            while next < directOpens.count {
                let index = directOpens[next]
                let open = entries[Int(index)]
                if Int64(open.time) > Int64(appOpen.time) + join { break }
                next += 1
                // One that is too old for this app open is too old for all that follow.
                guard Int64(open.time) >= oldest else { continue }
                latest = Int64(open.time)
                _ = map.exchange(appKey(open.app), index)
                _ = byDevice.exchange(appKey(open.app, device: open.device), index)
            }
            guard latest >= oldest else { continue }
            let open = latestCompatible(app: appOpen.app, device: appOpen.device)
            if open >= 0, Int64(entries[Int(open)].time) >= oldest { appOpens.base[number].isDirectBorn = true }
        }
    }

    /// The later of the values of the device and of none in `byDevice`; where the device is unknown, the value of the app in `map`.
    private func latestCompatible(app: UInt32, device: UInt64) -> Int32 {
        device == 0
            ? map.value(appKey(app))
            : max(byDevice.value(appKey(app, device: device)), byDevice.value(appKey(app, device: 0)))
    }
}
