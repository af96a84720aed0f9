import Synchronization
import TidemarkConfiguration
import TidemarkKafka
import TidemarkReports

@testable import TidemarkProcessor

/// Clients of a cluster that holds a few records and answers as it is told. There is no group, and nothing can be written.
final class StubCluster: ClientFactory {
    typealias Record = (key: [UInt8], value: [UInt8]?)

    let topics: [String]
    let logs: [TopicPartition: [Record]]
    let committed: [TopicPartition: Int64]
    /// What each consumer has been given to read, in the order in which they were made.
    let assignments = Mutex<[[TopicPartition]]>([])
    /// How many producers were asked for, all in vain.
    let producersAskedFor = Mutex(0)
    private let answer: @Sendable (TopicPartition, Int64) -> (low: Int64, high: Int64)

    /// - Parameters:
    ///   - committed: what every group has committed.
    ///   - bounds: first and next offset of a partition, given the length of its log here; asked again for every answer.
    init(
        topics: [String], logs: [TopicPartition: [Record]], committed: [TopicPartition: Int64] = [:],
        bounds: @escaping @Sendable (TopicPartition, Int64) -> (low: Int64, high: Int64) = { (0, $1) }
    ) {
        self.topics = topics
        self.logs = logs
        self.committed = committed
        answer = bounds
    }

    func bounds(of partition: TopicPartition) -> (low: Int64, high: Int64) {
        answer(partition, Int64(logs[partition]?.count ?? 0))
    }

    /// What a process of application `app` with one partition of everything works with.
    func context(_ control: RunControl) -> RunContext {
        let configuration = Configuration()
        return RunContext(
            configuration: configuration, topics: ApplicationTopics(configuration), days: .utc, fingerprint: "",
            epoch: 1, instance: "a", inputPartitions: 1, reportPartitions: 1, openPartitions: 1,
            deadLetterLimit: 1_000_000, keyCheck: nil, control: control, clients: self)
    }

    func consumer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any ConsumerClient { StubConsumer(self) }

    func producer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any TransactionClient {
        producersAskedFor.withLock { $0 += 1 }
        throw KafkaError(code: .state)
    }
}

private final class StubConsumer: ConsumerClient {
    private let cluster: StubCluster
    private var next: [TopicPartition: Int64] = [:]
    private var ended: Set<TopicPartition> = []
    private let number: Int

    init(_ cluster: StubCluster) {
        self.cluster = cluster
        number = cluster.assignments.withLock { assignments in
            assignments.append([])
            return assignments.count - 1
        }
    }

    func topicHandle(_ name: String) -> TopicHandle {
        TopicHandle(simulated: UInt((cluster.topics.firstIndex(of: name) ?? cluster.topics.count) + 1))
    }

    func assign(_ partitions: [PartitionOffset]) {
        cluster.assignments.withLock { $0[number] = partitions.map(\.topicPartition) }
        next = [:]
        ended = []
        for partition in partitions { next[partition.topicPartition] = max(0, partition.offset) }
    }

    func poll(max: Int, timeoutMilliseconds: Int32, _ body: (ConsumedItem) throws -> Void) rethrows -> Int {
        var count = 0
        for (place, offset) in next {
            let log = cluster.logs[place] ?? []
            let handle = topicHandle(place.topic)
            for number in Int(offset)..<Swift.max(Int(offset), log.count) {
                let copy = CopiedRecord(
                    topic: handle, partition: place.partition, offset: Int64(number), timestampMilliseconds: 0,
                    key: log[number].key, value: log[number].value, headers: [])
                try body(.record(copy.record))
                count += 1
            }
            next[place] = Swift.max(offset, Int64(log.count))
            if ended.insert(place).inserted {
                try body(.endOfPartition(topic: handle, partition: place.partition, offset: Int64(log.count)))
            }
        }
        return count
    }

    func committed(_ partitions: [TopicPartition], timeoutMilliseconds: Int32) -> [TopicPartition: Int64] {
        cluster.committed.filter { partitions.contains($0.key) }
    }

    func watermarks(
        of partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) -> [TopicPartition: (low: Int64, high: Int64)] {
        Dictionary(uniqueKeysWithValues: partitions.map { ($0, cluster.bounds(of: $0)) })
    }

    func subscribe(
        _ topics: [String], onAssign: @escaping ([TopicPartition]) -> [PartitionOffset]?,
        onRevoke: @escaping (_ partitions: [TopicPartition], _ isLost: Bool) -> Void
    ) {}
    func pause(_ partitions: [TopicPartition]) {}
    func resume(_ partitions: [TopicPartition]) {}
    func membership() -> (any GroupMembership)? { nil }
    func cachedWatermarks(of partition: TopicPartition) -> (low: Int64, high: Int64)? { nil }
    func partitionCount(of topic: String, timeoutMilliseconds: Int32) -> Int32? { 1 }
    func positions(_ partitions: [TopicPartition]) -> [TopicPartition: Int64] { [:] }
    func close(timeoutMilliseconds: Int32) {}
}
