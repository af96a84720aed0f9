/// What a cell of a table shows of a line.
enum TableCell {
    /// A count.
    case count(Metric.Source)
    /// A count of distinct users: they do not add up, so it is shown of campaign totals alone.
    case users(Int)
    /// A count as a share of another. In sums of day rows, the second pair counts by the day of the send.
    case rate(Metric.Source, of: Metric.Source, byDay: (Metric.Source, of: Metric.Source)? = nil)
    /// Distinct users who converted as a share of those whom the campaign reached in a channel.
    case conversionRate(Channel)
}

/// The columns of each channel's table.
enum TableColumns {
    typealias Titled = (column: TextTable.Column, cell: TableCell)

    static func of(_ channel: Channel) -> [Titled] {
        switch channel {
        case .push: push
        case .inAppMessage: inAppMessage
        case .contentCard: contentCard
        case .banner: banner
        case .featureFlag: [count("Impressions", Counter.FeatureFlag.impressions), users("Users", channel, 0)]
        case .campaign: campaign
        }
    }

    /// What stands above a channel's table.
    static func title(_ channel: Channel) -> String {
        switch channel {
        case .push: "Push"
        case .inAppMessage: "In-app messages"
        case .contentCard: "Content cards"
        case .banner: "Banners"
        case .featureFlag: "Feature flags"
        case .campaign: "Conversions and entries"
        }
    }

    /// The counter of those whom a campaign reached in a channel, which conversion rates refer to.
    static func audience(_ channel: Channel) -> Int? {
        switch channel {
        case .push, .contentCard, .inAppMessage: Counter.firstUnique(channel)
        default: nil
        }
    }

    private static let push: [Titled] = {
        typealias Push = Counter.Push
        let deliveries = Metric.Source.difference(Push.sends, Push.bounces)
        let bySendTime = Metric.Source.difference(Push.sends, Push.bouncesBySendTime)
        let total = Metric.Source.sum(Push.directOpens, Push.influencedOpens)
        let totalBySendTime = Metric.Source.sum(Push.directOpensBySendTime, Push.influencedOpensBySendTime)
        func rate(_ heading: String, _ source: Metric.Source, _ byDay: Metric.Source) -> Titled {
            Titled(
                TextTable.Column(heading: heading, group: "Open rate"),
                .rate(source, of: deliveries, byDay: (byDay, of: bySendTime)))
        }
        return [
            count("Sends", Push.sends),
            Titled(TextTable.Column(heading: "Deliveries"), .count(deliveries)),
            count("Bounces", Push.bounces),
            count("Direct", Push.directOpens, group: "Opens"),
            count("Infl.", Push.influencedOpens, group: "Opens"),
            Titled(TextTable.Column(heading: "Total", group: "Opens"), .count(total)),
            rate("Direct", .counter(Push.directOpens), .counter(Push.directOpensBySendTime)),
            rate("Infl.", .counter(Push.influencedOpens), .counter(Push.influencedOpensBySendTime)),
            rate("Total", total, totalBySendTime),
        ]
    }()

    private static let inAppMessage: [Titled] = {
        typealias InApp = Counter.InAppMessage
        return [
            count("Impressions", InApp.impressions),
            users("Users", .inAppMessage, 0),
            count("All", InApp.clicks, group: "Clicks"),
            count("Body", InApp.bodyClicks, group: "Clicks"),
            count("1st", InApp.firstButtonClicks, group: "Clicks"),
            count("2nd", InApp.secondButtonClicks, group: "Clicks"),
            rate("Click rate", InApp.clicks, of: InApp.impressions),
        ]
    }()

    private static let contentCard: [Titled] = {
        typealias Card = Counter.ContentCard
        return [
            count("Sends", Card.sends),
            count("Impressions", Card.impressions),
            users("Users", .contentCard, 1),
            count("Clicks", Card.clicks),
            count("Dismissals", Card.dismissals),
            rate("Click", Card.clicks, of: Card.impressions, group: "Rate"),
            rate("Dismissal", Card.dismissals, of: Card.impressions, group: "Rate"),
        ]
    }()

    private static let banner: [Titled] = {
        typealias Banner = Counter.Banner
        return [
            count("Impressions", Banner.impressions),
            users("Users", .banner, 0),
            count("All", Banner.clicks, group: "Clicks"),
            count("Body", Banner.bodyClicks, group: "Clicks"),
            count("Dismissals", Banner.dismissals),
            rate("Click", Banner.clicks, of: Banner.impressions, group: "Rate"),
            rate("Dismissal", Banner.dismissals, of: Banner.impressions, group: "Rate"),
        ]
    }()

    private static let campaign: [Titled] = {
        typealias Campaign = Counter.Campaign
        return [
            count("A", Campaign.conversions, group: "Conversions"),
            count("B", Campaign.conversions + 1, group: "Conversions"),
            count("C", Campaign.conversions + 2, group: "Conversions"),
            count("D", Campaign.conversions + 3, group: "Conversions"),
            users("Users", .campaign, 0),
            conversionRate("Push", .push),
            conversionRate("In-app", .inAppMessage),
            conversionRate("Card", .contentCard),
            count("Entries", Campaign.entries),
            count("Control", Campaign.enrolled),
        ]
    }()

    private static func count(_ heading: String, _ counter: Int, group: String = "") -> Titled {
        Titled(TextTable.Column(heading: heading, group: group), .count(.counter(counter)))
    }

    private static func users(_ heading: String, _ channel: Channel, _ place: Int) -> Titled {
        Titled(TextTable.Column(heading: heading), .users(Counter.firstUnique(channel) + place))
    }

    private static func rate(_ heading: String, _ part: Int, of whole: Int, group: String = "") -> Titled {
        Titled(TextTable.Column(heading: heading, group: group), .rate(.counter(part), of: .counter(whole)))
    }

    private static func conversionRate(_ heading: String, _ channel: Channel) -> Titled {
        Titled(TextTable.Column(heading: heading, group: "Conversion rate"), .conversionRate(channel))
    }
}
