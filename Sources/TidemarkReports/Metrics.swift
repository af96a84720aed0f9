/// The metrics of a channel as they stand in a record, in order (`spec/reports.md` section 2).
public struct Metric: Sendable {
    /// Where the value comes from.
    public enum Source: Sendable {
        /// A counter.
        case counter(Int)
        /// The difference of two counters.
        case difference(Int, Int)
        /// The sum of two counters.
        case sum(Int, Int)
        /// The clicks by button.
        case buttonClicks
    }

    /// The name in records.
    public var name: String { field.description }
    /// The same, where no text should be made of it.
    package let field: StaticString
    /// Where the value comes from.
    public let source: Source
    /// Whether it is absent from `campaign_total` rows.
    public let isBySendTime: Bool

    init(_ field: StaticString, _ source: Source, isBySendTime: Bool = false) {
        self.field = field
        self.source = source
        self.isBySendTime = isBySendTime
    }

    /// The metrics of a channel.
    public static func all(of channel: Channel) -> [Metric] { byChannel[Int(channel.rawValue)] }

    private static let byChannel: [[Metric]] = [push, inAppMessage, contentCard, banner, featureFlag, campaign]

    private static let push: [Metric] = {
        typealias Push = Counter.Push
        return [
            Metric("sends", .counter(Push.sends)),
            Metric("bounces", .counter(Push.bounces)),
            Metric("deliveries", .difference(Push.sends, Push.bounces)),
            Metric("direct_opens", .counter(Push.directOpens)),
            Metric("influenced_opens", .counter(Push.influencedOpens)),
            Metric("total_opens", .sum(Push.directOpens, Push.influencedOpens)),
            Metric("body_clicks", .counter(Push.bodyClicks)),
            Metric("button_clicks", .buttonClicks),
            Metric("ios_foregrounds", .counter(Push.iosForegrounds)),
            Metric("aborts", .counter(Push.aborts)),
            Metric("retries", .counter(Push.retries)),
            Metric("unique_recipients", .counter(Push.firstUnique)),
            Metric("unique_direct_opens", .counter(Push.firstUnique + 1)),
            Metric("unique_influenced_opens", .counter(Push.firstUnique + 2)),
            Metric("unique_opens", .counter(Push.firstUnique + 3)),
            Metric("bounces_by_send_time", .counter(Push.bouncesBySendTime), isBySendTime: true),
            Metric("direct_opens_by_send_time", .counter(Push.directOpensBySendTime), isBySendTime: true),
            Metric("influenced_opens_by_send_time", .counter(Push.influencedOpensBySendTime), isBySendTime: true),
        ]
    }()

    private static let inAppMessage: [Metric] = {
        typealias InApp = Counter.InAppMessage
        return [
            Metric("impressions", .counter(InApp.impressions)),
            Metric("clicks", .counter(InApp.clicks)),
            Metric("body_clicks", .counter(InApp.bodyClicks)),
            Metric("first_button_clicks", .counter(InApp.firstButtonClicks)),
            Metric("second_button_clicks", .counter(InApp.secondButtonClicks)),
            Metric("button_clicks", .buttonClicks),
            Metric("aborts", .counter(InApp.aborts)),
            Metric("unique_impressions", .counter(InApp.firstUnique)),
            Metric("unique_clicks", .counter(InApp.firstUnique + 1)),
        ]
    }()

    private static let contentCard: [Metric] = {
        typealias Card = Counter.ContentCard
        return [
            Metric("sends", .counter(Card.sends)),
            Metric("impressions", .counter(Card.impressions)),
            Metric("clicks", .counter(Card.clicks)),
            Metric("dismissals", .counter(Card.dismissals)),
            Metric("aborts", .counter(Card.aborts)),
            Metric("unique_recipients", .counter(Card.firstUnique)),
            Metric("unique_impressions", .counter(Card.firstUnique + 1)),
            Metric("unique_clicks", .counter(Card.firstUnique + 2)),
            Metric("unique_dismissals", .counter(Card.firstUnique + 3)),
        ]
    }()

    private static let banner: [Metric] = {
        typealias Banner = Counter.Banner
        return [
            Metric("impressions", .counter(Banner.impressions)),
            Metric("clicks", .counter(Banner.clicks)),
            Metric("body_clicks", .counter(Banner.bodyClicks)),
            Metric("button_clicks", .buttonClicks),
            Metric("dismissals", .counter(Banner.dismissals)),
            Metric("aborts", .counter(Banner.aborts)),
            Metric("unique_impressions", .counter(Banner.firstUnique)),
            Metric("unique_clicks", .counter(Banner.firstUnique + 1)),
            Metric("unique_dismissals", .counter(Banner.firstUnique + 2)),
        ]
    }()

    private static let featureFlag: [Metric] = [
        Metric("impressions", .counter(Counter.FeatureFlag.impressions)),
        Metric("unique_impressions", .counter(Counter.FeatureFlag.firstUnique)),
    ]

    private static let campaign: [Metric] = {
        typealias Campaign = Counter.Campaign
        return [
            Metric("conversions", .counter(Campaign.conversions)),
            Metric("conversions1", .counter(Campaign.conversions + 1)),
            Metric("conversions2", .counter(Campaign.conversions + 2)),
            Metric("conversions3", .counter(Campaign.conversions + 3)),
            Metric("enrolled", .counter(Campaign.enrolled)),
            Metric("entries", .counter(Campaign.entries)),
            Metric("unique_conversions", .counter(Campaign.firstUnique)),
        ]
    }()
}
