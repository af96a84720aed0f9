import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkReports
import TidemarkWorkload

@testable import TidemarkProcessor

/// What a reader of a checkpoint partition makes of its records.
@Suite("The shadow of a checkpoint")
struct CheckpointShadowTests {
    private let topic = "app-checkpoint"
    private let live = CheckpointShadowTests.state()
    private let shadow = CheckpointShadow(partition: 0, state: CheckpointShadowTests.state())

    private static func state() -> TaskState {
        var rules = AttributionRules()
        rules.allowedLateness = 86_400
        return TaskState(rules: rules, settings: ReportSettings(), days: .utc, duplicateCheck: .onArrival)
    }

    /// The records of a checkpoint's turns, as a topic holds them.
    private func records(users: Int, commits: Int) -> [(key: [UInt8], value: [UInt8]?)] {
        let decoder = EventDecoder()
        var event = Event()
        let checkpoint = TaskCheckpoint(topic: topic, partition: 0)
        var records: [(key: [UInt8], value: [UInt8]?)] = []
        let events = EdgeStream(seed: 7, events: 10 * users, horizon: 86_400, maxDelay: 600).events.spread(
            over: UInt64(users))
        for commit in 1...commits {
            for sample in events where live.userCount < users {
                sample.json(.flatWithType).withUnsafeBytes { bytes in
                    decoder.begin(ByteView(bytes))
                    while case .event = decoder.next(into: &event) { _ = live.take(event, recordTime: .max / 4) }
                }
            }
            live.settle(output: [])
            let batch = OutboundBatch()
            checkpoint.appendChunks(
                of: live, commit: Int64(commit), records: 4_000_000, elapsed: .zero, taskCount: 1, to: batch)
            batch.forEach { _, key, value in records.append((key.map(Array.init) ?? [], value.map(Array.init))) }
        }
        return records
    }

    private func take(_ records: [(key: [UInt8], value: [UInt8]?)]) throws {
        for record in records {
            guard let value = record.value else {
                try shadow.take(key: record.key, value: nil)
                continue
            }
            try value.withUnsafeBytes { try shadow.take(key: record.key, value: $0) }
        }
    }

    @Test("users come with their chunk, and stay those of the task")
    func chunks() throws {
        try take(records(users: 20, commits: 3))
        #expect(shadow.state.userCount == 0)
        #expect(try shadow.load { true })
        try shadow.requireWholeChunks()
        #expect(live.userCount > 5)
        #expect(shadow.state.userCount == live.userCount)
        #expect(shadow.chunkCount == live.chunkCount)
        shadow.state.finishLoading()
        #expect(shadow.state.coveredCommit == 3)
    }

    @Test("nothing is decoded while there is no time, and all of it later")
    func outOfTime() throws {
        try take(records(users: 20, commits: 1))
        #expect(try !shadow.load { false })
        #expect(shadow.state.userCount == 0)
        #expect(try shadow.load { true })
        #expect(shadow.state.userCount == live.userCount)
    }

    @Test("of a chunk in two parts, one alone is left for later; at the end it is refused")
    func halfAChunk() throws {
        let id = ChunkID(depth: 0, prefix: 0)
        let whole = try #require(records(users: 20, commits: 1).first { $0.value != nil })
        let bytes = try #require(whole.value).withUnsafeBytes { raw in
            var reader = BinaryReader(raw)
            _ = try reader.unsigned()
            _ = try reader.number(Int.self)
            let text = try reader.text()
            return Array(UnsafeBufferPointer(start: text.start, count: text.count))
        }
        func part(_ number: Int, _ slice: ArraySlice<UInt8>) -> (key: [UInt8], value: [UInt8]?) {
            var writer = BinaryWriter()
            writer.unsigned(1)
            writer.unsigned(2)
            slice.withUnsafeBytes { writer.text(ByteView($0)) }
            return (CheckpointRecord.chunkKey(id, part: number), writer.bytes)
        }
        try take([part(0, bytes[..<40])])
        #expect(try shadow.load { true })
        #expect(shadow.state.userCount == 0)
        #expect(throws: RunFailure.self) { try shadow.requireWholeChunks() }
        try take([part(1, bytes[40...])])
        #expect(try shadow.load { true })
        try shadow.requireWholeChunks()
        #expect(shadow.state.userCount == live.userCount)
        #expect(shadow.partCounts == [id: 2])
    }

    @Test("the latest of each key counts: positions, verdicts in the order of commits, deletions")
    func latest() throws {
        func verdicts(_ commit: Int64) -> [UInt8] { CheckpointRecord.verdictsKey(commit: commit, topic: "in") }
        try take([(verdicts(12), [1]), (verdicts(9), [2]), (verdicts(10), [3]), (verdicts(9), nil)])
        #expect(shadow.verdicts["in"]?.map(\.commit) == [10, 12])
        #expect(shadow.verdicts["in"]?.map(\.bytes) == [[3], [1]])
        var position = Position(
            epoch: 1, commit: 3, watermark: 5, partitions: 1, reportPartitions: 1, opens: "o", openPartitions: 1,
            fingerprint: "f", inputs: [:])
        try take([(CheckpointRecord.positionKey, JSONRecord.encode(position))])
        position.commit = 4
        try take([(CheckpointRecord.positionKey, JSONRecord.encode(position))])
        #expect(shadow.position == position)
        try take([(CheckpointRecord.positionKey, nil)])
        #expect(shadow.position == nil)
    }

    @Test func damageIsRefused() {
        let key = CheckpointRecord.chunkKey(ChunkID(depth: 0, prefix: 0), part: 0)
        #expect(throws: RunFailure.self) { try take([(key, [0x80])]) }
    }
}
