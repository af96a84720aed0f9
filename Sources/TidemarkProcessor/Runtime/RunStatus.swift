/// What a process has done so far and how it stands, as seen from outside: a copy, taken per batch, never per event.
public struct RunStatus: Sendable {
    /// Where a process is on its way.
    public enum Phase: Sendable {
        /// Brokers and topics are being looked at; no thread works yet.
        case starting
        /// The threads work.
        case running
        /// The threads commit and come to an end.
        case stopping
    }

    /// Where the process is on its way.
    public var phase = Phase.starting
    /// Partitions assigned to this process's tasks.
    public var tasks = 0
    /// Tasks that redo history and are not live yet.
    public var restoring = 0
    /// Records consumed live (not redone).
    public var records = 0
    /// How many events ended how, in committed transactions.
    public var counts = VerdictCounts()
    /// How late counted events were, in committed transactions.
    public var lateness = LatenessCounts()
    /// Users in memory.
    public var users = 0
    /// Bytes of the users' states.
    public var stateBytes: Int { loops.flatMap(\.tasks).reduce(0) { $0 + $1.stateBytes } }
    /// Whether no input is read for now, because memory is short.
    public var isHeldBack = false
    /// Committed transactions of tasks.
    public var commits = 0
    /// How long committed transactions of tasks took, from the first record that was sent to the answer.
    public var commitDurations = DurationHistogram()
    /// Transactions that were aborted, of tasks and aggregators.
    public var aborts = 0
    /// Sessions of workers and aggregators that ended early and started over.
    public var restarts = 0
    /// How often a partition was not fetched for a while, because too much of it waited for other topics.
    public var pauses = 0
    /// Why the schema registry does not answer; `nil` while it does, or nobody has asked it.
    public var registryOutage: String?
    /// Partitions whose next record waits for its schema.
    public var schemaWaits: Int {
        loops.reduce(0) { $0 + $1.tasks.count { $0.schemaWait != nil } + $1.sources.count { $0.schemaWait != nil } }
    }
    /// Assignments that workers and aggregators were given.
    public var rebalances = 0
    /// Delta records that aggregators have applied and published.
    public var deltasPublished = 0
    /// Delta records that tasks have committed.
    public var deltasCommitted = 0
    /// Records of rows that aggregators have published, tombstones included.
    public var rowsPublished = 0
    /// The greatest accepted event time, seconds since the epoch.
    public var watermark: UInt32 = 0
    /// The threads that work, in the order in which they were started.
    public var loops: [LoopStatus] = []

    /// Nothing done yet.
    public init() {}
}

/// How one thread stands: a worker, or the aggregator.
public struct LoopStatus: Sendable {
    /// Name of the thread, for example `worker-0`.
    public var name: String
    /// How long the thread has not moved beyond what its last step may take, seconds; not above 0 where it does move.
    public var overdueSeconds = 0.0
    /// Whether it has an assignment of its group, if only an empty one.
    public var isJoined = false
    /// Its tasks; none for the aggregator.
    public var tasks: [TaskStatus] = []
    /// Its partitions of the report; none for workers.
    public var reports: [ReportStatus] = []
    /// Partitions that a standby follows; none for others.
    public var standbys: [StandbyStatus] = []
    /// Its source partitions; only the thread that brings events together by user has some.
    public var sources: [SourceStatus] = []

    /// A thread of this name that has done nothing yet.
    public init(name: String) { self.name = name }
}

/// How one task stands.
public struct TaskStatus: Sendable {
    /// The partition, of every input topic.
    public var partition: Int32
    /// Whether it still redoes history.
    public var isRestoring = false
    /// Offsets of the checkpoint topic that are left to read.
    public var checkpointRemaining: Int64 = 0
    /// Offsets of the input that are left to redo.
    public var restoreRemaining: Int64 = 0
    /// Users in memory.
    public var users = 0
    /// Bytes of the users' states.
    public var stateBytes = 0
    /// The greatest accepted event time, seconds since the epoch; 0 before the first.
    public var watermark: UInt32 = 0
    /// Where it stands in each topic that it reads.
    public var inputs: [InputStatus] = []
    /// The event time from which what is final is reckoned, seconds since the epoch: the watermark, or the lowest one of all sources.
    public var finalMark: UInt32 = 0
    /// Whether it reads events that were brought together by user first.
    public var isForwarded = false
    /// The schema that its next record waits for, from where and since when; `nil` where none is missing.
    public var schemaWait: String?

    /// A task of this partition that has done nothing yet.
    public init(partition: Int32) { self.partition = partition }
}

/// How far a task has read one of its input topics.
public struct InputStatus: Sendable {
    /// The topic.
    public var topic: String
    /// The next offset.
    public var next: Int64
    /// The end of the partition as of the latest fetch, open transactions included; `nil` before the first.
    public var end: Int64?
    /// The last stable offset, before the first open transaction; `nil` while it is not known.
    public var stableEnd: Int64?

    /// A place in a topic.
    public init(topic: String, next: Int64, end: Int64? = nil, stableEnd: Int64? = nil) {
        self.topic = topic
        self.next = next
        self.end = end
        self.stableEnd = stableEnd
    }
}

/// How far a standby has followed a partition that the process does not have.
public struct StandbyStatus: Sendable {
    /// The partition.
    public var partition: Int32
    /// Users in memory.
    public var users: Int
    /// Bytes of their states.
    public var stateBytes: Int
    /// Offsets of the checkpoint topic to its end as of the latest fetch; `nil` before the first.
    public var remaining: Int64?

    /// A place in a checkpoint.
    public init(partition: Int32, users: Int, stateBytes: Int, remaining: Int64?) {
        self.partition = partition
        self.users = users
        self.stateBytes = stateBytes
        self.remaining = remaining
    }
}

/// How far a source partition was read whose events are brought together by user.
public struct SourceStatus: Sendable {
    /// The partition.
    public var partition: Int32
    /// Where it stands in the topic.
    public var input: InputStatus
    /// The greatest accepted event time, seconds since the epoch; 0 before the first.
    public var watermark: UInt32
    /// The schema that its next record waits for, from where and since when; `nil` where none is missing.
    public var schemaWait: String?

    /// A place in a partition.
    public init(partition: Int32, input: InputStatus, watermark: UInt32) {
        self.partition = partition
        self.input = input
        self.watermark = watermark
    }
}

/// How far an aggregator has read the changes of one partition of the report.
public struct ReportStatus: Sendable {
    /// The partition.
    public var partition: Int32
    /// The next offset of the delta topic.
    public var next: Int64
    /// The end of the partition of the delta topic as of the latest fetch; `nil` before the first.
    public var end: Int64?

    /// A place in the delta topic.
    public init(partition: Int32, next: Int64, end: Int64?) {
        self.partition = partition
        self.next = next
        self.end = end
    }
}

/// How long things took: how many, their sum, and how many took no longer than each of some fixed bounds.
public struct DurationHistogram: Equatable, Sendable {
    /// The bounds, seconds.
    public static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    /// By bound, how many took no longer than it and longer than the bound before.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count)
    /// All there were.
    public private(set) var count = 0
    /// Sum, seconds.
    public private(set) var sum = 0.0

    /// None.
    public init() {}

    /// Adds one.
    public mutating func add(_ duration: Duration) {
        let seconds = duration / .seconds(1)
        count += 1
        sum += seconds
        if let place = DurationHistogram.bounds.firstIndex(where: { seconds <= $0 }) { counts[place] += 1 }
    }
}
