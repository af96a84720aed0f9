import Foundation
import Synchronization
import Testing
import TidemarkConfiguration
import TidemarkKafka
import TidemarkReports

@testable import TidemarkProcessor

/// A standby that cannot go on.
@Suite("Standby")
struct StandbyTests {
    @Test("where a checkpoint cannot be read, the standby says so and holds up nobody who takes the partition over")
    func damagedCheckpoint() throws {
        let lines = Mutex<[String]>([])
        let control = RunControl(application: "app") { line in lines.withLock { $0.append(line.message) } }
        let configuration = Configuration()
        let context = RunContext(
            configuration: configuration, topics: ApplicationTopics(configuration), days: .utc, fingerprint: "",
            epoch: 1, instance: "a", inputPartitions: 1, reportPartitions: 1, openPartitions: 1,
            deadLetterLimit: 1_000_000, keyCheck: nil, control: control, clients: DamagedCheckpoint())
        let standby = Standby()
        let ended = DispatchSemaphore(value: 0)
        Thread {
            try? standby.run(context)
            ended.signal()
        }.start()
        let end = Date(timeIntervalSinceNow: 20)
        while Date() < end, !lines.withLock({ $0.contains { $0.hasPrefix("the standby ends: ") } }) {
            Thread.sleep(forTimeInterval: 0.01)
        }
        standby.note([0], of: "worker-0")
        guard case .none = standby.take(0) else {
            Issue.record("a worker would wait for ever: \(lines.withLock { $0 })")
            return
        }
        #expect(lines.withLock { $0.first }?.contains("a chunk of the checkpoint topic is damaged") == true)
        control.stop()
        #expect(ended.wait(timeout: .now() + 20) == .success)
        #expect(control.failure == nil)
    }
}

/// Clients of a cluster whose checkpoint has one record, and that is damaged.
private struct DamagedCheckpoint: ClientFactory {
    func consumer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any ConsumerClient { Consumer() }

    func producer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any TransactionClient { throw KafkaError(code: .state) }

    private final class Consumer: ConsumerClient {
        private let record = CopiedRecord(
            topic: TopicHandle(simulated: 1), partition: 0, offset: 0, timestampMilliseconds: 0,
            key: CheckpointRecord.chunkKey(ChunkID(depth: 0, prefix: 0), part: 0), value: [0x80], headers: [])
        private var isAssigned = false

        func assign(_ partitions: [PartitionOffset]) { isAssigned = !partitions.isEmpty }

        func poll(max: Int, timeoutMilliseconds: Int32, _ body: (ConsumedItem) throws -> Void) rethrows -> Int {
            guard isAssigned else { return 0 }
            try body(.record(record.record))
            return 1
        }

        func topicHandle(_ name: String) -> TopicHandle { TopicHandle(simulated: 1) }
        func subscribe(
            _ topics: [String], onAssign: @escaping ([TopicPartition]) -> [PartitionOffset]?,
            onRevoke: @escaping (_ partitions: [TopicPartition], _ isLost: Bool) -> Void
        ) {}
        func pause(_ partitions: [TopicPartition]) {}
        func resume(_ partitions: [TopicPartition]) {}
        func membership() -> (any GroupMembership)? { nil }
        func committed(_ partitions: [TopicPartition], timeoutMilliseconds: Int32) -> [TopicPartition: Int64] { [:] }
        func watermarks(
            of partitions: [TopicPartition], timeoutMilliseconds: Int32
        ) -> [TopicPartition: (low: Int64, high: Int64)] { [:] }
        func cachedWatermarks(of partition: TopicPartition) -> (low: Int64, high: Int64)? { nil }
        func partitionCount(of topic: String, timeoutMilliseconds: Int32) -> Int32? { 1 }
        func positions(_ partitions: [TopicPartition]) -> [TopicPartition: Int64] { [:] }
        func close(timeoutMilliseconds: Int32) {}
    }
}
