/// The counters that a row keeps, numbered within its channel. Metrics that follow from others (`deliveries`, `total_opens`) are not kept.
///
/// Counters of distinct users come as one run per channel, in the order of `UniqueKinds`, so that a set of bits addresses them.
/// The numbers are written into deltas: append, never renumber.
public enum Counter {
    /// How many counters any channel has at most.
    public static let stride = 16

    /// Counters of channel `push`.
    public enum Push {
        static let sends = 0
        static let bounces = 1
        static let directOpens = 2
        static let influencedOpens = 3
        static let bodyClicks = 4
        static let iosForegrounds = 5
        static let aborts = 6
        static let retries = 7
        static let firstUnique = 8
        static let bouncesBySendTime = 12
        static let directOpensBySendTime = 13
        static let influencedOpensBySendTime = 14
    }

    /// Counters of channel `in_app_message`.
    public enum InAppMessage {
        static let impressions = 0
        static let clicks = 1
        static let bodyClicks = 2
        static let firstButtonClicks = 3
        static let secondButtonClicks = 4
        static let aborts = 5
        static let firstUnique = 6
    }

    /// Counters of channel `content_card`.
    public enum ContentCard {
        static let sends = 0
        static let impressions = 1
        static let clicks = 2
        static let dismissals = 3
        static let aborts = 4
        static let firstUnique = 5
    }

    /// Counters of channel `banner`.
    public enum Banner {
        static let impressions = 0
        static let clicks = 1
        static let bodyClicks = 2
        static let dismissals = 3
        static let aborts = 4
        static let firstUnique = 5
    }

    /// Counters of channel `feature_flag`.
    public enum FeatureFlag {
        static let impressions = 0
        static let firstUnique = 1
    }

    /// Counters of channel `campaign`.
    public enum Campaign {
        static let conversions = 0
        static let enrolled = 4
        static let entries = 5
        static let firstUnique = 6
    }

    /// The first counter of distinct users of a channel.
    public static func firstUnique(_ channel: Channel) -> Int {
        switch channel {
        case .push: Push.firstUnique
        case .inAppMessage: InAppMessage.firstUnique
        case .contentCard: ContentCard.firstUnique
        case .banner: Banner.firstUnique
        case .featureFlag: FeatureFlag.firstUnique
        case .campaign: Campaign.firstUnique
        }
    }

    /// Whether a counter is of distinct users: those do not add up from message rows to campaign rows.
    public static func isUnique(_ counter: Int, _ channel: Channel) -> Bool {
        let first = firstUnique(channel)
        return counter >= first && counter < first + UniqueKinds.count(channel)
    }
}

/// Which of a channel's counters of distinct users an event matches (`spec/reports.md` section 2), one bit each from `firstUnique` on.
public enum UniqueKinds {
    /// push: `unique_recipients`, `unique_direct_opens`, `unique_influenced_opens`, `unique_opens`.
    static let pushSend: UInt8 = 0b0001
    static let pushDirectOpen: UInt8 = 0b1010
    static let pushInfluencedOpen: UInt8 = 0b1100
    /// in_app_message: `unique_impressions`, `unique_clicks`.
    static let inAppMessageImpression: UInt8 = 0b01
    static let inAppMessageClick: UInt8 = 0b10
    /// content_card: `unique_recipients`, `unique_impressions`, `unique_clicks`, `unique_dismissals`.
    static let contentCardImpression: UInt8 = 0b0011
    static let contentCardClick: UInt8 = 0b0100
    static let contentCardDismissal: UInt8 = 0b1000
    /// banner: `unique_impressions`, `unique_clicks`, `unique_dismissals`.
    static let bannerImpression: UInt8 = 0b001
    static let bannerClick: UInt8 = 0b010
    static let bannerDismissal: UInt8 = 0b100
    /// feature_flag: `unique_impressions`; campaign: `unique_conversions`.
    static let featureFlagImpression: UInt8 = 0b1
    static let conversion: UInt8 = 0b1

    /// How many counters of distinct users a channel has; at most 4.
    public static func count(_ channel: Channel) -> Int {
        switch channel {
        case .push, .contentCard: 4
        case .inAppMessage: 2
        case .banner: 3
        case .featureFlag, .campaign: 1
        }
    }
}
