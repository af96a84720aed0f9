internal import TidemarkEvents

extension Evaluator {
    /// Lets each app open, in order, touch the instances whose Sends reach it (`spec/attribution.md` section 5, rules 2 to 4).
    func credit(_ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        guard appOpens.count > 0 else { return }
        map.reset(for: entries.count)
        byDevice.reset(for: entries.count)
        previousOnDevice.resize(to: entries.count)
        walk = 0
        hasSendWithoutDevice = false
        let hasOpenWithoutDevice = appOpens.elements.contains { $0.device == 0 }
        // What is sent after the last app open reaches none.
        for index in 0...Int(appOpens[appOpens.count - 1].entry) {
            let entry = entries[index]
            if entry.isSettled { continue }
            if entry.type == .pushSend {
                guard canReach(index, entry) else { continue }
                if entry.device == 0 { hasSendWithoutDevice = true }
                if hasOpenWithoutDevice { previousOf[index] = map.exchange(appKey(entry.app), Int32(index)) }
                previousOnDevice[index] = byDevice.exchange(appKey(entry.app, device: entry.device), Int32(index))
            } else if entry.type.isSession {
                let number = ownerOf[index]
                let appOpen = appOpens[Int(number)]
                guard appOpen.entry == Int32(index), !appOpen.isDirectBorn else { continue }
                touch(number, appOpen, entries)
            }
        }
    }

    /// Whether a Send may reach an app open at all (rule 2, but for time and device).
    @inline(__always)
    private func canReach(_ index: Int, _ entry: TimelineEntry) -> Bool {
        let owner = ownerOf[index]
        let instance = instances[Int(owner)]
        guard instance.message != 0, !vocabulary.isExcluded(platform: entry.platform) else { return false }
        return !instance.hasBlocker || !isBlocked(entry, owner)
    }

    /// Touches, of the Sends that reach an app open, the latest of each instance, until the limit of instances.
    private func touch(_ number: Int32, _ appOpen: AppOpen, _ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        reached.removeAll()
        if appOpen.device == 0 {
            collect(from: &map, appKey(appOpen.app), links: previousOf, time: appOpen.time, entries)
            touch(number, appOpen, middle: reached.count)
        } else {
            let own = appKey(appOpen.app, device: appOpen.device)
            collect(from: &byDevice, own, links: previousOnDevice, time: appOpen.time, entries)
            let middle = reached.count
            if hasSendWithoutDevice {
                let unknown = appKey(appOpen.app, device: 0)
                collect(from: &byDevice, unknown, links: previousOnDevice, time: appOpen.time, entries)
            }
            touch(number, appOpen, middle: middle)
        }
    }

    /// Touches the instances of the Sends in `reached`, which are two lists, either the latest first.
    private func touch(_ number: Int32, _ appOpen: AppOpen, middle: Int) {
        var (first, second) = (0, middle)
        var left = rules.touchLimit
        walk += 1
        while left > 0, first < middle || second < reached.count {
            let send: Int32
            if second == reached.count || first < middle && reached[first] > reached[second] {
                send = reached[first]
                first += 1
            } else {
                send = reached[second]
                second += 1
            }
            let instance = instances.base + Int(ownerOf[Int(send)])
            guard instance.pointee.seenIn != walk else { continue }
            instance.pointee.seenIn = walk
            left -= 1
            if instance.pointee.touchedSend < 0 {
                instance.pointee.touchedSend = send
                instance.pointee.touchedBy = number
            }
        }
    }

    /// Goes back through a chain of Sends and notes in `reached` the latest that reach `time` of each instance, until the limit.
    ///
    /// App opens come in order, so a Send whose window is over, or ends no later than that of a later Send of the same instance, serves none
    /// that follows: it leaves the chain. Each does so once, and so the work of all walks is proportional to Sends and app opens.
    private func collect(
        from chains: inout ScratchMap, _ chain: ScratchMap.Key, links: Scratch<Int32>, time: UInt32,
        _ entries: UnsafeMutableBufferPointer<TimelineEntry>
    ) {
        var send = chains.value(chain)
        var later: Int32 = -1
        var left = rules.touchLimit
        walk += 1
        while send >= 0, left > 0 {
            let previous = links[Int(send)]
            if serves(send, time: time, entries, &left) {
                later = send
            } else if later < 0 {
                _ = chains.exchange(chain, previous)
            } else {
                links[Int(later)] = previous
            }
            send = previous
        }
    }

    /// Notes a Send that a walk comes by; `false` where it may leave the chain.
    @inline(__always)
    private func serves(
        _ send: Int32, time: UInt32, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, _ left: inout Int
    ) -> Bool {
        let index = Int(send)
        guard Double(Int64(time) - Int64(entries[index].time)) < windowOf[index] else { return false }
        let instance = instances.base + Int(ownerOf[index])
        if instance.pointee.seenIn == walk {
            let later = Int(instance.pointee.lastingSend)
            guard windowEnd(index, entries) > windowEnd(later, entries) else { return false }
        } else {
            instance.pointee.seenIn = walk
            reached.append(send)
            left -= 1
        }
        instance.pointee.lastingSend = send
        return true
    }

    /// The first second that a Send does not reach.
    private func windowEnd(_ index: Int, _ entries: UnsafeMutableBufferPointer<TimelineEntry>) -> Int64 {
        Int64(entries[index].time) + Int64(windowOf[index].rounded(.up))
    }
}
