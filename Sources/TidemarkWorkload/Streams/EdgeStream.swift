/// A short random stream in which everything that is seldom in a real one is common, for tests of properties.
///
/// Few users, apps, devices, messages and dispatches meet at times that sit on the edges of the rules: exactly a
/// window, a span, a reach, a minute apart, a second more or less, around midnights, ends of months and clock changes.
/// Nulls come as nulls and as empty strings, platforms and actions in any case, and records come twice.
public struct EdgeStream: Sendable {
    /// The seed that gives this stream again, with the same parameters.
    public let seed: UInt64
    /// Settings drawn at random.
    public let settings: PlainSettings
    /// The events in order of arrival, repeated ones too.
    public let events: [SampleEvent]

    /// Draws settings and a stream.
    ///
    /// - Parameters:
    ///   - seed: the seed.
    ///   - count: the number of events, before some of them are repeated.
    ///   - horizon: the longest distance between two events in seconds.
    ///   - maxDelay: by how many seconds a record may be behind another of a later time; null for any order at all.
    ///   - settings: settings to use instead of drawn ones.
    public init(
        seed: UInt64, events count: Int, horizon: Int = 60 * 86_400, maxDelay: Int? = nil,
        settings: PlainSettings? = nil
    ) {
        self.seed = seed
        var random = SplitMix64(seed, 0xED6E)
        let drawn = PlainSettings(drawnWith: &random)
        self.settings = settings ?? drawn
        var maker = EdgeEventMaker(settings: self.settings, horizon: horizon, random: random)
        var arrivals: [(arrival: Int, event: SampleEvent)] = []
        for _ in 0..<count {
            let event = maker.next()
            for _ in 0..<maker.copies() {
                let delay = maxDelay.map { maker.delay(atMost: $0) }
                arrivals.append((delay.map { event.time + $0 } ?? maker.place(), event))
            }
        }
        events = arrivals.enumerated().sorted { left, right in
            (left.element.arrival, left.offset) < (right.element.arrival, right.offset)
        }.map(\.element.event)
    }
}

extension PlainSettings {
    /// Settings drawn at random.
    fileprivate init(drawnWith random: inout SplitMix64) {
        self.init()
        policy = random.pick(Policy.allCases)
        fixed = random.pick([60, 600, 1_800, 1_800, 3_600, 86_400])
        factor = random.pick([0.25, 0.3, 0.5, 0.5, 1])
        cap = random.pick([1_800, 3_600, 86_400, 172_800, 604_800])
        model = random.pick(Model.allCases)
        limit = random.pick([1, 2, 3, 10])
        sessionMerge = random.pick([60, 60, 1, 600])
        span = random.pick([600, 7_200, 86_400, 86_400])
        directJoin = random.pick([60, 60, 0, 300])
        months = random.pick([1, 2, 3, 3])
        timeZone = random.pick(["UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Europe/Berlin"])
        uniqueRetention = random.pick([90, 90, 1, 7]) * 86_400
        if random.chance(0.2) { excludedPlatforms = random.pick([[], ["android"], ["ios", "web"]]) }
    }
}
