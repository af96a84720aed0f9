public import TidemarkAttribution
internal import TidemarkEvents

/// Turns the outcome of one user into changes of rows (`spec/reports.md` sections 1 and 2). Holds working memory; one thread.
///
/// Counting an outcome with sign -1 and the next one with +1 leaves the difference in the table.
public final class Tally {
    let vocabulary: Vocabulary
    let days: DayTable
    let settings: ReportSettings
    let deltas: DeltaTable
    /// Number of the platform `unknown`.
    let unknown: UInt32

    var matches = Scratch<Match>()
    var memory = UniqueMemory()
    /// The message rows of a day that have counted the user, and places of those beyond the first few.
    var seenToday = Scratch<Match>()
    var furtherToday = ScratchMap()

    /// A tally that adds to `deltas`.
    public init(vocabulary: Vocabulary, days: DayTable, settings: ReportSettings, deltas: DeltaTable) {
        self.vocabulary = vocabulary
        self.days = days
        self.settings = settings
        self.deltas = deltas
        unknown = vocabulary.strings.intern("unknown")
    }

    deinit {
        matches.deallocate()
        seenToday.deallocate()
        furtherToday.deallocate()
    }

    /// Adds all that an outcome counts, times `sign`.
    ///
    /// - Parameters:
    ///   - entries: the timeline that `evaluator` evaluated last.
    ///   - memory: what the user's state remembers of folded outcomes.
    public func count(
        _ entries: UnsafeMutableBufferPointer<TimelineEntry>, evaluator: Evaluator,
        memory bytes: UnsafeRawBufferPointer,
        sign: Int64
    ) {
        matches.removeAll()
        for index in 0..<entries.count where !entries[index].isSettled {
            count(entries[index], at: index, evaluator, sign)
        }
        for instance in evaluator.instances.elements where instance.influencedSend >= 0 {
            countInfluenced(instance, entries, evaluator, sign)
        }
        memory.load(bytes)
        for mark in memory.marks.elements { matches.append(mark) }
        countUniques(sign)
    }

    /// Remembers what folds: the matches of entries that do not stay, beside what was remembered before.
    public func remember(
        _ entries: UnsafeMutableBufferPointer<TimelineEntry>, evaluator: Evaluator, fold: borrowing Fold,
        memory bytes: UnsafeRawBufferPointer, into result: inout [UInt8]
    ) {
        memory.load(bytes)
        matches.removeAll()
        for index in 0..<entries.count where !entries[index].isSettled && fold.actions[index] != .keep {
            let entry = entries[index]
            guard let channel = Channel.of(entry.type) else { continue }
            match(entry, channel, platform: platform(of: entry, at: index, evaluator))
        }
        for instance in evaluator.instances.elements
        where instance.influencedSend >= 0 && fold.actions[Int(instance.firstSend)] != .keep {
            matchInfluenced(instance, entries, evaluator)
        }
        for match in matches.elements { memory.marks.append(match) }
        // A direct open may stay that lies a span before the first Send of its instance.
        let limit = Int64(fold.cut) - evaluator.instanceSpan
        memory.compact(limit: UInt32(max(limit, 0)), days: days, retention: settings.uniqueRetention)
        memory.store(into: &result)
    }

    // MARK: Single events

    private func count(_ entry: TimelineEntry, at index: Int, _ evaluator: Evaluator, _ sign: Int64) {
        guard let channel = Channel.of(entry.type) else { return }
        let platform = platform(of: entry, at: index, evaluator)
        let row = row(channel, entry.label, platform: platform, time: entry.time)
        switch channel {
        case .push: countPush(entry, at: index, row, evaluator, sign)
        case .inAppMessage: countInAppMessage(entry, row, sign)
        case .contentCard: countContentCard(entry, row, sign)
        case .banner: countBanner(entry, row, sign)
        case .featureFlag: deltas.add(row, Counter.FeatureFlag.impressions, sign)
        case .campaign: countCampaign(entry, row, sign)
        }
        match(entry, channel, platform: platform)
    }

    private func countPush(_ entry: TimelineEntry, at index: Int, _ row: Int, _ evaluator: Evaluator, _ sign: Int64) {
        typealias Push = Counter.Push
        switch entry.type {
        case .pushSend: deltas.add(row, Push.sends, sign)
        case .pushBounce:
            deltas.add(row, Push.bounces, sign)
            countBySendTime(Push.bouncesBySendTime, owner: evaluator.ownerOf[index], evaluator, sign)
        case .pushIosForeground: deltas.add(row, Push.iosForegrounds, sign)
        case .pushAbort: deltas.add(row, Push.aborts, sign)
        case .pushRetry: deltas.add(row, Push.retries, sign)
        default:
            if entry.flags.contains(.bodyClick) {
                deltas.add(row, Push.bodyClicks, sign)
            } else {
                deltas.addButton(row, entry.payload, sign)
            }
            guard entry.isDirectOpen else { return }
            deltas.add(row, Push.directOpens, sign)
            countBySendTime(Push.directOpensBySendTime, owner: evaluator.ownerOf[index], evaluator, sign)
        }
    }

    /// Counts in the row of the first Send of an instance; what belongs to no instance is left out.
    private func countBySendTime(_ counter: Int, owner: Int32, _ evaluator: Evaluator, _ sign: Int64) {
        guard owner >= 0 else { return }
        let instance = evaluator.instances[Int(owner)]
        let platform = instance.firstPlatform == 0 ? unknown : instance.firstPlatform
        let key = RowKey(
            kind: .messageDay, channel: .push, subject: instance.message, platform: platform,
            day: days.day(of: instance.time))
        deltas.add(deltas.row(key), counter, sign)
    }

    private func countInfluenced(
        _ instance: Instance, _ entries: UnsafeMutableBufferPointer<TimelineEntry>, _ evaluator: Evaluator,
        _ sign: Int64
    ) {
        let send = entries[Int(instance.influencedSend)]
        let time = evaluator.appOpens[Int(instance.influencedBy)].time
        let platform = send.platform == 0 ? unknown : send.platform
        let row = row(.push, send.label, platform: platform, time: time)
        deltas.add(row, Counter.Push.influencedOpens, sign)
        let own = Int32(evaluator.ownerOf[Int(instance.firstSend)])
        countBySendTime(Counter.Push.influencedOpensBySendTime, owner: own, evaluator, sign)
        matchInfluenced(instance, entries, evaluator)
    }

    private func countInAppMessage(_ entry: TimelineEntry, _ row: Int, _ sign: Int64) {
        typealias InApp = Counter.InAppMessage
        switch entry.type {
        case .inAppMessageImpression: deltas.add(row, InApp.impressions, sign)
        case .inAppMessageAbort: deltas.add(row, InApp.aborts, sign)
        default:
            deltas.add(row, InApp.clicks, sign)
            guard !entry.flags.contains(.bodyClick) else { return deltas.add(row, InApp.bodyClicks, sign) }
            deltas.addButton(row, entry.payload, sign)
            let button = vocabulary.strings[entry.payload]
            guard button.count == 1, let digit = button.start?.pointee else { return }
            if digit == UInt8(ascii: "0") { deltas.add(row, InApp.firstButtonClicks, sign) }
            if digit == UInt8(ascii: "1") { deltas.add(row, InApp.secondButtonClicks, sign) }
        }
    }

    private func countContentCard(_ entry: TimelineEntry, _ row: Int, _ sign: Int64) {
        typealias Card = Counter.ContentCard
        switch entry.type {
        case .contentCardSend: deltas.add(row, Card.sends, sign)
        case .contentCardImpression: deltas.add(row, Card.impressions, sign)
        case .contentCardClick: deltas.add(row, Card.clicks, sign)
        case .contentCardDismiss: deltas.add(row, Card.dismissals, sign)
        default: deltas.add(row, Card.aborts, sign)
        }
    }

    private func countBanner(_ entry: TimelineEntry, _ row: Int, _ sign: Int64) {
        typealias Banner = Counter.Banner
        switch entry.type {
        case .bannerImpression: deltas.add(row, Banner.impressions, sign)
        case .bannerDismiss: deltas.add(row, Banner.dismissals, sign)
        case .bannerAbort: deltas.add(row, Banner.aborts, sign)
        default:
            deltas.add(row, Banner.clicks, sign)
            guard !entry.flags.contains(.bodyClick) else { return deltas.add(row, Banner.bodyClicks, sign) }
            deltas.addButton(row, entry.payload, sign)
        }
    }

    private func countCampaign(_ entry: TimelineEntry, _ row: Int, _ sign: Int64) {
        typealias Campaign = Counter.Campaign
        switch entry.type {
        case .campaignConversion, .canvasConversion:
            let index = Int(entry.flags.rawValue & TimelineEntry.Flags.conversionIndexBits)
            deltas.add(row, Campaign.conversions + index, sign)
        case .campaignEnrollInControl:
            deltas.add(row, Campaign.enrolled, sign)
        default:
            deltas.add(row, Campaign.entries, sign)
            if entry.flags.contains(.inControlGroup) { deltas.add(row, Campaign.enrolled, sign) }
        }
    }

    // MARK: Rows and platforms

    private func row(_ channel: Channel, _ label: UInt32, platform: UInt32, time: UInt32) -> Int {
        let message = vocabulary.messageOfLabel[Int(label)]
        return deltas.row(
            RowKey(kind: .messageDay, channel: channel, subject: message, platform: platform, day: days.day(of: time)))
    }

    /// The platform of an event's row (`spec/reports.md` section 1, "platform").
    private func platform(of entry: TimelineEntry, at index: Int, _ evaluator: Evaluator) -> UInt32 {
        switch entry.type {
        case .campaignConversion, .campaignEnrollInControl, .canvasConversion, .canvasEntry:
            return unknown
        case .pushOpen, .pushBounce, .pushIosForeground:
            if entry.platform != 0 { return entry.platform }
            let owner = evaluator.ownerOf[index]
            guard owner >= 0 else { return unknown }
            let inherited = evaluator.instances[Int(owner)].anyPlatform
            return inherited == 0 ? unknown : inherited
        default:
            return entry.platform == 0 ? unknown : entry.platform
        }
    }
}
