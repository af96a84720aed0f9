internal import TidemarkEvents

extension Evaluator {
    /// Which instances could be meant: those of a message and dispatch, or, without a dispatch, of a message and app.
    @inline(__always)
    private func key(_ entry: TimelineEntry, message: UInt32) -> ScratchMap.Key {
        entry.link != 0
            ? ScratchMap.Key(link: entry.link, first: message, second: 0)
            : ScratchMap.Key(link: UInt64(entry.app), first: message, second: 1)
    }

    /// Adds a Send to the current instance of its message and dispatch, or begins the next (`spec/attribution.md` section 1).
    func addSend(_ index: Int, _ entry: TimelineEntry, _ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        let message = vocabulary.messageOfLabel[Int(entry.label)]
        let key = key(entry, message: message)
        guard entry.link != 0 else {
            _ = map.exchange(key, Int32(instances.count))
            let onDevice = ScratchMap.Key(link: entry.device, first: message, second: entry.app)
            _ = byDevice.exchange(onDevice, Int32(instances.count))
            return begin(index, entry, message: message)
        }
        let current = map.value(key)
        if current >= 0, Int64(entry.time) - Int64(instances[Int(current)].time) <= span {
            let instance = instances.base + Int(current)
            instance.pointee.lastSendTime = entry.time
            if instance.pointee.anyPlatform == 0 { instance.pointee.anyPlatform = entry.platform }
            ownerOf[index] = current
            return
        }
        _ = map.exchange(key, Int32(instances.count))
        adopt(current >= 0 ? instances[Int(current)].waiting : Evaluator.waiting(current), before: entry.time, entries)
        begin(index, entry, message: message)
    }

    private func begin(_ index: Int, _ entry: TimelineEntry, message: UInt32) {
        ownerOf[index] = Int32(instances.count)
        instances.append(
            Instance(
                message: message, time: entry.time, lastSendTime: entry.time, firstSend: Int32(index), waiting: -1,
                firstPlatform: entry.platform, anyPlatform: entry.platform, hasDirectOpen: false, hasBlocker: false,
                touchedSend: -1, touchedBy: -1, seenIn: -1, lastingSend: -1))
    }

    /// Finds the instance of an Open, Bounce or IosForeground; the entries before it are all grouped.
    func attach(_ index: Int, _ entry: TimelineEntry) {
        let message = vocabulary.messageOfLabel[Int(entry.label)]
        let key = key(entry, message: message)
        if entry.link != 0 {
            attachByDispatch(index, entry, key)
        } else {
            let latest = latestWithoutDispatch(entry, message: message, key)
            if latest >= 0, Int64(entry.time) - Int64(instances[Int(latest)].time) <= reach { ownerOf[index] = latest }
        }
    }

    /// The latest instance that began before the event, if within reach; else the event waits for the next one.
    private func attachByDispatch(_ index: Int, _ entry: TimelineEntry, _ key: ScratchMap.Key) {
        let current = map.value(key)
        if current < 0 {
            previousOf[index] = Evaluator.waiting(current)
            _ = map.exchange(key, Evaluator.waiting(Int32(index)))
        } else if Int64(entry.time) - Int64(instances[Int(current)].time) <= reach {
            ownerOf[index] = current
        } else {
            previousOf[index] = instances[Int(current)].waiting
            instances.base[Int(current)].waiting = Int32(index)
        }
    }

    /// From what the map holds where a message and dispatch have no instance yet (-1, or below it who waits for one) to the event that
    /// waits (-1 is none), and back.
    private static func waiting(_ value: Int32) -> Int32 { -2 - value }

    /// Gives the waiting events that lie within the span before a new instance to it.
    private func adopt(_ last: Int32, before time: UInt32, _ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        var index = last
        while index >= 0 {
            if Int64(time) - Int64(entries[Int(index)].time) <= span { ownerOf[Int(index)] = Int32(instances.count) }
            index = previousOf[Int(index)]
        }
    }

    /// The instance of the latest Send without dispatch of the same message and app, on a compatible device.
    private func latestWithoutDispatch(_ entry: TimelineEntry, message: UInt32, _ key: ScratchMap.Key) -> Int32 {
        guard entry.device != 0 else { return map.value(key) }
        let own = ScratchMap.Key(link: entry.device, first: message, second: entry.app)
        let unknown = ScratchMap.Key(link: 0, first: message, second: entry.app)
        return max(byDevice.value(own), byDevice.value(unknown))
    }

    /// Notes what Opens, Bounces and IosForegrounds mean for their instances.
    func noteResponses(_ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        blocked.reset(for: responses.count)
        for index in responses.elements {
            let owner = ownerOf[Int(index)]
            guard owner >= 0 else { continue }
            let entry = entries[Int(index)]
            if entry.isDirectOpen {
                instances.base[Int(owner)].hasDirectOpen = true
            } else if entry.type != .pushOpen {
                instances.base[Int(owner)].hasBlocker = true
                _ = blocked.exchange(blockKey(owner, entry.device), index)
            }
        }
    }

    /// Whether a Bounce or IosForeground of its instance, which has some, is on a device compatible with the Send's (section 5, rule 2).
    func isBlocked(_ send: TimelineEntry, _ instance: Int32) -> Bool {
        send.device == 0 || blocked.value(blockKey(instance, send.device)) >= 0
            || blocked.value(blockKey(instance, 0)) >= 0
    }

    private func blockKey(_ instance: Int32, _ device: UInt64) -> ScratchMap.Key {
        ScratchMap.Key(link: device, first: UInt32(instance), second: 0)
    }
}
