internal import TidemarkEvents

extension Evaluator {
    /// Marks the app opens that a direct open caused (`spec/attribution.md` section 5, rule 1).
    func markDirectBorn(_ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        var from = 0
        for number in 0..<appOpens.count {
            let appOpen = appOpens[number]
            let time = Int64(appOpen.time)
            while from < directOpens.count, Int64(entries[Int(directOpens[from])].time) < time - join { from += 1 }
            var index = from
            while index < directOpens.count {
                let open = entries[Int(directOpens[index])]
                if Int64(open.time) > time + join { break }
                if open.app == appOpen.app, TimelineEntry.areCompatible(open.device, appOpen.device) {
                    appOpens.base[number].isDirectBorn = true
                    break
                }
                index += 1
            }
        }
    }

    /// Lets each app open, in order, touch the instances whose Sends reach it (section 5, rules 2 to 4).
    func credit(_ entries: UnsafeMutableBufferPointer<TimelineEntry>) {
        map.reset(for: entries.count)
        for index in 0..<entries.count {
            let entry = entries[index]
            if entry.isSettled { continue }
            let app = ScratchMap.Key(link: UInt64(entry.app), first: 0, second: 2)
            if entry.type == .pushSend {
                let instance = instances[Int(ownerOf[index])]
                guard instance.message != 0, !isBlocked[index], !vocabulary.isExcluded(platform: entry.platform) else {
                    continue
                }
                previousOf[index] = map.exchange(app, Int32(index))
            } else if entry.type.isSession {
                let number = ownerOf[index]
                let appOpen = appOpens[Int(number)]
                guard appOpen.entry == Int32(index), !appOpen.isDirectBorn else { continue }
                touch(number, appOpen, latest: map.value(app), entries)
            }
        }
    }

    /// Goes back from the latest Send on the app: the latest that reaches of each instance, until the limit of instances.
    private func touch(
        _ number: Int32, _ appOpen: AppOpen, latest: Int32, _ entries: UnsafeMutableBufferPointer<TimelineEntry>
    ) {
        var left = rules.touchLimit
        var send = latest
        while send >= 0, left > 0 {
            let index = Int(send)
            let age = Int64(appOpen.time) - Int64(entries[index].time)
            // No window is longer than the reach.
            if age >= reach { return }
            let owner = Int(ownerOf[index])
            if instances[owner].seenBy != number, Double(age) < windowOf[index],
                TimelineEntry.areCompatible(entries[index].device, appOpen.device)
            {
                instances.base[owner].seenBy = number
                left -= 1
                if instances[owner].touchedSend < 0 {
                    instances.base[owner].touchedSend = send
                    instances.base[owner].touchedBy = number
                }
            }
            send = previousOf[index]
        }
    }
}
