/// What a sample stream is made of.
public struct WorkloadOptions: Hashable, Sendable {
    /// The largest number of push campaigns; their messages and those of the other channels are numbered in 16 bits.
    public static let maximumCampaigns = 10_000

    /// The number of users at any time. ``usersEver`` is at most 2^32.
    public var users: Int
    /// The number of days in which things happen; what they cause may happen a few days later.
    public var days: Int
    /// The number of push campaigns, at most ``maximumCampaigns``; canvases and campaigns of other channels come in proportion.
    public var campaigns: Int
    /// The seed: equal options give equal streams, byte by byte.
    public var seed: UInt64
    /// The first midnight, in seconds since the epoch.
    public var start: Int
    /// How much happens: 1 stands for some 28 records per user and week.
    public var intensity: Double
    /// The share of records that come a second time.
    public var duplicateShare: Double
    /// The share of records that come 30 to 60 hours after their time, later than the default lateness lets in.
    public var lateShare: Double
    /// The share of users that are replaced by new ones each week, each at a time of its own; who has left never comes
    /// back.
    public var turnover: Double
    /// The share of pushes, canvas steps included, that are of one campaign whatever they would have been of.
    public var hotCampaignShare: Double
    /// Whether a record names its type itself in `event_type`, which storage records do not.
    public var namesTypeInRecord: Bool

    /// The options of a stream.
    ///
    /// - Parameters:
    ///   - start: the first midnight; the default is Monday, 2026-01-05, UTC.
    public init(
        users: Int = 1_000, days: Int = 7, campaigns: Int = 40, seed: UInt64 = 1, start: Int = 1_767_571_200,
        intensity: Double = 1, duplicateShare: Double = 0.02, lateShare: Double = 0, turnover: Double = 0,
        hotCampaignShare: Double = 0, namesTypeInRecord: Bool = false
    ) {
        self.users = max(users, 0)
        self.days = max(days, 1)
        self.campaigns = min(max(campaigns, 1), Self.maximumCampaigns)
        self.seed = seed
        self.start = start
        self.intensity = intensity
        self.duplicateShare = duplicateShare
        self.lateShare = lateShare
        self.turnover = turnover
        self.hotCampaignShare = hotCampaignShare
        self.namesTypeInRecord = namesTypeInRecord
    }

    /// The number of weeks, the last of which may have fewer than seven days.
    var weeks: Int { (days + 6) / 7 }

    /// How many users there can be in the course of the stream.
    public var usersEver: Int { turnover > 0 ? users * (weeks + 1) : users }
}
