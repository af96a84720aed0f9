internal import TidemarkEvents
internal import TidemarkReports

/// What a partition of `<app>-checkpoint` holds of its task, followed record by record: what a task starts from, and what a standby keeps.
///
/// User states are decoded when `load` is called and not as they are read, since a log that was not compacted yet has old versions of
/// many chunks.
final class CheckpointShadow {
    private struct Part {
        var commit: Int64
        var count: Int
        var bytes: [UInt8]
    }

    let partition: Int32
    /// The user states, as far as they were loaded.
    let state: TaskState
    /// The position of the last commit; `nil` where there was none.
    private(set) var position: Position?
    /// The next offset of the checkpoint partition; `nil` before the first record.
    var next: Int64?
    /// Records and bytes read so far.
    private(set) var recordCount = 0
    private(set) var byteCount = 0

    /// Verdicts by input topic and commit.
    private var verdictLogs: [String: [Int64: [UInt8]]] = [:]
    /// Parts of chunks that were not loaded yet; none for a chunk that is no more.
    private var changed: [ChunkID: [Int: Part]] = [:]
    private var holds: [ChunkID: Int64] = [:]
    /// Chunks that were loaded, by the number of their parts.
    private var loaded: [ChunkID: Int] = [:]

    /// A shadow that has read nothing.
    init(partition: Int32, state: TaskState) {
        self.partition = partition
        self.state = state
    }

    /// How many chunks were loaded.
    var chunkCount: Int { loaded.count }

    /// How many parts each loaded chunk has in the topic, where not one.
    var partCounts: [ChunkID: Int] { loaded.filter { $0.value > 1 } }

    /// The verdicts by input topic, the oldest first.
    var verdicts: [String: [CommittedVerdicts]] {
        verdictLogs.mapValues { logs in
            logs.map { CommittedVerdicts(commit: $0.key, bytes: $0.value) }.sorted { $0.commit < $1.commit }
        }
    }

    /// Takes a record.
    func take(key: [UInt8], value: UnsafeRawBufferPointer?) throws(RunFailure) {
        recordCount += 1
        byteCount += key.count + (value?.count ?? 0)
        if key == CheckpointRecord.positionKey {
            position = nil
            if let value { position = try JSONRecord.decode(Position.self, value, of: "the checkpoint topic") }
            return
        }
        let text = String(decoding: key, as: UTF8.self)
        if let (commit, topic) = CheckpointRecord.verdicts(text) {
            verdictLogs[topic, default: [:]][commit] = value.map { Array($0) }
        } else if let (chunk, part) = CheckpointRecord.chunk(text) {
            try take(chunk, part, value)
        }
    }

    private func take(_ chunk: ChunkID, _ part: Int?, _ value: UnsafeRawBufferPointer?) throws(RunFailure) {
        guard let value else {
            guard let part else { return holds[chunk] = nil }
            // A chunk goes as a whole; later parts go, too, where it has become smaller.
            if part == 0 { changed[chunk] = [:] } else { changed[chunk]?[part] = nil }
            return
        }
        do {
            var reader = BinaryReader(value)
            let commit = Int64(try reader.unsigned())
            guard let part else { return holds[chunk] = commit }
            let count: Int = try reader.number()
            let bytes = try reader.text()
            changed[chunk, default: [:]][part] = Part(
                commit: commit, count: count, bytes: Array(UnsafeBufferPointer(start: bytes.start, count: bytes.count)))
        } catch {
            throw RunFailure("a chunk of the checkpoint topic is damaged")
        }
    }

    /// Decodes user states that were read.
    ///
    /// - Parameter mayGoOn: asked before each chunk.
    /// - Returns: whether all were decoded that are here as a whole. Of a transaction that is just being decided, a part may be here.
    func load(while mayGoOn: () -> Bool) throws -> Bool {
        // First what is no more: its users may be in other chunks by now.
        for (chunk, parts) in changed where parts.isEmpty {
            try load(chunk, bytes: [], commit: 0)
            loaded[chunk] = nil
            changed[chunk] = nil
        }
        for (chunk, parts) in changed {
            guard let bytes = CheckpointShadow.join(parts), let first = parts[0] else { continue }
            guard mayGoOn() else { return false }
            try load(chunk, bytes: bytes, commit: first.commit)
            loaded[chunk] = first.count
            changed[chunk] = nil
        }
        for (chunk, commit) in holds where loaded[chunk] != nil && changed[chunk] == nil {
            try load(chunk, bytes: nil, commit: commit)
            holds[chunk] = nil
        }
        return true
    }

    /// Refuses chunks of which parts are missing, when all has been read.
    func requireWholeChunks() throws(RunFailure) {
        guard let chunk = changed.keys.first else { return }
        throw RunFailure(
            "partition \(partition) of the checkpoint topic lacks parts of chunk \(chunk.depth)/\(chunk.prefix): somebody has removed "
                + "records. Begin anew with `tidemark reset`")
    }

    /// The bytes of a chunk; `nil` while parts of one commit are missing.
    private static func join(_ parts: [Int: Part]) -> [UInt8]? {
        guard let first = parts[0] else { return nil }
        var bytes = first.bytes
        for number in 1..<max(first.count, 1) {
            guard let part = parts[number], part.commit == first.commit else { return nil }
            bytes += part.bytes
        }
        return bytes
    }

    private func load(_ chunk: ChunkID, bytes: [UInt8]?, commit: Int64) throws {
        let record = TaskState.ChunkRecord(depth: chunk.depth, prefix: chunk.prefix, bytes: bytes)
        do {
            try state.load(record, coveredCommit: commit)
        } catch {
            throw RunFailure("partition \(partition) of the checkpoint topic: \(error)")
        }
    }
}
