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
        let checkpoint = TopicPartition(topic: ApplicationTopics(Configuration()).checkpoint, partition: 0)
        let damaged = (key: CheckpointRecord.chunkKey(ChunkID(depth: 0, prefix: 0), part: 0), value: [UInt8]?([0x80]))
        let cluster = StubCluster(topics: [checkpoint.topic], logs: [checkpoint: [damaged]])
        let context = cluster.context(control)
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
