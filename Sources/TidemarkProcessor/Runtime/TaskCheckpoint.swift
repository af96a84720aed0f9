internal import TidemarkReports

/// Writes a task's checkpoint, a piece with each commit: a fuzzy snapshot with the input itself as the redo log.
///
/// Chunks of users take turns. A chunk that changed is written, for one that did not a word says that it still holds; either way it covers all
/// commits up to this one. History before the oldest commit that all chunks cover need not be redone, and its verdicts are deleted.
final class TaskCheckpoint {
    /// Records within which every chunk of a worker should have had a turn, so that redoing takes a few seconds.
    private static let cycleRecords = 1_000_000
    /// Bytes of chunks that a consumed record may cost: what a backlog is slowed down by is bounded by this.
    private static let bytesPerRecord = 64
    /// Bytes of chunks that a worker may write in a second however few records come.
    private static let bytesPerSecond = 4 << 20
    /// Bytes of chunks in one commit at most.
    private static let commitBytes = 16 << 20
    /// Bytes of one record at most; larger chunks come in parts.
    private static let partBytes = 768 << 10

    private let topic: String
    private let partition: Int32
    /// Turns that are due; a fraction of one is carried over.
    private var credit = 0.0
    /// A moving average of the bytes of a written chunk: what the pace is reckoned from.
    private var averageBytes = 0.0
    /// Commits whose verdicts are in the topic, by input topic, the oldest first.
    private var live: [String: [Int64]] = [:]
    /// How many parts each chunk has in the topic, where not one.
    private var partCounts: [ChunkID: Int] = [:]

    init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// Notes verdicts that are in the topic.
    func restore(verdictsOf input: String, commits: [Int64]) { live[input] = commits }

    /// Notes how many parts chunks have in the topic, where not one.
    func restore(partCounts: [ChunkID: Int]) { self.partCounts = partCounts }

    /// Adds the verdicts of a commit.
    func append(verdicts bytes: [UInt8], of input: String, commit: Int64, to batch: OutboundBatch) {
        batch.append(
            topic: topic, partition: partition, key: CheckpointRecord.verdictsKey(commit: commit, topic: input),
            value: bytes)
        live[input, default: []].append(commit)
    }

    /// Lets the chunks that are due take their turns, and deletes verdicts that nothing needs any more.
    ///
    /// - Parameters:
    ///   - records: how many records the commit is of.
    ///   - elapsed: the time since the commit before.
    ///   - taskCount: how many tasks share the worker's bytes, and redo history one after the other.
    func appendChunks(
        of state: TaskState, commit: Int64, records: Int, elapsed: Duration, taskCount: Int, to batch: OutboundBatch
    ) {
        let seconds = min(elapsed / .seconds(1), 10) / Double(max(taskCount, 1))
        let allowed =
            max(Double(records * TaskCheckpoint.bytesPerRecord), Double(TaskCheckpoint.bytesPerSecond) * seconds)
            / max(averageBytes, 1)
        let cycle = Double(TaskCheckpoint.cycleRecords / max(taskCount, 1))
        let wanted = records > 0 ? Double(state.chunkCount) * Double(records) / cycle : allowed
        // However little comes in, the cycle goes on.
        credit = min(credit + max(min(wanted, allowed), 0.2), Double(state.chunkCount))
        var bytes = 0
        while credit >= 1, bytes < TaskCheckpoint.commitBytes {
            credit -= 1
            for record in state.nextChunk(commit: commit) { bytes += append(record, commit, batch) }
        }
        deleteVerdicts(through: state.coveredCommit, batch)
    }

    private func append(_ record: TaskState.ChunkRecord, _ commit: Int64, _ batch: OutboundBatch) -> Int {
        let id = ChunkID(record)
        var value = BinaryWriter()
        value.unsigned(UInt64(commit))
        guard let bytes = record.bytes else {
            batch.append(topic: topic, partition: partition, key: CheckpointRecord.holdKey(id), value: value.bytes)
            return 0
        }
        let count = bytes.isEmpty ? 0 : TaskCheckpoint.partCount(bytes.count)
        for part in 0..<count {
            let start = part * TaskCheckpoint.partBytes
            let slice = bytes[start..<min(start + TaskCheckpoint.partBytes, bytes.count)]
            // A text, as readers see it: its length, then its bytes.
            var head = value
            head.unsigned(UInt64(count))
            head.unsigned(UInt64(slice.count))
            slice.withUnsafeBytes { body in
                batch.append(
                    topic: topic, partition: partition, key: CheckpointRecord.chunkKey(id, part: part),
                    head: head.bytes, body: body)
            }
        }
        for part in count..<max(count, partCounts[id] ?? 1) {
            batch.append(topic: topic, partition: partition, key: CheckpointRecord.chunkKey(id, part: part), value: nil)
        }
        partCounts[id] = count > 1 ? count : nil
        if count == 0 {
            batch.append(topic: topic, partition: partition, key: CheckpointRecord.holdKey(id), value: nil)
        } else {
            averageBytes += (Double(bytes.count) - averageBytes) / 16
        }
        return bytes.count
    }

    private func deleteVerdicts(through covered: Int64, _ batch: OutboundBatch) {
        for (input, commits) in live {
            let old = commits.prefix { $0 <= covered }
            for commit in old {
                batch.append(
                    topic: topic, partition: partition,
                    key: CheckpointRecord.verdictsKey(commit: commit, topic: input), value: nil)
            }
            live[input]?.removeFirst(old.count)
        }
    }

    private static func partCount(_ bytes: Int) -> Int { (bytes + partBytes - 1) / partBytes }
}

extension ChunkID {
    fileprivate init(_ record: TaskState.ChunkRecord) {
        self.init(depth: record.depth, prefix: record.prefix)
    }
}
