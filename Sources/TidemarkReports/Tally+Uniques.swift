internal import TidemarkAttribution
internal import TidemarkEvents

extension Tally {
    /// Notes that an event counts for distinct users, if it does.
    func match(_ entry: TimelineEntry, _ channel: Channel, platform: UInt32) {
        let bits = UniqueKinds.of(entry)
        guard bits != 0 else { return }
        addMatch(entry.label, channel, platform: platform, time: entry.time, bits: bits)
    }

    /// Notes that an influenced open counts for distinct users.
    func matchInfluenced(
        _ instance: Instance, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, _ evaluator: Evaluator
    ) {
        let send = entries[Int(instance.influencedSend)]
        addMatch(
            send.label, .push, platform: send.platform == 0 ? unknown : send.platform,
            time: evaluator.appOpens[Int(instance.influencedBy)].time, bits: UniqueKinds.pushInfluencedOpen)
    }

    private func addMatch(_ label: UInt32, _ channel: Channel, platform: UInt32, time: UInt32, bits: UInt8) {
        let message = vocabulary.messageOfLabel[Int(label)]
        matches.append(
            Match(
                message: message, campaign: vocabulary.campaignOfMessage[Int(message)], platform: platform, time: time,
                day: days.day(of: time), channel: channel, bits: bits))
    }

    /// Counts the user in each row that one of the matches falls into: once per day row, in totals anew after the retention.
    func countUniques(_ sign: Int64) {
        guard matches.count > 0 else { return }
        var sorted = matches.elements
        if sorted.count > 1 {
            sorted.sort {
                if $0.campaign != $1.campaign { return $0.campaign < $1.campaign }
                if $0.channel != $1.channel { return $0.channel.rawValue < $1.channel.rawValue }
                return $0.time < $1.time
            }
        }
        var start = 0
        while start < sorted.count {
            var end = start + 1
            while end < sorted.count, sorted[end].campaign == sorted[start].campaign,
                sorted[end].channel == sorted[start].channel
            {
                end += 1
            }
            countDays(sorted, start, end, sign)
            countTotal(sorted, start, end, sign)
            start = end
        }
    }

    private func countDays(_ sorted: UnsafeMutableBufferPointer<Match>, _ start: Int, _ end: Int, _ sign: Int64) {
        let channel = sorted[start].channel
        let first = Counter.firstUnique(channel)
        var bitsToday: UInt8 = 0
        for index in start..<end {
            let match = sorted[index]
            if index == start || match.day != sorted[index - 1].day {
                bitsToday = 0
                seenToday.removeAll()
            }
            let key = RowKey(
                kind: .messageDay, channel: channel, subject: match.message, platform: match.platform, day: match.day)
            add(newInMessageRow(match), to: key, first, sign)
            let new = match.bits & ~bitsToday
            guard new != 0 else { continue }
            bitsToday |= new
            let campaignKey = RowKey(
                kind: .campaignDay, channel: channel, subject: match.campaign, platform: 0, day: match.day)
            add(new, to: campaignKey, first, sign)
        }
    }

    /// The kinds of distinct user that the match is today's first of in its message row.
    private func newInMessageRow(_ match: Match) -> UInt8 {
        // As many as are looked through sooner than hashed.
        let few = 8
        for index in 0..<min(seenToday.count, few)
        where seenToday[index].message == match.message && seenToday[index].platform == match.platform {
            return newInMessageRow(match, at: index)
        }
        if seenToday.count >= few, let known = placeInFurther(match, after: few) {
            return newInMessageRow(match, at: known)
        }
        seenToday.append(match)
        return match.bits
    }

    @inline(__always)
    private func newInMessageRow(_ match: Match, at index: Int) -> UInt8 {
        let new = match.bits & ~seenToday[index].bits
        seenToday.base[index].bits |= match.bits
        return new
    }

    /// Where the message row of a match is in `seenToday` beyond the first `few`; where it is not, it has to be appended.
    @inline(never)
    private func placeInFurther(_ match: Match, after few: Int) -> Int? {
        if seenToday.count == few { furtherToday.reset(for: matches.count) }
        let key = ScratchMap.Key(link: UInt64(match.platform), first: match.message, second: 0)
        let known = furtherToday.value(key)
        if known < 0 { _ = furtherToday.exchange(key, Int32(seenToday.count)) }
        return known < 0 ? nil : Int(known)
    }

    private func add(_ bits: UInt8, to key: RowKey, _ first: Int, _ sign: Int64) {
        guard bits != 0 else { return }
        let row = deltas.row(key)
        for bit in 0..<4 where bits & (1 << UInt8(bit)) != 0 { deltas.add(row, first + bit, sign) }
    }

    private func countTotal(_ sorted: UnsafeMutableBufferPointer<Match>, _ start: Int, _ end: Int, _ sign: Int64) {
        let (campaign, channel) = (sorted[start].campaign, sorted[start].channel)
        let key = RowKey(
            kind: .campaignTotal, channel: channel, subject: campaign, platform: 0, day: RowKey.noDay)
        for bit in 0..<UniqueKinds.count(channel) {
            let mask = UInt8(1) << UInt8(bit)
            var last = memory.lastTime(campaign: campaign, channel: channel, bit: UInt8(bit)).map(Int64.init)
            for index in start..<end where sorted[index].bits & mask != 0 {
                let time = Int64(sorted[index].time)
                if last.map({ time - $0 > settings.uniqueRetention }) ?? true {
                    deltas.add(deltas.row(key), Counter.firstUnique(channel) + bit, sign)
                }
                last = max(last ?? time, time)
            }
        }
    }
}

extension UniqueKinds {
    /// The kinds of distinct user that an event matches by itself; 0 where none.
    static func of(_ entry: TimelineEntry) -> UInt8 {
        switch entry.type {
        case .pushSend: pushSend
        case .pushOpen: entry.isDirectOpen ? pushDirectOpen : 0
        case .inAppMessageImpression: inAppMessageImpression
        case .inAppMessageClick: inAppMessageClick
        case .contentCardImpression: contentCardImpression
        case .contentCardClick: contentCardClick
        case .contentCardDismiss: contentCardDismissal
        case .bannerImpression: bannerImpression
        case .bannerClick: bannerClick
        case .bannerDismiss: bannerDismissal
        case .featureFlagImpression: featureFlagImpression
        case .campaignConversion, .canvasConversion:
            entry.flags.rawValue & TimelineEntry.Flags.conversionIndexBits == 0 ? conversion : 0
        default: 0
        }
    }
}
