internal import TidemarkConfiguration
internal import TidemarkKafka

/// Publishes how a worker or the aggregator stands, now and then: what costs something per partition must not cost it per poll.
struct LoopReport {
    private static let interval = Duration.milliseconds(250)

    private let context: RunContext
    private var next = ContinuousClock.now

    init(context: RunContext) { self.context = context }

    /// Publishes what `status` says, if it is time to.
    ///
    /// - Parameter isUrgent: whether something changed that must be seen at once, as an assignment.
    mutating func publish(isUrgent: Bool = false, _ fill: (inout LoopStatus) -> Void) {
        let now = ContinuousClock.now
        guard let name = context.loop, isUrgent || now >= next else { return }
        next = now + LoopReport.interval
        var status = LoopStatus(name: name)
        fill(&status)
        context.control.publish(status)
    }
}

extension PartitionTask {
    /// How the task stands.
    ///
    /// - Parameter consumer: knows the ends of partitions as of its latest fetches.
    func status(_ consumer: (any ConsumerClient)?) -> TaskStatus {
        var status = TaskStatus(partition: partition)
        status.isRestoring = isRestoring
        status.restoreRemaining = restoreRemaining
        status.users = userCount
        status.stateBytes = stateBytes
        status.watermark = watermark
        status.isForwarded = isForwarded
        status.finalMark = finalMark
        status.inputs = startOffsets.map { place in
            InputStatus(
                topic: place.topicPartition.topic, next: place.offset,
                end: consumer?.cachedWatermarks(of: place.topicPartition)?.high)
        }
        status.inputs.sort { $0.topic < $1.topic }
        status.schemaWait = schemaWaitText
        return status
    }
}
