internal import TidemarkConfiguration
internal import TidemarkKafka

/// What a task with several input topics has received of its partition and not taken yet.
final class MergedInput {
    /// Bytes that may wait in all tasks of a process together where `limits.memory` says nothing, and bounds on the share of one partition of
    /// one topic. What comes in one fetch should fit, else partitions stop and go all the time.
    private static let processBytes = 384 << 20
    private static let partitionBytes = (256 << 10)...(32 << 20)
    private static let partitionRecords = 100_000

    private let partition: Int32
    private let topics: [InputTopic]
    private var merge: InputMerge<CopiedRecord>
    /// The next offset to come, by topic.
    private var received: [Int64]

    /// - Parameter partition: the number of the partition, of every input topic.
    init(context: RunContext, partition: Int32) {
        self.partition = partition
        topics = InputTopic.all(context)
        let total = context.configuration.limits.memory.map { $0 / 8 } ?? MergedInput.processBytes
        let share = total / (context.inputPartitions * topics.count)
        let bounds = MergedInput.partitionBytes
        merge = InputMerge(
            topics: topics.count,
            limits: .init(
                records: MergedInput.partitionRecords, bytes: min(max(share, bounds.lowerBound), bounds.upperBound)))
        received = Array(repeating: 0, count: topics.count)
    }

    /// Takes a record in; one that came before is ignored.
    ///
    /// - Parameter mayPass: whether it may be taken at once.
    /// - Returns: whether it is the next one of all topics and should be taken now; else it waits.
    func receive(_ record: ConsumedRecord, of topic: InputTopic, mayPass: Bool) -> Bool {
        guard record.offset >= received[topic.index] else { return false }
        received[topic.index] = record.offset + 1
        if mayPass, merge.isNext(record.timestampMilliseconds, of: topic.index) {
            merge.pass(topic.index)
            return true
        }
        let copy = record.copy()
        merge.append(copy, timestamp: record.timestampMilliseconds, size: copy.byteCount, of: topic.index)
        return false
    }

    /// The next offset of a topic to come.
    func next(of place: Int) -> Int64 { received[place] }

    /// Notes that a topic was read to its end; records that came behind it since make that void.
    func reachedEnd(of topic: InputTopic, offset: Int64) {
        guard offset >= received[topic.index] else { return }
        received[topic.index] = max(received[topic.index], offset)
        merge.reachedEnd(of: topic.index, offset: offset)
    }

    /// The next record whose turn it is.
    func next() -> (record: CopiedRecord, topic: InputTopic)? {
        merge.next().map { ($0.record, topics[$0.topic]) }
    }

    /// Where topics end that were read up to there and have no record waiting.
    var ends: [(topic: InputTopic, offset: Int64)] {
        topics.compactMap { topic in merge.end(of: topic.index).map { (topic, $0) } }
    }

    /// Where a topic ends, once it was read up to there and no record of it waits.
    func end(of topic: InputTopic) -> Int64? { merge.end(of: topic.index) }

    /// The next partition whose fetching should change.
    func takeFetchChange() -> FetchChange? {
        merge.takeFlowChange().map {
            FetchChange(partition: place($0.topic), isPaused: $0.isPaused, next: received[$0.topic])
        }
    }

    /// The partitions that are not fetched for now.
    var paused: [TopicPartition] { merge.pausedTopics.map(place) }

    /// Forgets all that waits: it will be read again.
    ///
    /// - Returns: the partitions that are not fetched for now.
    func removeAll() -> [TopicPartition] {
        received = Array(repeating: 0, count: topics.count)
        return merge.removeAll().map(place)
    }

    private func place(_ topic: Int) -> TopicPartition {
        TopicPartition(topic: topics[topic].name, partition: partition)
    }
}
