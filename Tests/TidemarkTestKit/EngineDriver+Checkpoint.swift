import TidemarkAttribution
import TidemarkEvents
package import TidemarkProcessor
import TidemarkReports
public import TidemarkWorkload

/// Checkpoints of an engine, and engines that go on from them.
extension EngineDriver {
    /// An engine that goes on from another one's state as checkpoints hold it, in a vocabulary of its own.
    public convenience init(continuing other: EngineDriver) throws {
        self.init(following: other)
        for turn in 0..<max(2 * other.task.chunkCount, 2) {
            for record in other.nextChunk(commit: Int64(turn + 1)) {
                try load(record, commit: Int64(turn + 1))
            }
        }
        takeOver(from: other, redoing: [])
    }

    /// An engine without state, with the settings of another one.
    public convenience init(following other: EngineDriver) {
        self.init(other.settings, lateness: other.lateness, unpackedLimit: other.unpackedLimit)
        chunkSize = other.chunkSize
    }

    /// Bytes of a chunk at most.
    public var chunkSize: Int {
        get { task.chunkSize }
        set { task.chunkSize = newValue }
    }

    /// The oldest commit that every chunk covers.
    public var coveredCommit: Int64 { task.coveredCommit }

    /// Lets a chunk take its turn.
    package func nextChunk(commit: Int64) -> [TaskState.ChunkRecord] { task.nextChunk(commit: commit) }

    /// Takes in what another engine's chunk wrote on its turn.
    package func load(_ record: TaskState.ChunkRecord, commit: Int64) throws {
        try task.load(record, coveredCommit: commit)
    }

    /// Goes on where another engine stands, with the chunks that were loaded.
    ///
    /// - Parameter history: the events that the other accepted, each with the commit that it was part of.
    public func takeOver(from other: EngineDriver, redoing history: [(event: SampleEvent, commit: Int64)]) {
        task.finishLoading()
        for (sample, commit) in history where commit > task.coveredCommit {
            decode(sample, shape: .flatWithType) { _ in task.redo(event, commit: commit) }
        }
        task.settle(output: [])
        task.restore(watermark: other.task.watermark)
        let (theirs, ours) = (other.task.vocabulary.strings, task.vocabulary.strings)
        for slot in other.task.pass.names.slots {
            task.pass.names.take(
                kind: slot.kind, id: ours.intern(theirs[slot.id]), name: ours.intern(theirs[slot.name]),
                order: slot.order)
        }
        takeRows(of: other)
        opens = other.opens
    }

    /// The rows so far are the aggregator's; here they move by the way that deltas take.
    private func takeRows(of other: EngineDriver) {
        for row in other.store.keys.indices where other.store.exists(row) {
            var json = JSONWriter()
            other.report.renderer.writeRecord(row, of: other.store, names: other.task.pass.names, to: &json)
            json.bytes.withUnsafeBytes { bytes in
                do {
                    _ = try PublishedRow.read(bytes, into: store)
                } catch {
                    fatalError("a row that was written cannot be read: \(error)")
                }
            }
        }
    }
}
