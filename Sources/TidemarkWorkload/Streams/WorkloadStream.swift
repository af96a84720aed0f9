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
    /// The JSON object.
    public var json: [UInt8] = []

    /// An empty record.
    public init() {
        json.reserveCapacity(2_048)
    }
}

/// Events of a sample stream that follow one another, in the few bytes that they take before they are written.
public struct WorkloadRun: Sendable {
    let events: ArraySlice<WorkloadEvent>
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
    private var hours: [[WorkloadEvent]] = []
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
    /// - Parameter shape: the record's shape, with just the fields that the rules need, which takes longer; `nil` is a
    ///   flat record with all fields of its type.
    /// - Returns: false, with the buffer as it was, after the last record.
    public mutating func next(into record: inout WorkloadRecord, shape: WireShape? = nil) -> Bool {
        guard let event = nextRun(atMost: 1)?.events.first else { return false }
        let profile = UserProfile(Int(event.user), options: options)
        record.userID = Array(String(written: profile.write(userID:)).utf8)
        record.eventType = event.type.name
        record.time = Int(event.time)
        record.arrival = Int(event.arrival)
        record.isRepeated = event.traits.contains(.repeated)
        if let shape {
            record.json = SampleEventMaker(profile, writer: writer).sample(event).json(shape)
        } else {
            record.json = Array(unsafeUninitializedCapacity: writer.longestRecord) { memory, count in
                guard let start = memory.baseAddress else { return }
                var cursor = ByteCursor(at: start)
                writer.write(event, of: profile, to: &cursor)
                count = cursor.end - UnsafeMutableRawPointer(start)
            }
        }
        return true
    }

    /// The next event itself, with just the fields that the rules need; `nil` after the last one.
    public mutating func nextSample() -> SampleEvent? {
        guard let event = nextRun(atMost: 1)?.events.first else { return nil }
        return SampleEventMaker(UserProfile(Int(event.user), options: options), writer: writer).sample(event)
    }

    /// The next events; `nil` after the last ones.
    ///
    /// - Parameter atMost: how many they are at most, 1 at least; fewer where an hour ends.
    mutating func nextRun(atMost count: Int) -> WorkloadRun? {
        while nextEvent == current.count {
            guard fill() else { return nil }
        }
        let end = min(nextEvent + count, current.count)
        defer { nextEvent = end }
        return WorkloadRun(events: current[nextEvent..<end])
    }

    /// Makes the next hour current.
    private mutating func fill() -> Bool {
        if nextHour * 3_600 >= nextPlan * SlicePlan.length && nextPlan < plans.count {
            makeSlice(plans[nextPlan])
            nextPlan += 1
        }
        if nextPlan == plans.count && nextHour >= hours.count { return false }
        current = []
        if nextHour < hours.count { swap(&current, &hours[nextHour]) }
        current.sortByArrival(from: options.start + nextHour * 3_600, seconds: 3_600)
        nextHour += 1
        nextEvent = 0
        return true
    }

    private mutating func makeSlice(_ plan: SlicePlan) {
        schedule.turn(to: plan)
        for place in 0..<options.users {
            schedule.add(place: place)
            for event in schedule.events {
                let hour = (Int(event.arrival) - options.start) / 3_600
                while hours.count <= hour { hours.append([]) }
                hours[hour].append(event)
            }
            schedule.events.removeAll(keepingCapacity: true)
        }
    }
}
