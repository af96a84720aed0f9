/// A sample stream of Currents events with a known truth.
///
/// Every event of a user follows from the options and the user's number, so the whole stream and the report that is
/// due at its end can be made independently of each other, and neither keeps all events in memory.
public struct Workload: Sendable {
    /// What the stream is made of.
    public let options: WorkloadOptions
    let catalog: Catalog
    let writer: RecordWriter
    let plans: [SlicePlan]

    /// The stream with these options.
    public init(_ options: WorkloadOptions = WorkloadOptions()) {
        self.options = options
        catalog = Catalog(options)
        writer = RecordWriter(catalog: catalog, options: options)
        plans = (0..<options.days * 4).map { SlicePlan($0, options: options) }
    }

    /// The records from the first one on, in order of arrival.
    public func stream() -> WorkloadStream {
        WorkloadStream(self)
    }

    /// All events of the users that hold a place, user by user, each in order of arrival; repeated ones and those of
    /// unknown types too.
    ///
    /// - Parameter place: the place, from 0 up to `options.users`. Without turnover it has one user or, where nothing
    ///   happens, none.
    public func events(ofPlace place: Int) -> [[SampleEvent]] {
        var schedule = schedule()
        return compactEvents(ofPlace: place, with: &schedule).map(samples)
    }

    /// The report of the stream, as far as all of it is accepted, and what the stream consists of.
    ///
    /// - Throws: `UnknownTimeZone` if the settings name one.
    public func truth(settings: PlainSettings, keepsOpens: Bool = false) throws -> Truth {
        var truth = Truth(evaluation: try PlainEvaluation(settings: settings, keepsOpens: keepsOpens))
        var schedule = schedule()
        for place in 0..<options.users {
            for events in compactEvents(ofPlace: place, with: &schedule) {
                for event in events {
                    truth.count(event)
                }
                truth.evaluation.add(user: samples(events))
            }
        }
        return truth
    }

    /// A schedule at the first slice.
    func schedule() -> UserSchedule {
        UserSchedule(catalog: catalog, options: options, plan: plans[0])
    }

    /// The order of events in the stream; equal ones are a record and its repetition.
    static func arrivesEarlier(_ left: WorkloadEvent, _ right: WorkloadEvent) -> Bool {
        if left.arrival != right.arrival { return left.arrival < right.arrival }
        if left.user != right.user { return left.user < right.user }
        return left.identity < right.identity
    }

    private func compactEvents(ofPlace place: Int, with schedule: inout UserSchedule) -> [ArraySlice<WorkloadEvent>] {
        schedule.events.removeAll(keepingCapacity: true)
        for plan in plans {
            schedule.turn(to: plan)
            schedule.add(place: place)
        }
        let events = schedule.events.sorted { left, right in
            left.user != right.user ? left.user < right.user : Self.arrivesEarlier(left, right)
        }
        var users: [ArraySlice<WorkloadEvent>] = []
        var rest = events[...]
        while let user = rest.first?.user {
            users.append(rest.prefix { $0.user == user })
            rest = rest.drop { $0.user == user }
        }
        return users
    }

    /// The events of one user, of which there is at least one.
    private func samples(_ events: ArraySlice<WorkloadEvent>) -> [SampleEvent] {
        let user = events.first.map { Int($0.user) } ?? 0
        return events.map(SampleEventMaker(UserProfile(user, options: options), writer: writer).sample)
    }
}

extension Workload {
    /// What is known about a sample stream.
    public struct Truth: Sendable {
        /// The evaluation of all events of the stream.
        public internal(set) var evaluation: PlainEvaluation
        /// The number of events, each counted once, of types that reports know.
        public private(set) var uniqueEvents = 0
        /// The number of records that repeat an earlier one of a type that reports know.
        public private(set) var duplicates = 0
        /// The number of records of types that reports skip, repeated ones too.
        public private(set) var unknownTypes = 0

        init(evaluation: PlainEvaluation) {
            self.evaluation = evaluation
        }

        /// The number of all records.
        public var records: Int { uniqueEvents + duplicates + unknownTypes }
        /// The number of direct opens.
        public var directOpens: Int { evaluation.directOpens }
        /// The number of influenced opens.
        public var influencedOpens: Int { evaluation.influencedOpens }

        mutating func count(_ event: WorkloadEvent) {
            if event.type.isUnknown {
                unknownTypes += 1
            } else if event.traits.contains(.repeated) {
                duplicates += 1
            } else {
                uniqueEvents += 1
            }
        }
    }
}
