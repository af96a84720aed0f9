/// Chunks read from a checkpoint, until they make up a directory: a tree in which each bit of a hash chooses a half.
///
/// No chunk ever lies inside another, so that no user can be there twice.
struct LoadedChunks {
    typealias Chunk = ChunkDirectory.Chunk

    private indirect enum Node {
        case nothing
        case chunk(Chunk)
        case halves(Node, Node)
    }

    private var root = Node.nothing

    /// The chunk with just this prefix; `nil` where there is none.
    func chunk(depth: Int, prefix: UInt64) -> Chunk? {
        var node = root
        for place in 0..<depth {
            guard case .halves(let first, let second) = node else { return nil }
            node = LoadedChunks.bit(place, of: prefix, depth) ? second : first
        }
        if case .chunk(let chunk) = node { return chunk }
        return nil
    }

    /// Puts a chunk in its place.
    ///
    /// - Returns: those that it displaces: the one of the same prefix, the one around it, those inside it.
    mutating func insert(_ chunk: Chunk) -> [Chunk] {
        var displaced: [Chunk] = []
        root = LoadedChunks.insert(chunk, into: root, at: 0, &displaced)
        return displaced
    }

    /// Takes out the chunk with just this prefix.
    mutating func remove(depth: Int, prefix: UInt64) -> Chunk? {
        guard let chunk = chunk(depth: depth, prefix: prefix) else { return nil }
        root = LoadedChunks.remove(chunk, from: root, at: 0)
        return chunk
    }

    /// All chunks in the order of their prefixes; what none of them holds gets chunks of its own, which were never written.
    func completed() -> [Chunk] {
        var chunks: [Chunk] = []
        LoadedChunks.collect(root, depth: 0, prefix: 0, filling: true, &chunks)
        return chunks
    }

    private static func bit(_ place: Int, of prefix: UInt64, _ depth: Int) -> Bool {
        prefix >> UInt64(depth - 1 - place) & 1 == 1
    }

    private static func insert(_ chunk: Chunk, into node: Node, at depth: Int, _ displaced: inout [Chunk]) -> Node {
        if depth == chunk.depth {
            collect(node, depth: depth, prefix: chunk.prefix, filling: false, &displaced)
            return .chunk(chunk)
        }
        var (first, second) = (Node.nothing, Node.nothing)
        switch node {
        case .nothing: break
        case .chunk(let outer): displaced.append(outer)
        case .halves(let left, let right): (first, second) = (left, right)
        }
        if bit(depth, of: chunk.prefix, chunk.depth) {
            second = insert(chunk, into: second, at: depth + 1, &displaced)
        } else {
            first = insert(chunk, into: first, at: depth + 1, &displaced)
        }
        return .halves(first, second)
    }

    private static func remove(_ chunk: Chunk, from node: Node, at depth: Int) -> Node {
        guard depth < chunk.depth, case .halves(var first, var second) = node else { return .nothing }
        if bit(depth, of: chunk.prefix, chunk.depth) {
            second = remove(chunk, from: second, at: depth + 1)
        } else {
            first = remove(chunk, from: first, at: depth + 1)
        }
        if case .nothing = first, case .nothing = second { return .nothing }
        return .halves(first, second)
    }

    private static func collect(
        _ node: Node, depth: Int, prefix: UInt64, filling: Bool, _ chunks: inout [Chunk]
    ) {
        switch node {
        case .nothing:
            if filling { chunks.append(Chunk(depth: depth, prefix: prefix)) }
        case .chunk(let chunk):
            chunks.append(chunk)
        case .halves(let first, let second):
            collect(first, depth: depth + 1, prefix: prefix << 1, filling: filling, &chunks)
            collect(second, depth: depth + 1, prefix: prefix << 1 | 1, filling: filling, &chunks)
        }
    }
}
