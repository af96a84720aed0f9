internal import TidemarkEvents

extension Evaluator {
    /// Which instances could be meant: those of a message and dispatch, or, without a dispatch, of a message and app.
    @inline(__always)
    private func key(_ entry: TimelineEntry, message: UInt32) -> ScratchMap.Key {
        // The app is shifted beyond what a dispatch-bearing key can have in `second`.
        entry.link != 0
            ? ScratchMap.Key(link: entry.link, first: message, second: 0)
            : ScratchMap.Key(link: UInt64(entry.app), first: message, second: 1)
    }

    /// Adds a Send to the current instance of its message and dispatch, or begins the next (`spec/attribution.md` section 1).
    func addSend(_ index: Int, _ entry: TimelineEntry) {
        let message = vocabulary.messageOfLabel[Int(entry.label)]
        let key = key(entry, message: message)
        let current = map.value(key)
        if entry.link != 0, current >= 0, Int64(entry.time) - Int64(instances[Int(current)].time) <= span {
            let instance = instances.base + Int(current)
            nextOf[Int(instance.pointee.lastSend)] = Int32(index)
            instance.pointee.lastSend = Int32(index)
            instance.pointee.lastSendTime = entry.time
            if instance.pointee.anyPlatform == 0 { instance.pointee.anyPlatform = entry.platform }
            ownerOf[index] = current
            return
        }
        let number = Int32(instances.count)
        _ = map.exchange(key, number)
        ownerOf[index] = number
        instances.append(
            Instance(
                message: message, time: entry.time, lastSendTime: entry.time, firstSend: Int32(index),
                lastSend: Int32(index),
                previous: current, firstPlatform: entry.platform, anyPlatform: entry.platform, hasDirectOpen: false,
                touchedSend: -1, touchedBy: -1, seenBy: -1))
    }

    /// Finds the instance of an Open, Bounce or IosForeground and notes what it means for it.
    func attach(_ index: Int, _ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        let entry = entries[index]
        let newest = map.value(key(entry, message: vocabulary.messageOfLabel[Int(entry.label)]))
        let owner =
            entry.link != 0
            ? ownerByDispatch(entry, newest: newest) : ownerWithoutDispatch(entry, newest: newest, entries)
        ownerOf[index] = owner
        guard owner >= 0 else { return }
        if entry.isDirectOpen {
            instances.base[Int(owner)].hasDirectOpen = true
        } else if entry.type != .pushOpen {
            block(Int(owner), device: entry.device, entries)
        }
    }

    /// The latest instance that began within reach before the event, else the earliest that began within the span after it.
    private func ownerByDispatch(_ entry: TimelineEntry, newest: Int32) -> Int32 {
        var candidate = newest
        var after: Int32 = -1
        while candidate >= 0, instances[Int(candidate)].time > entry.time {
            after = candidate
            candidate = instances[Int(candidate)].previous
        }
        if candidate >= 0, Int64(entry.time) - Int64(instances[Int(candidate)].time) <= reach { return candidate }
        if after >= 0, Int64(instances[Int(after)].time) - Int64(entry.time) <= span { return after }
        return -1
    }

    /// The instance of the latest Send without dispatch of the same message and app, on a compatible device, within reach before.
    private func ownerWithoutDispatch(
        _ entry: TimelineEntry, newest: Int32, _ entries: UnsafeMutableBufferPointer<TimelineEntry>
    ) -> Int32 {
        var candidate = newest
        while candidate >= 0 {
            let instance = instances[Int(candidate)]
            let age = Int64(entry.time) - Int64(instance.time)
            if age > reach { return -1 }
            let device = entries[Int(instance.firstSend)].device
            if age >= 0, TimelineEntry.areCompatible(device, entry.device) { return candidate }
            candidate = instance.previous
        }
        return -1
    }

    /// A bounced or foregrounded Send reaches nothing (section 5, rule 2).
    private func block(_ owner: Int, device: UInt64, _ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        var send = instances[owner].firstSend
        while send >= 0 {
            if TimelineEntry.areCompatible(entries[Int(send)].device, device) { isBlocked[Int(send)] = true }
            send = nextOf[Int(send)]
        }
    }
}
