internal import TidemarkKafka

/// Tells in the log how far reading a topic back has come, every few seconds.
struct RestoreProgress {
    private static let interval = Duration.seconds(5)

    private let context: RunContext
    private let source: TopicPartition
    private let end: Int64
    private let begin: ContinuousClock.Instant
    private var nextNote: ContinuousClock.Instant
    private var next: Int64 = 0
    /// Records and bytes of their values read so far.
    private(set) var recordCount = 0
    private(set) var byteCount = 0

    /// - Parameter end: the offset to read to.
    init(context: RunContext, of source: TopicPartition, to end: Int64) {
        self.context = context
        self.source = source
        self.end = end
        begin = context.control.now
        nextNote = begin + RestoreProgress.interval
    }

    /// How long it has taken.
    var milliseconds: Int { Int(begin.duration(to: context.control.now).milliseconds) }

    /// Counts a record, and looks at the clock now and then.
    mutating func note(_ record: ConsumedRecord) {
        recordCount += 1
        byteCount += record.value?.count ?? 0
        next = record.offset + 1
        guard recordCount.isMultiple(of: 1_024), context.control.now >= nextNote else { return }
        nextNote = context.control.now + RestoreProgress.interval
        context.log(
            "reading \(source) back: \(recordCount) records, \(byteCount >> 20) MB, \(max(0, end - next)) offsets left",
            partition: source.partition)
    }
}
