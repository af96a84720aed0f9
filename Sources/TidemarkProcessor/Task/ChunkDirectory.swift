/// Users of a task grouped by the first bits of their hashes: the pieces that a checkpoint is written in.
///
/// A chunk that has grown too large splits by one more bit; a directory of `2^depth` places tells the chunk of a hash. So chunks stay near one
/// size however many users there are.
struct ChunkDirectory: ~Copyable {
    /// A group of users.
    final class Chunk {
        /// How many bits of a hash choose the chunk, and these bits.
        let depth: Int
        let prefix: UInt64
        /// Numbers of the users in it, in no order.
        var users: [UInt32] = []
        /// Whether the users have changed since the chunk was written; also before it is written first.
        var isChanged = true
        /// The commit that what was written last covers; 0 where nothing was.
        var coveredCommit: Int64 = 0

        init(depth: Int, prefix: UInt64) {
            self.depth = depth
            self.prefix = prefix
        }

        /// Whether a hash falls into the chunk.
        func holds(_ hash: UInt64) -> Bool { depth == 0 || hash >> UInt64(64 - depth) == prefix }
    }

    /// How many bits of a hash choose a chunk at most.
    static let maxDepth = 24

    /// The chunks, in the order in which they take their turns.
    private(set) var chunks: [Chunk]
    private var places: [Chunk]
    private var depth = 0

    /// One chunk for all.
    init() {
        let all = Chunk(depth: 0, prefix: 0)
        chunks = [all]
        places = [all]
    }

    /// Chunks that hold each hash exactly once, in the order in which they take their turns.
    init(_ chunks: [Chunk]) {
        self.chunks = chunks
        depth = chunks.reduce(0) { max($0, $1.depth) }
        places = Array(repeating: chunks[0], count: 1 << depth)
        for chunk in chunks { enter(chunk) }
    }

    /// Whether nothing was ever put into it.
    var isUntouched: Bool { chunks.count == 1 && chunks[0].users.isEmpty && chunks[0].coveredCommit == 0 }

    /// The chunk of a hash.
    func chunk(of hash: UInt64) -> Chunk { depth == 0 ? places[0] : places[Int(hash >> UInt64(64 - depth))] }

    /// Splits a chunk by one more bit.
    ///
    /// - Parameter hash: gives the hash of a user.
    /// - Returns: the two that take its place.
    mutating func split(_ chunk: Chunk, hash: (UInt32) -> UInt64) -> [Chunk] {
        if chunk.depth == depth {
            places = places.flatMap { [$0, $0] }
            depth += 1
        }
        let halves = [0, 1].map { Chunk(depth: chunk.depth + 1, prefix: chunk.prefix << 1 | UInt64($0)) }
        for user in chunk.users { halves[halves[1].holds(hash(user)) ? 1 : 0].users.append(user) }
        for half in halves { half.coveredCommit = chunk.coveredCommit }
        if let index = chunks.firstIndex(where: { $0 === chunk }) {
            chunks.replaceSubrange(index...index, with: halves)
        }
        for half in halves { enter(half) }
        return halves
    }

    private mutating func enter(_ chunk: Chunk) {
        let width = depth - chunk.depth
        let first = Int(chunk.prefix) << width
        for place in first..<first + (1 << width) { places[place] = chunk }
    }
}
