import Synchronization
import Testing
import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka

@testable import TidemarkProcessor

/// Tasks on their way from a checkpoint to their input.
@Suite("Restorer")
struct RestorerTests {
    private let input = TopicPartition(topic: ApplicationTopics(Configuration()).inputs[0], partition: 0)
    private let checkpoint = TopicPartition(topic: ApplicationTopics(Configuration()).checkpoint, partition: 0)

    /// Restores a task that stands at offset 5 of its input.
    ///
    /// - Parameters:
    ///   - inputStart: where the input begins.
    ///   - checkpointEnds: where the checkpoint ends, from one time that it is asked for to the next; the last holds.
    private func restore(
        inputStart: Int64 = 10, checkpointEnds: [Int64]
    ) throws -> (ready: [PartitionTask], cluster: StubCluster) {
        let position = Position(
            epoch: 1, commit: 3, watermark: 0, partitions: 1, reportPartitions: 1,
            opens: ApplicationTopics(Configuration()).opens, openPartitions: 1, fingerprint: "",
            inputs: [input.topic: Position.Input(start: 0, next: 5)])
        let asked = Mutex(0)
        let cluster = StubCluster(
            topics: [input.topic, checkpoint.topic],
            logs: [checkpoint: [(CheckpointRecord.positionKey, JSONRecord.encode(position))]], committed: [input: 5],
            bounds: { [input, checkpoint] place, _ in
                if place == input { return (inputStart, 20) }
                guard place == checkpoint else { return (0, 0) }
                let number = asked.withLock { count in
                    count += 1
                    return count
                }
                return (0, checkpointEnds[min(number, checkpointEnds.count) - 1])
            })
        let control = RunControl(application: "app") { _ in }
        let context = cluster.context(control)
        let reader = try PartitionReader(context.configuration, control: control, clients: cluster)
        let restorer = try Restorer(
            context: context, consumer: try cluster.consumer([:], log: nil), reader: reader,
            decoder: EventDecoder(limits: context.decoderLimits))
        restorer.begin([0: [input.topic]])
        for _ in 0..<10 {
            let ready = try restorer.step(mayWait: false)
            if !ready.isEmpty { return (ready, cluster) }
        }
        return ([], cluster)
    }

    @Test("once the last task is ready, nothing is fetched from checkpoints any more")
    func endsFetching() throws {
        let (ready, cluster) = try restore(inputStart: 0, checkpointEnds: [1])
        #expect(ready.map(\.partition) == [0])
        #expect(cluster.assignments.withLock { $0.count } > 2)
        #expect(cluster.assignments.withLock { $0.allSatisfy(\.isEmpty) })
    }

    @Test("input that is gone is refused, with advice")
    func lostInput() {
        let failure = #expect(throws: RunFailure.self) { try restore(checkpointEnds: [1]) }
        #expect(
            failure?.description.contains(
                "\(input) now begins at offset 10, but the state is made from offset 5 on: retention has removed events"
            ) == true)
    }

    @Test("whoever was frozen while others went on takes nothing for lost that they have read long ago")
    func frozenWhileOthersWentOn() {
        let restart = #expect(throws: Restart.self) { try restore(checkpointEnds: [1, 7]) }
        #expect(restart?.description == "partition 0 was taken over by another while its state was read here")
    }
}
