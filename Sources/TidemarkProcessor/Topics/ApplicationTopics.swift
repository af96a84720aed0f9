public import TidemarkConfiguration

/// The names of all topics and groups of one application (`application_id`).
public struct ApplicationTopics: Sendable, Equatable {
    /// Events come from these.
    public let inputs: [String]
    /// Full rows, compacted.
    public let reports: String
    /// Opens that stand now, compacted.
    public let opens: String
    /// Records that could not be counted.
    public let deadLetters: String
    /// Changes of rows from tasks to aggregators; as many partitions as `reports`.
    public let deltas: String
    /// Names of ids from tasks to aggregators, compacted, one partition.
    public let names: String
    /// Events on their way to the tasks, keyed by user, where `input.repartition` brings them together first.
    public let byUser: String
    /// Whether events go through `byUser`.
    public let isRepartitioned: Bool
    /// Positions, user states and verdicts of tasks, compacted; as many partitions as the topics that tasks read.
    public let checkpoint: String
    /// Positions of aggregators and of the sources of events by user, compacted; as many partitions as `reports`. Small, so that they are read
    /// in no time.
    public let positions: String
    /// Which dead letters were fed again, compacted, one partition.
    public let redriven: String
    /// Consumer group of the tasks.
    public let taskGroup: String
    /// Consumer group of the aggregators.
    public let aggregatorGroup: String
    /// Consumer group that brings events together by user.
    public let repartitionGroup: String
    /// Transactional id of what feeds dead letters again: one for the application, so that only one does at a time.
    public let redriveID: String

    /// What tasks read.
    public var taskInputs: [String] { isRepartitioned ? [byUser] : inputs }

    /// The names that a configuration stands for.
    public init(_ configuration: Configuration) {
        let id = configuration.applicationID
        inputs = configuration.input.topics
        reports = configuration.output.reports
        opens = configuration.output.opens
        deadLetters = configuration.output.deadLetters
        deltas = id + "-deltas"
        names = id + "-names"
        checkpoint = id + "-checkpoint"
        positions = id + "-positions"
        byUser = id + "-by-user"
        redriven = id + "-redriven"
        isRepartitioned = configuration.input.repartition
        taskGroup = id
        aggregatorGroup = id + "-reports"
        repartitionGroup = id + "-repartition"
        redriveID = id + "-redrive"
    }
}
