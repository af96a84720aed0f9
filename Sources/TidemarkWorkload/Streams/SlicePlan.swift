/// Six hours of a sample stream: the piece in which a user's events are made.
struct SlicePlan: Sendable {
    /// A campaign that goes out to many users at once.
    struct Launch: Sendable {
        let campaign: Int
        let time: Int
        /// What the dispatch's id is made of.
        let dispatch: UInt64
    }

    /// The length of a slice in seconds.
    static let length = 6 * 3_600

    /// The place of the slice in the stream.
    let number: Int
    /// When it begins, in seconds since the epoch.
    let start: Int
    /// When the next one begins.
    var end: Int { start + Self.length }
    /// The launches of the slice.
    let launches: [Launch]
    /// For each cadence the probability of a slice without sessions.
    let withoutSessions: [Double]
    /// The probability that a user gets no launched campaign in the slice.
    let withoutLaunches: Double

    /// What part of a day's events falls into its night, morning, afternoon and evening.
    private static let shares = [0.08, 0.27, 0.30, 0.35]

    init(_ number: Int, options: WorkloadOptions) {
        self.number = number
        start = options.start + number * Self.length
        let share = Self.shares[number % 4]
        withoutSessions = UserProfile.sessionsPerDay.map { Self.none(mean: $0 * share * options.intensity) }
        // Nobody is woken up at night: its share falls to the other slices.
        let mean = number % 4 == 0 ? 0 : UserProfile.launchesPerDay * share / 0.92 * options.intensity
        withoutLaunches = Self.none(mean: mean)
        launches = number % 4 == 0 ? [] : Self.launches(number, start: start, options)
    }

    /// The probability of no occurrence, to the precision of a short series, which is the same on every machine.
    private static func none(mean: Double) -> Double {
        var factor = 1 - mean / 1_024
        for _ in 0..<10 {
            factor *= factor
        }
        return mean < 512 ? factor : 0
    }

    /// About one campaign in seven goes out in a slice, and always at least one.
    private static func launches(_ number: Int, start: Int, _ options: WorkloadOptions) -> [Launch] {
        let sure = number % options.campaigns
        return (0..<options.campaigns).compactMap { campaign in
            var random = SplitMix64(options.seed, 0x1A, UInt64(number), UInt64(campaign))
            guard random.chance(1.0 / 7) || campaign == sure else { return nil }
            let quarter = random.below(length / 900 - 1)
            return Launch(campaign: campaign, time: start + quarter * 900, dispatch: random.next())
        }
    }
}
