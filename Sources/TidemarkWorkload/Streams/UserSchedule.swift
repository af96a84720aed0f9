/// Makes the events of one user in one slice.
///
/// The events are a pure function of the options, the user and the slice, so they can be made in any order and again:
/// slice by slice over all users for a stream, user by user over all slices for its truth.
struct UserSchedule {
    let catalog: Catalog
    let options: WorkloadOptions
    private let turnover: Turnover?
    /// The events made so far.
    var events: [WorkloadEvent] = []

    private(set) var plan: SlicePlan
    private(set) var profile: UserProfile
    var random = SplitMix64(seed: 0)
    /// When the user's devices are cut off from the network in the slice, in seconds since the epoch.
    private var offline = 0..<0
    /// When the user comes and goes, in seconds since the epoch: nothing happens before or after.
    private var stay = 0..<0

    init(catalog: Catalog, options: WorkloadOptions, plan: SlicePlan) {
        self.catalog = catalog
        self.options = options
        turnover = Turnover(options)
        self.plan = plan
        profile = UserProfile(0, options: options)
    }

    /// Begins another slice.
    mutating func turn(to plan: SlicePlan) {
        self.plan = plan
    }

    /// Adds the events in the current slice, of the user or, where one replaces the other, both users that hold a place.
    mutating func add(place: Int) {
        guard let turnover else {
            return add(Turnover.Holder(user: place, joins: nil, leaves: .max))
        }
        // A place changes hands once a week at most, and no slice is in two weeks.
        let holder = turnover.holder(of: place, at: plan.start)
        add(holder)
        if holder.leaves < plan.end { add(turnover.holder(of: place, at: holder.leaves)) }
    }

    private mutating func add(_ holder: Turnover.Holder) {
        profile = UserProfile(holder.user, options: options)
        let joins = holder.joins ?? Int(profile.joins)
        guard joins < min(plan.end, holder.leaves) else { return }
        stay = joins..<holder.leaves
        random = SplitMix64(profile.seed, UInt64(plan.number))
        offline = 0..<0
        if random.chance(0.09) {
            let begin = plan.start + random.below(SlicePlan.length)
            offline = begin..<(begin + random.number(1_800...18_000))
        }
        if joins >= plan.start {
            addFirstSession(at: joins)
        }
        for _ in 0..<random.occurrences(noneWith: plan.withoutSessions[profile.cadence]) {
            addSession(at: plan.start + random.below(SlicePlan.length), device: anyDevice())
        }
        addLaunches()
        addOddities()
    }

    /// Adds an event: its time is what a clock on the device says, its arrival what happens to it on the way.
    mutating func emit(
        _ type: WorkloadEventType, at time: Int, device: UInt8, message: UInt16 = Catalog.none, link: UInt64 = 0,
        detail: Int = 0, traits: WorkloadEvent.Traits = [], skew: Int = 0
    ) {
        guard stay.contains(time) else { return }
        var event = WorkloadEvent(
            arrival: UInt32(arrival(of: type, at: time)), time: UInt32(time + skew), user: profile.number,
            message: message, type: type, device: device, detail: UInt8(detail), traits: traits,
            identity: random.next(), link: link)
        events.append(event)
        if random.chance(options.duplicateShare) {
            event.arrival += UInt32(random.chance(0.5) ? random.number(1...30) : random.number(31...7_200))
            event.traits.insert(.repeated)
            events.append(event)
        }
    }

    /// One of the user's devices, the first one more often than the others.
    mutating func anyDevice() -> UInt8 {
        profile.deviceCount == 1 || random.chance(0.6) ? 0 : UInt8(random.below(profile.deviceCount))
    }

    /// Most records come within seconds. Those from a device that is offline wait for its return, and some are held
    /// up by minutes or hours; together no record is more than 18 hours behind.
    private mutating func arrival(of type: WorkloadEventType, at time: Int) -> Int {
        var arrival = time + random.number(1...3)
        if type.isMadeOnDevice && offline.contains(time) {
            arrival = offline.upperBound + random.below(20)
        }
        if random.chance(0.055) {
            arrival += random.chance(0.7) ? random.number(120...2_400) : random.number(2_400...43_200)
        }
        if options.lateShare > 0 && random.chance(options.lateShare) {
            arrival = time + random.number(30 * 3_600...60 * 3_600)
        }
        return max(arrival, plan.start)
    }
}
