/// Where a task stands: written in every commit, in the transaction that also commits the input offsets.
struct Position: Codable, Equatable {
    /// Where one input topic stands.
    struct Input: Codable, Equatable {
        /// The first offset that the state is of.
        var start: Int64
        /// The next offset to read.
        var next: Int64
    }

    /// Version of this record and of all others of `<app>-checkpoint` and `<app>-positions`.
    static let format = 4

    var format = Position.format
    /// Grows when outputs are withdrawn and begun anew.
    var epoch: Int
    /// Grows by one with each commit of the task.
    var commit: Int64
    /// The greatest accepted event time.
    var watermark: UInt32
    /// Partitions of each input topic, and of the report topic.
    var partitions: Int
    var reportPartitions: Int
    /// The topic that holds the opens, and its partitions.
    var opens: String
    var openPartitions: Int
    /// See `RunContext.fingerprint`.
    var fingerprint: String
    /// The partition's input topics.
    var inputs: [String: Input]
    /// The watermarks of all source partitions, by topic and partition, where the input goes through `<app>-by-user`.
    var sources: [String: [UInt32]]?
}

/// Which user states a chunk holds: those whose hash begins with `prefix`, `depth` bits of it.
struct ChunkID: Hashable {
    var depth: Int
    var prefix: UInt64
}

/// Keys and values of the records of `<app>-checkpoint`.
enum CheckpointRecord {
    static let positionKey = Array("position".utf8)

    /// The key of the verdicts of a commit on an input topic.
    static func verdictsKey(commit: Int64, topic: String) -> [UInt8] {
        let digits = String(commit)
        return Array("verdicts/\(String(repeating: "0", count: 19 - digits.count))\(digits)/\(topic)".utf8)
    }

    /// The commit and topic of a verdicts key; `nil` for other keys.
    static func verdicts(_ key: String) -> (commit: Int64, topic: String)? {
        let parts = key.split(separator: "/", maxSplits: 2)
        guard parts.count == 3, parts[0] == "verdicts", let commit = Int64(parts[1]) else { return nil }
        return (commit, String(parts[2]))
    }

    /// The key of a part of a chunk of user states; a chunk larger than a record comes in parts.
    static func chunkKey(_ chunk: ChunkID, part: Int) -> [UInt8] {
        Array("chunk/\(chunk.depth)/\(chunk.prefix)/\(part)".utf8)
    }

    /// The key of the word that a chunk still holds as it was written.
    static func holdKey(_ chunk: ChunkID) -> [UInt8] { Array("hold/\(chunk.depth)/\(chunk.prefix)".utf8) }

    /// The chunk of a key of chunks or holds, and the part of the former; `nil` for other keys.
    static func chunk(_ key: String) -> (chunk: ChunkID, part: Int?)? {
        let parts = key.split(separator: "/")
        guard parts.count >= 3, let depth = Int(parts[1]), let prefix = UInt64(parts[2]) else { return nil }
        if parts[0] == "hold", parts.count == 3 { return (ChunkID(depth: depth, prefix: prefix), nil) }
        guard parts[0] == "chunk", parts.count == 4, let part = Int(parts[3]) else { return nil }
        return (ChunkID(depth: depth, prefix: prefix), part)
    }
}
