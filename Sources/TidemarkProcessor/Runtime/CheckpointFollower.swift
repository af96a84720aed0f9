internal import TidemarkConfiguration
internal import TidemarkKafka

/// Follows partitions of `<app>-checkpoint`, committed records only, without any group.
final class CheckpointFollower {
    /// Records of one step at most; chunks are up to some hundred KB each.
    private static let stepRecords = 128

    private let topic: String
    private let consumer: any ConsumerClient
    private var shadows: [Int32: CheckpointShadow] = [:]

    /// - Parameter isUrgent: whether somebody waits for the end of the partitions. It shows in an answer without records, which brokers then
    ///   give at once instead of waiting for more.
    init(context: RunContext, isUrgent: Bool) throws {
        topic = context.topics.checkpoint
        var properties = ClientProperties(context.configuration).reader(
            name: context.configuration.applicationID + "-reader")
        if isUrgent { properties["fetch.wait.max.ms"] = "10" }
        consumer = try context.clients.consumer(properties, log: nil)
    }

    /// The partitions that are followed.
    var partitions: Set<Int32> { Set(shadows.keys) }

    /// The shadow of a partition that is followed.
    func shadow(_ partition: Int32) -> CheckpointShadow? { shadows[partition] }

    /// How many offsets a shadow has to go to the end as of the latest fetch; `nil` before the first.
    func remaining(of shadow: CheckpointShadow) -> Int64? {
        let place = TopicPartition(topic: topic, partition: shadow.partition)
        return consumer.cachedWatermarks(of: place).map { max(0, $0.high - (shadow.next ?? 0)) }
    }

    /// Goes on with the given shadows and no others, each from where it is.
    func follow(_ wanted: [CheckpointShadow]) throws {
        let isSame =
            wanted.count == shadows.count && wanted.allSatisfy { shadows[$0.partition] === $0 }
        guard !isSame else { return }
        shadows = Dictionary(uniqueKeysWithValues: wanted.map { ($0.partition, $0) })
        try consumer.assign(
            wanted.map {
                PartitionOffset(topic: topic, partition: $0.partition, offset: $0.next ?? PartitionOffset.beginning)
            })
    }

    /// Takes some of what has come.
    ///
    /// - Parameter timeoutMilliseconds: how long to wait where nothing has.
    func advance(timeoutMilliseconds: Int32) throws {
        _ = try consumer.poll(max: CheckpointFollower.stepRecords, timeoutMilliseconds: timeoutMilliseconds) { item in
            switch item {
            case .record(let record):
                guard let shadow = shadows[record.partition], record.offset >= shadow.next ?? 0 else { return }
                shadow.next = record.offset + 1
                try shadow.take(key: record.keyBytes, value: record.value)
            case .endOfPartition(_, let partition, let offset):
                guard let shadow = shadows[partition] else { return }
                shadow.next = max(shadow.next ?? 0, offset)
            case .failure(let error, _, let partition):
                if error.isLasting { throw error }
                if error.isFatal || error.code == .offsetOutOfRange || error.code == .noOffsetToStartFrom {
                    throw Restart(description: "cannot read \(topic)[\(partition ?? -1)]: \(error)")
                }
            }
        }
    }

    func close() { consumer.close(timeoutMilliseconds: 10_000) }
}
