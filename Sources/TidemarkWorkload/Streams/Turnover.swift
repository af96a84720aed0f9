/// Who holds the places of a sample stream's population when users leave and new ones take their places.
///
/// The first holder of a place has the number of the place. Who takes a place over in a week has the place's number plus
/// one population for that week and each before it, so that no two users have one number and nobody comes back.
struct Turnover: Sendable {
    /// A user and the time in which it holds its place.
    struct Holder {
        /// The user's number.
        let user: Int
        /// From when on it holds the place, in seconds since the epoch; `nil` for the first holder.
        let joins: Int?
        /// From when on it does not any more; `Int.max` if nobody comes after it.
        let leaves: Int
    }

    private static let week = 7 * 86_400
    private let options: WorkloadOptions

    /// - Returns: `nil` where no user is ever replaced.
    init?(_ options: WorkloadOptions) {
        guard options.turnover > 0 else { return nil }
        self.options = options
    }

    /// Who holds a place at a time within the stream, in seconds since the epoch.
    func holder(of place: Int, at time: Int) -> Holder {
        let current = (time - options.start) / Self.week
        let leaves = (current..<options.weeks).lazy.compactMap { change(of: place, in: $0) }.first { $0 > time }
        let joined = (0...current).reversed().lazy.first { week in
            change(of: place, in: week).map { $0 <= time } ?? false
        }
        guard let joined else { return Holder(user: place, joins: nil, leaves: leaves ?? .max) }
        return Holder(
            user: place + (joined + 1) * options.users, joins: change(of: place, in: joined), leaves: leaves ?? .max)
    }

    /// When a place changes hands in a week, if it does.
    private func change(of place: Int, in week: Int) -> Int? {
        var random = SplitMix64(options.seed, 0x7E, UInt64(place), UInt64(week))
        guard random.chance(options.turnover) else { return nil }
        return options.start + week * Self.week + random.below(Self.week)
    }
}
