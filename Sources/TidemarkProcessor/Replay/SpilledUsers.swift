internal import TidemarkAttribution
internal import TidemarkReports

/// Events of users that did not fit into memory, in a temporary file.
///
/// Each time that a task's users are written, they are a run in the order of the hashes of their ids. In the end all runs are read side by side:
/// what they have of a user comes together then, is worked out and forgotten. So memory is bounded, however many events there are, by a buffer
/// per run and the events of one user. One thread.
final class SpilledUsers {
    /// What is written at a time, bytes.
    private static let writeSize = 1 << 20

    private let file: SpillFile
    /// Where the runs are in the file, in the order in which they were written: of an event that comes twice, the first one counts.
    private var runs: [Range<Int64>] = []
    /// Packs and unpacks: the numbers in pieces of users are its own.
    private var packer = UserPacker()
    private var buffer = Scratch<UInt8>()
    /// The user that is worked out: its pieces one after another, and where each begins.
    private var gathered = Scratch<UInt8>(capacity: 4 << 10)
    private var starts: [Int] = []
    private var pieces: [UnsafeRawBufferPointer] = []

    /// Nothing yet; the file is made in `directory`.
    init(in directory: String) throws(ReplayFailure) { file = try SpillFile(in: directory) }

    deinit {
        buffer.deallocate()
        gathered.deallocate()
    }

    /// Bytes in the file.
    var byteCount: Int64 { file.byteCount }

    // MARK: Writing

    /// Writes all users of a task, which forgets them.
    func take(usersOf task: TaskState) throws(ReplayFailure) {
        let start = file.byteCount
        try task.drainUsers { (state) throws(ReplayFailure) in
            try packer.withPiece(of: state) { (piece) throws(ReplayFailure) in
                append(SpillRun.Head(userHash: state.userHash, size: UInt32(piece.count)), piece)
                if buffer.count >= SpilledUsers.writeSize { try writeOut() }
            }
        }
        try writeOut()
        buffer.deallocate()
        buffer = Scratch()
        if file.byteCount > start { runs.append(start..<file.byteCount) }
    }

    private func append(_ head: SpillRun.Head, _ piece: UnsafeRawBufferPointer) {
        let place = buffer.count
        buffer.resize(to: place + SpillRun.Head.size + piece.count)
        head.store(to: UnsafeMutableRawPointer(buffer.base + place))
        guard let source = piece.baseAddress else { return }
        UnsafeMutableRawPointer(buffer.base + place + SpillRun.Head.size).copyMemory(
            from: source, byteCount: piece.count)
    }

    private func writeOut() throws(ReplayFailure) {
        try file.append(UnsafeRawBufferPointer(buffer.elements))
        buffer.removeAll()
    }

    // MARK: Reading back

    /// Works out all users that were written, by their task, which must have none any more.
    ///
    /// - Parameters:
    ///   - memory: about how many bytes buffers may take.
    ///   - progress: told after each user: users worked out, and bytes read so far. Ends it early by saying `false`.
    func settle(
        by task: TaskState, output: UserPass.Output, memory: Int, progress: (_ users: Int, _ bytes: Int64) -> Bool
    ) throws(ReplayFailure) {
        let size = SpillRun.bufferSize(memory: memory, runs: runs.count)
        var merge = SpillMerge(
            try runs.map { (range) throws(ReplayFailure) in
                try SpillRun(file, range, bufferSize: size)
            })
        var users = 0
        var bytes: Int64 = 0
        while let hash = merge.nextHash {
            gathered.removeAll()
            starts.removeAll(keepingCapacity: true)
            while merge.nextHash == hash {
                starts.append(gathered.count)
                let piece = merge.piece
                if let start = piece.baseAddress {
                    gathered.append(from: start.assumingMemoryBound(to: UInt8.self), count: piece.count)
                }
                bytes += Int64(SpillRun.Head.size + piece.count)
                try merge.advance()
            }
            users += settleGathered(hash, by: task, output: output)
            guard progress(users, bytes) else { return }
        }
    }

    /// - Returns: how many users the hash is of: more than one where ids collide.
    private func settleGathered(_ hash: UInt64, by task: TaskState, output: UserPass.Output) -> Int {
        pieces.removeAll(keepingCapacity: true)
        let bytes = UnsafeRawBufferPointer(gathered.elements)
        for (place, start) in starts.enumerated() {
            let end = place + 1 < starts.count ? starts[place + 1] : bytes.count
            pieces.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        }
        let first = pieces[0]
        guard pieces.contains(where: { !UserPacker.areOfOneUser(first, $0) }) else {
            task.settle(packer.join(pieces, hash: hash), output: output)
            return 1
        }
        var users = 0
        while let first = pieces.first {
            let own = pieces.filter { UserPacker.areOfOneUser(first, $0) }
            pieces.removeAll { UserPacker.areOfOneUser(first, $0) }
            task.settle(packer.join(own, hash: hash), output: output)
            users += 1
        }
        return users
    }
}
