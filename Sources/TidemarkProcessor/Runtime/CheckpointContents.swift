internal import TidemarkEvents
internal import TidemarkReports

/// What a partition of `<app>-checkpoint` holds of its task, gathered record by record: the latest of each key.
struct CheckpointContents {
    private struct Part {
        var commit: Int64
        var count: Int
        var bytes: [UInt8]
    }

    /// The position of the last commit; `nil` where there was none.
    private(set) var position: Position?
    /// Verdicts by input topic.
    private(set) var verdicts: [String: [CommittedVerdicts]] = [:]
    private var parts: [ChunkID: [Int: Part]] = [:]
    private var holds: [ChunkID: Int64] = [:]

    /// Takes a record.
    mutating func take(key: [UInt8], value: UnsafeRawBufferPointer?) throws(RunFailure) {
        if key == CheckpointRecord.positionKey {
            position = nil
            if let value { position = try CheckpointRecord.decode(Position.self, Array(value)) }
            return
        }
        let text = String(decoding: key, as: UTF8.self)
        if let (commit, topic) = CheckpointRecord.verdicts(text) {
            verdicts[topic, default: []].removeAll { $0.commit == commit }
            if let value { verdicts[topic, default: []].append(CommittedVerdicts(commit: commit, bytes: Array(value))) }
        } else if let (chunk, part) = CheckpointRecord.chunk(text) {
            try take(chunk, part, value)
        }
    }

    private mutating func take(_ chunk: ChunkID, _ part: Int?, _ value: UnsafeRawBufferPointer?) throws(RunFailure) {
        guard let value else {
            if let part { parts[chunk]?[part] = nil } else { holds[chunk] = nil }
            return
        }
        do {
            var reader = BinaryReader(value)
            let commit = Int64(try reader.unsigned())
            guard let part else { return holds[chunk] = commit }
            let count: Int = try reader.number()
            let bytes = try reader.text()
            parts[chunk, default: [:]][part] = Part(
                commit: commit, count: count, bytes: Array(UnsafeBufferPointer(start: bytes.start, count: bytes.count)))
        } catch {
            throw RunFailure("a chunk of the checkpoint topic is damaged")
        }
    }

    /// Puts verdicts in order of their commits.
    mutating func sortVerdicts() {
        for topic in verdicts.keys { verdicts[topic]?.sort { $0.commit < $1.commit } }
    }

    /// The chunks, put together from their parts, each with the commit that it covers.
    func chunks() throws(RunFailure) -> [(record: TaskState.ChunkRecord, coveredCommit: Int64)] {
        var chunks: [(record: TaskState.ChunkRecord, coveredCommit: Int64)] = []
        for (id, parts) in parts {
            guard let first = parts[0] else { continue }
            var bytes: [UInt8] = []
            for number in 0..<first.count {
                guard let part = parts[number], part.commit == first.commit else {
                    throw RunFailure("a part of a chunk of the checkpoint topic is missing")
                }
                bytes += part.bytes
            }
            let record = TaskState.ChunkRecord(depth: id.depth, prefix: id.prefix, bytes: bytes)
            chunks.append((record, max(first.commit, holds[id] ?? 0)))
        }
        return chunks
    }
}
