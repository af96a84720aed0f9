/// What a sample stream is made of.
public struct WorkloadOptions: Hashable, Sendable {
    /// The number of users, at most 2^32.
    public var users: Int
    /// The number of days in which things happen; what they cause may happen a few days later.
    public var days: Int
    /// The number of push campaigns, at most 5,000; canvases and campaigns of other channels come in proportion.
    public var campaigns: Int
    /// The seed: equal options give equal streams, byte by byte.
    public var seed: UInt64
    /// The first midnight, in seconds since the epoch.
    public var start: Int
    /// How much happens: 1 stands for some 25 events per user and week.
    public var intensity: Double
    /// The share of records that come a second time.
    public var duplicateShare: Double
    /// The share of records that come 30 to 60 hours after their time, later than the default lateness lets in.
    public var lateShare: Double
    /// Whether a record names its type itself in `event_type`, which storage records do not.
    public var namesTypeInRecord: Bool

    /// The options of a stream.
    ///
    /// - Parameters:
    ///   - start: the first midnight; the default is Monday, 2026-01-05, UTC.
    public init(
        users: Int = 1_000, days: Int = 7, campaigns: Int = 40, seed: UInt64 = 1, start: Int = 1_767_571_200,
        intensity: Double = 1, duplicateShare: Double = 0.02, lateShare: Double = 0, namesTypeInRecord: Bool = false
    ) {
        self.users = max(users, 0)
        self.days = max(days, 1)
        self.campaigns = min(max(campaigns, 1), 5_000)
        self.seed = seed
        self.start = start
        self.intensity = intensity
        self.duplicateShare = duplicateShare
        self.lateShare = lateShare
        self.namesTypeInRecord = namesTypeInRecord
    }
}
