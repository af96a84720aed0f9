import Synchronization
import Testing
import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka
import TidemarkRegistry
import TidemarkReports

@testable import TidemarkProcessor

/// Tasks whose schemas come late, or never, against tasks whose schemas are all there.
@Suite("Waiting for schemas")
struct SchemaWaitTests {
    private static let schema = """
        {"type":"record","name":"users.messages.pushnotification.Send","fields":[{"name":"id","type":"string"},
        {"name":"user_id","type":"string"},{"name":"time","type":"long"}]}
        """
    /// The ids of schemas: those of the last ten do not exist.
    private static let ids: ClosedRange<UInt32> = 1...30
    private static func exists(_ id: UInt32) -> Bool { id <= 20 }

    /// A registry that has what a test has given it.
    private final class Schemas: SchemaSource {
        let settled: Mutex<Set<UInt32>>
        let asked = Mutex<Set<UInt32>>([])
        let addresses = "http://registry"

        init(settled: Set<UInt32> = []) { self.settled = Mutex(settled) }

        func state(of id: UInt32) -> SchemaFetcher.State {
            _ = asked.withLock { $0.insert(id) }
            guard settled.withLock({ $0.contains(id) }) else {
                return .wanted(SchemaWait(id: id, since: .now, problem: "it is down"))
            }
            return SchemaWaitTests.exists(id)
                ? .known(RegisteredSchema(kind: .avro, text: SchemaWaitTests.schema)) : .unknown("there is none")
        }

        func settle(_ id: UInt32) { _ = settled.withLock { $0.insert(id) } }
    }

    /// A task with the consumer's part of the work: it reads from a log, and heeds what should not be fetched.
    private final class Reader {
        let task: PartitionTask
        let topics: [InputTopic]
        private let logs: [[CopiedRecord]]
        private var next: [Int64]
        private var paused: Set<Int> = []
        private var hasEnded: Set<Int> = []
        let batch = OutboundBatch()

        init(_ task: PartitionTask, _ context: RunContext, logs: [[CopiedRecord]]) {
            self.task = task
            self.logs = logs
            topics = InputTopic.all(context)
            next = []
            rewind()
        }

        /// Reads on from where the task stands, as after an assignment.
        func rewind() {
            let offsets = Dictionary(
                uniqueKeysWithValues: task.startOffsets.map { ($0.topicPartition.topic, $0.offset) })
            next = topics.map { offsets[$0.name] ?? 0 }
            hasEnded = []
        }

        /// As when partitions are taken away and come back.
        func dropAndRewind() {
            let dropped = Set(task.dropWaiting().map(\.topic))
            #expect(dropped == Set(paused.map { topics[$0].name }))
            paused = []
            rewind()
        }

        /// Hands the task up to some records of a topic, and tells where it ends.
        func poll(_ place: Int, count: Int) throws {
            for _ in 0..<count where !paused.contains(place) && next[place] < Int64(logs[place].count) {
                let record = logs[place][Int(next[place])].record
                next[place] += 1
                try task.take(record, topic: topics[place])
                heedChanges()
            }
            if !paused.contains(place), next[place] == Int64(logs[place].count), hasEnded.insert(place).inserted {
                // Behind a control record.
                try task.reachedEnd(of: topics[place], offset: next[place] + 1)
                heedChanges()
            }
            task.finishTaking()
        }

        func look() throws {
            try task.lookForSchema()
            heedChanges()
            task.finishTaking()
        }

        private func heedChanges() {
            while let change = task.takeFetchChange() {
                let place = topics.firstIndex { $0.name == change.partition.topic } ?? 0
                if change.isPaused {
                    paused.insert(place)
                } else {
                    #expect(next[place] <= change.next)
                    paused.remove(place)
                }
            }
        }

        /// Everything that commits have written, in order.
        func commit() -> [[UInt8]?] {
            batch.removeAll()
            task.prepareCommit(into: batch, taskCount: 1)
            task.finishCommit()
            var records: [[UInt8]?] = []
            batch.forEach { record, key, value in
                records.append(Array(record.topic.utf8))
                records.append(key.map(Array.init))
                records.append(value.map(Array.init))
            }
            return records
        }

        /// Whether all was taken.
        var isDone: Bool {
            task.startOffsets.allSatisfy { start in
                let place = topics.firstIndex { $0.name == start.topicPartition.topic } ?? 0
                return start.offset > Int64(logs[place].count)
            }
        }
    }

    private func context(_ topics: [String], _ schemas: any SchemaSource) throws -> RunContext {
        let configuration = try Configuration.load(
            text: "input.topics: [\(topics.joined(separator: ", "))]", name: "")
        var context = StubCluster(topics: topics, logs: [:]).context(RunControl(application: "app") { _ in })
        context = RunContext(
            configuration: configuration, topics: ApplicationTopics(configuration), days: .utc, fingerprint: "",
            epoch: 1, instance: "a", inputPartitions: 1, reportPartitions: 1, openPartitions: 1,
            deadLetterLimit: 1_000_000, keyCheck: nil, control: context.control)
        context.registry = schemas
        return context
    }

    private func task(_ context: RunContext) -> PartitionTask {
        PartitionTask(context: context, partition: 0, starts: [:], decoder: EventDecoder())
    }

    /// Logs of JSON, Avro of some schemas, and rubbish.
    private func logs(_ topics: Int, records: Int, _ random: inout SeededGenerator) -> [[CopiedRecord]] {
        let base = 1_767_225_600
        return (0..<topics).map { topic in
            (0..<records).map { number in
                let time = base + number * 60
                let id = "\(topic)-\(number)"
                let user = "u-\(Int.random(in: 0...9, using: &random))"
                var value: [UInt8]
                switch Int.random(in: 0...9, using: &random) {
                case 0...4:
                    value = Array(
                        #"{"event_type":"users.messages.pushnotification.Send","id":"\#(id)","user_id":"\#(user)","time":\#(time)}"#
                            .utf8)
                case 5: value = [0, 0, 0]
                default:
                    value = [0] + withUnsafeBytes(of: UInt32.random(in: Self.ids, using: &random).bigEndian, Array.init)
                    for text in [id, user] { value += [UInt8(text.utf8.count * 2)] + Array(text.utf8) }
                    var avro = UInt64(time) << 1
                    while avro >= 0x80 {
                        value.append(UInt8(avro & 0x7F) | 0x80)
                        avro >>= 7
                    }
                    value.append(UInt8(avro))
                }
                return CopiedRecord(
                    topic: TopicHandle(simulated: UInt(topic + 1)), partition: 0, offset: Int64(number),
                    timestampMilliseconds: Int64(time) * 1_000, key: Array(user.utf8), value: value, headers: [])
            }
        }
    }

    /// Reads everything with all schemas there.
    private func expected(_ topics: [String], _ logs: [[CopiedRecord]]) throws -> (Reader, [[UInt8]?]) {
        let context = try context(topics, Schemas(settled: Set(Self.ids)))
        let reader = Reader(task(context), context, logs: logs)
        while !reader.isDone { for place in topics.indices { try reader.poll(place, count: 10) } }
        return (reader, reader.commit())
    }

    @Test("Whenever schemas come, and whatever is taken away meanwhile, the same is published", arguments: 1...60)
    func randomSchedules(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let topics = Array(["a", "b", "c"].prefix(Int.random(in: 1...3, using: &random)))
        let logs = logs(topics.count, records: 60, &random)
        let (_, wanted) = try expected(topics, logs)
        let schemas = Schemas()
        let context = try context(topics, schemas)
        let reader = Reader(task(context), context, logs: logs)
        var steps = 0
        while !reader.isDone, steps < 100_000 {
            steps += 1
            switch Int.random(in: 0...19, using: &random) {
            case 0: schemas.settle(UInt32.random(in: Self.ids, using: &random))
            case 1 where Bool.random(using: &random): reader.dropAndRewind()
            case 2...4: try reader.look()
            default:
                try reader.poll(
                    Int.random(in: topics.indices, using: &random), count: Int.random(in: 1...20, using: &random))
            }
        }
        #expect(reader.isDone, "seed \(seed)")
        #expect(reader.commit() == wanted, "seed \(seed)")
    }

    @Test(
        "History is redone as it was, whenever schemas come, and asks for none of what was refused", arguments: 1...60)
    func randomRedo(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let topics = Array(["a", "b", "c"].prefix(Int.random(in: 1...3, using: &random)))
        let logs = logs(topics.count, records: 60, &random)
        let (first, _) = try expected(topics, logs)
        let schemas = Schemas()
        let context = try context(topics, schemas)
        let restored = try restored(from: first, context)
        let reader = Reader(restored, context, logs: logs)
        var steps = 0
        while restored.isRestoring, steps < 100_000 {
            steps += 1
            switch Int.random(in: 0...19, using: &random) {
            case 0: schemas.settle(UInt32.random(in: 1...20, using: &random))
            case 1 where Bool.random(using: &random): reader.dropAndRewind()
            case 2...4: try reader.look()
            default:
                try reader.poll(
                    Int.random(in: topics.indices, using: &random), count: Int.random(in: 1...20, using: &random))
            }
        }
        #expect(!restored.isRestoring, "seed \(seed)")
        #expect(schemas.asked.withLock { $0.allSatisfy(Self.exists) }, "seed \(seed)")
        #expect(restored.userCount == first.task.userCount)
        #expect(restored.committedOffsets == first.task.committedOffsets)
    }

    /// A task that has to redo all that another has committed.
    private func restored(from first: Reader, _ context: RunContext) throws -> PartitionTask {
        let shadow = CheckpointShadow(partition: 0, state: TaskState(context))
        try first.batch.forEach { record, key, value in
            guard record.topic == context.topics.checkpoint, let key, let value else { return }
            // Without chunks all of history has to be redone.
            if CheckpointRecord.chunk(String(decoding: key, as: UTF8.self)) == nil {
                try shadow.take(key: Array(key), value: value)
            }
        }
        _ = try shadow.load { true }
        let position = try #require(shadow.position)
        let task = try PartitionTask(context: context, shadow: shadow, position: position, decoder: EventDecoder())
        try task.finishNames()
        return task
    }

    @Test("A wait says which schema, from where, and what is in the way")
    func words() throws {
        var random = SeededGenerator(seed: 1)
        let logs = logs(1, records: 60, &random)
        let context = try context(["a"], Schemas())
        let reader = Reader(task(context), context, logs: logs)
        try reader.poll(0, count: 60)
        let text = try #require(reader.task.schemaWaitText)
        #expect(text.contains("waiting for schema "))
        #expect(text.hasSuffix(" from http://registry since 0 s: it is down"))
        #expect(reader.task.pausedPartitions == [TopicPartition(topic: "a", partition: 0)])
    }
}
