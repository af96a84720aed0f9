/// One record of a sample stream, in buffers that are used again for the next.
public struct WorkloadRecord: Sendable {
    /// The user's id, which is the key of the record in Kafka.
    public var userID: [UInt8] = []
    /// The dotted name of the event's type.
    public var eventType = ""
    /// When it happened, in seconds since the epoch.
    public var time = 0
    /// When it comes, in seconds since the epoch: the timestamp of the record in Kafka.
    public var arrival = 0
    /// Whether it is a record that came before.
    public var isRepeated = false
    /// The flat JSON object.
    public var json: [UInt8] = []

    /// An empty record.
    public init() {
        json.reserveCapacity(2_048)
    }
}

/// The records of a sample stream in order of arrival.
///
/// A slice of the stream is made for all users at a time and sorted into hours by arrival; what comes later waits in
/// the hour of its arrival. So the memory holds what happens in six hours and what is held up, however long the stream.
public struct WorkloadStream: Sendable {
    private let plans: [SlicePlan]
    private let options: WorkloadOptions
    private let writer: RecordWriter
    private var schedule: UserSchedule
    private var nextPlan = 0
    /// The waiting events by the hour of their arrival, counted from the start of the stream.
    private var hours: [Int: [WorkloadEvent]] = [:]
    private var nextHour = 0
    private var current: [WorkloadEvent] = []
    private var nextEvent = 0

    init(_ workload: Workload) {
        plans = workload.plans
        options = workload.options
        writer = workload.writer
        schedule = workload.schedule()
    }

    /// Puts the next record into a buffer.
    ///
    /// - Returns: false, with the buffer as it was, after the last record.
    public mutating func next(into record: inout WorkloadRecord) -> Bool {
        guard let event = nextCompact() else { return false }
        let profile = describe(event, in: &record)
        record.json.removeAll(keepingCapacity: true)
        writer.write(event, of: profile, to: &record.json)
        return true
    }

    /// Puts the next record into a buffer in another shape, with just the fields that the rules need; this takes longer.
    ///
    /// - Returns: false, with the buffer as it was, after the last record.
    public mutating func next(into record: inout WorkloadRecord, shape: WireShape) -> Bool {
        guard let event = nextCompact() else { return false }
        let profile = describe(event, in: &record)
        record.json = SampleEventMaker(profile, writer: writer).sample(event).json(shape)
        return true
    }

    /// The next event itself, with just the fields that the rules need; `nil` after the last one.
    public mutating func nextSample() -> SampleEvent? {
        guard let event = nextCompact() else { return nil }
        return SampleEventMaker(UserProfile(Int(event.user), options: options), writer: writer).sample(event)
    }

    /// Notes all but the JSON of an event; returns its user.
    private func describe(_ event: WorkloadEvent, in record: inout WorkloadRecord) -> UserProfile {
        let profile = UserProfile(Int(event.user), options: options)
        record.userID.removeAll(keepingCapacity: true)
        profile.write(userID: &record.userID)
        record.eventType = event.type.name
        record.time = Int(event.time)
        record.arrival = Int(event.arrival)
        record.isRepeated = event.traits.contains(.repeated)
        return profile
    }

    private mutating func nextCompact() -> WorkloadEvent? {
        while nextEvent == current.count {
            guard fill() else { return nil }
        }
        nextEvent += 1
        return current[nextEvent - 1]
    }

    /// Makes the next hour current.
    private mutating func fill() -> Bool {
        if nextHour * 3_600 >= nextPlan * SlicePlan.length && nextPlan < plans.count {
            makeSlice(plans[nextPlan])
            nextPlan += 1
        }
        if nextPlan == plans.count && hours.isEmpty { return false }
        current = hours.removeValue(forKey: nextHour) ?? []
        current.sort(by: Workload.arrivesEarlier)
        nextHour += 1
        nextEvent = 0
        return true
    }

    private mutating func makeSlice(_ plan: SlicePlan) {
        schedule.turn(to: plan)
        for place in 0..<options.users {
            schedule.add(place: place)
            for event in schedule.events {
                hours[(Int(event.arrival) - options.start) / 3_600, default: []].append(event)
            }
            schedule.events.removeAll(keepingCapacity: true)
        }
    }
}
