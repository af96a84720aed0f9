public import TidemarkAttribution
public import TidemarkEvents
public import TidemarkReports

/// What a task holds: its users, and the watermark. Knows no Kafka and no clock; one thread.
///
/// Events are judged and added one by one; what they change is worked out once per user in `settle`, before a commit.
public final class TaskState {
    /// Numbers of apps, messages, campaigns and so on.
    public let vocabulary: Vocabulary
    /// Works out what changes, and holds the changes until they are taken.
    public let pass: UserPass
    /// The greatest accepted event time so far, seconds since the epoch; 0 before the first.
    public private(set) var watermark: UInt32 = 0
    /// How many events ended how.
    public internal(set) var counts = VerdictCounts()
    private var lateness = LatenessCounts()

    /// The watermarks of the source partitions, where events were judged elsewhere; `nil` where they are judged here.
    package private(set) var sources: SourceWatermarks?

    private let rules: AttributionRules
    private let acceptance: Acceptance
    private let duplicateCheck: UserPass.DuplicateCheck
    var users = UserTable()
    var directory = ChunkDirectory()
    /// What was loaded, until `finishLoading`.
    private var loaded = LoadedChunks()
    private var nextChunk = 0
    var dirty = Scratch<UInt32>()
    private var sweepPlace = 0
    /// Bytes that users take who are not packed, after each `settle`; `nil` where none ever is.
    private let unpackedLimit: Int?
    /// Grows with each `settle` and each chunk that is loaded: users that were worked on in the present turn are the last to be packed.
    private var turn: UInt32 = 0
    /// Bytes of the users that were not packed after the last `settle`.
    private var unpackedBefore = 0
    /// Hashes of the ids of users with very many events, until the next `settle`.
    private var hotUsers: [UInt32: Set<UInt64>] = [:]
    /// From how many events on a user has its ids looked up by hash.
    private static let hotUserEvents = 256

    /// A task without users.
    ///
    /// - Parameters:
    ///   - sources: how many source partitions there are, where events are judged elsewhere and come by `takeForwarded`.
    ///   - unpackedLimit: above how many bytes users that nothing happens to are packed; `nil` where they stay as they are.
    public init(
        rules: AttributionRules, settings: ReportSettings, days: DayTable, duplicateCheck: UserPass.DuplicateCheck,
        sources: Int? = nil, unpackedLimit: Int? = nil
    ) {
        precondition(
            duplicateCheck == .onArrival || rules.allowedLateness == nil,
            "with limited lateness a duplicate must be known on arrival")
        self.rules = rules
        self.duplicateCheck = duplicateCheck
        self.sources = sources.map(SourceWatermarks.init)
        self.unpackedLimit = unpackedLimit
        acceptance = Acceptance(rules)
        vocabulary = Vocabulary(excludedPlatforms: rules.excludedPlatforms)
        pass = UserPass(
            rules: rules, settings: settings, vocabulary: vocabulary, days: days, duplicateCheck: duplicateCheck)
    }

    deinit { dirty.deallocate() }

    /// How many users there are.
    public var userCount: Int { users.count }

    /// By how many bytes users have grown since the last `settle` that they should not take for long.
    package var excessByteCount: Int {
        unpackedLimit.map { max(0, users.unpackedByteCount - max(2 * $0, unpackedBefore)) } ?? 0
    }

    /// Bytes that the users' states take.
    public var byteCount: Int { users.byteCount }

    /// As above, with the tables that lead to them and what the allocator adds.
    var byteCountInAll: Int { users.byteCount + users.count * TaskState.bytesBesideState }

    /// Slot and handle of a user, its numbers in lists, and the allocator's words.
    private static let bytesBesideState = 96

    /// Judges an event and, if it is accepted, adds it (`spec/attribution.md` section 2, in its order).
    ///
    /// - Parameter recordTime: the Kafka timestamp of its record, milliseconds since the epoch; for files the wall clock at start.
    public func take(_ event: borrowing Event, recordTime: Int64) -> Verdict {
        if let code = acceptance.refusal(event.time, recordTime: recordTime, watermark: watermark) {
            return count(.deadLetter(code))
        }
        return count(add(event, hash: event.userID.hash64, behind: watermark))
    }

    /// Adds an event that was judged where it was first read, unless it came before.
    ///
    /// - Parameters:
    ///   - source: number of the source partition.
    ///   - mark: the watermark of the source, this event included.
    package func takeForwarded(_ event: borrowing Event, source: Int, watermark mark: UInt32) -> Verdict {
        raise(source: source, to: mark)
        return count(add(event, hash: event.userID.hash64, behind: mark))
    }

    /// Adds events that were judged before, as `takeForwarded` does, all of one source that has no watermark.
    func takeForwarded(_ events: EventBuffer) {
        let hashes = events.userHashes
        var index = 0
        events.forEach { event in
            // Two events are about as long as it takes until what was asked for is there.
            for distance in 0...3 where index + 2 * distance + 2 < hashes.count {
                fetchAhead(userHash: hashes[index + 2 * distance + 2], distance: distance)
            }
            count(add(event, hash: hashes[index], behind: event.time))
            index += 1
        }
    }

    /// Whether `take` would not refuse an event of a time, if this were the watermark: nor would it with any lower one.
    func wouldTake(_ time: UInt32, recordTime: Int64, watermark mark: UInt32) -> Bool {
        acceptance.refusal(time, recordTime: recordTime, watermark: mark) == nil
    }

    /// Adds events that `take` would not refuse, as it does.
    ///
    /// - Parameter onDuplicate: gets the places of those that came before.
    func take(passing events: EventBuffer, onDuplicate: (Int) -> Void) {
        let hashes = events.userHashes
        // One step for all of them, then the next: the processor then looks up several pages at the same time, which takes longer than
        // fetching from them, and which it does not go on without.
        for hash in hashes { users.fetchHandle(hash: hash) }
        for hash in hashes { users.fetchBlock(hash: hash) }
        for hash in hashes { users.fetchLatest(hash: hash) }
        var index = 0
        events.forEach { event in
            if count(add(event, hash: hashes[index], behind: watermark)) == .duplicate { onDuplicate(index) }
            index += 1
        }
    }

    /// Has what an event will need of its user's state fetched into the cache, the steps one after the other as its turn comes near.
    ///
    /// - Parameter distance: how many steps are left.
    @inline(__always)
    func fetchAhead(userHash: UInt64, distance: Int) {
        switch distance {
        case 0: users.fetchPlaces(hash: userHash)
        case 1: users.fetchBlock(hash: userHash)
        case 2: users.fetchHandle(hash: userHash)
        default: users.fetchSlot(hash: userHash)
        }
    }

    /// Notes how far a source partition was read.
    package func raise(source: Int, to mark: UInt32) { sources?.raise(source, to: mark) }

    /// The time that decides what is final: no event that is further behind than the allowed lateness can come any more.
    package var finalMark: UInt32 { sources?.minimum ?? watermark }

    /// Counts a record that yields no event: skipped, or refused by the decoder.
    @discardableResult
    public func count(_ verdict: Verdict) -> Verdict {
        counts.count(verdict)
        return verdict
    }

    /// Adds an event that was accepted before, as a verdict log says: judges nothing and counts nothing.
    ///
    /// - Parameter commit: the commit that the event was part of: a chunk that covers it holds the event already.
    package func redo(_ event: borrowing Event, commit: Int64 = .max) {
        let hash = event.userID.hash64
        guard directory.chunk(of: hash).coveredCommit < commit else { return }
        append(event, to: user(event.userID, hash: hash))
    }

    /// As above, for an event that was judged where it was first read.
    func redo(_ event: borrowing Event, commit: Int64, source: Int, watermark mark: UInt32) {
        raise(source: source, to: mark)
        redo(event, commit: commit)
    }

    /// Sets what a position record says, after history was redone.
    package func restore(watermark: UInt32) {
        self.watermark = watermark
    }

    /// Sets what a position record says of the source partitions, after history was redone.
    package func restore(sourceWatermarks marks: [UInt32]) {
        for (source, mark) in marks.enumerated() { raise(source: source, to: mark) }
        sources?.settle()
    }

    /// Works out what the events since the last call change: merges them into their users' timelines, evaluates, folds.
    ///
    /// - Parameter output: what to leave in `pass` for publication; nothing while history is redone.
    public func settle(output: UserPass.Output) {
        sources?.settle()
        turn &+= 1
        let finalMark = finalMark
        let dirtyUsers = dirty.elements
        for (place, number) in dirtyUsers.enumerated() {
            if place + 4 < dirtyUsers.count { users.fetchBlock(dirtyUsers[place + 4]) }
            guard var state = users.state(number), state.isDirty else { continue }
            let bytes = state.byteCount
            let duplicates = pass.update(&state, watermark: finalMark, output: output)
            users.resized(by: state.byteCount - bytes)
            state.turn = turn
            counts.accepted -= duplicates
            counts.duplicates += duplicates
            directory.chunk(of: state.userHash).isChanged = true
            keep(state, number)
        }
        dirty.removeAll()
        hotUsers.removeAll(keepingCapacity: true)
        sweep()
        packIdle()
        unpackedBefore = users.unpackedByteCount
    }

    /// Packs all users, whenever they were worked on last. None may have new events.
    func packAll() { users.packIdle(downTo: 0, turn: turn, horizon: idHorizon) }

    private func packIdle() {
        guard let unpackedLimit, users.unpackedByteCount > unpackedLimit else { return }
        users.packIdle(downTo: unpackedLimit, turn: turn, horizon: idHorizon)
    }

    /// No event before this time is accepted any more, so that no earlier one can come twice.
    private var idHorizon: Int64 { rules.allowedLateness.map { Int64(finalMark) - $0 } ?? .min }

    private func add(_ event: borrowing Event, hash: UInt64, behind mark: UInt32) -> Verdict {
        let number = user(event.userID, hash: hash)
        if duplicateCheck == .onArrival, let state = users.state(number), isDuplicate(event.id, number, state) {
            return .duplicate
        }
        lateness.add(Int(mark) - Int(event.time))
        append(event, to: number)
        return .accepted
    }

    /// How late the events were that were accepted since the last call.
    package func takeLateness() -> LatenessCounts {
        defer { lateness = LatenessCounts() }
        return lateness
    }

    private func isDuplicate(_ id: ByteView, _ number: UInt32, _ state: UserState) -> Bool {
        let horizon = idHorizon
        let count = state.entries.count + state.pending.count
        guard count >= TaskState.hotUserEvents else { return UserPass.contains(id, in: state, horizon: horizon) }
        // Of a user with very many events, look through them only where a hash says that the id may be there.
        var known = hotUsers.removeValue(forKey: number) ?? TaskState.idHashes(of: state)
        let isNew = known.insert(id.hash64).inserted
        hotUsers[number] = known
        return !isNew && UserPass.contains(id, in: state, horizon: horizon)
    }

    private static func idHashes(of state: UserState) -> Set<UInt64> {
        var hashes = Set<UInt64>(minimumCapacity: 2 * state.entries.count)
        for entry in state.entries { hashes.insert(state.id(of: entry).hash64) }
        for entry in state.pending { hashes.insert(state.id(of: entry).hash64) }
        return hashes
    }

    @inline(__always)
    private func user(_ id: ByteView, hash: UInt64) -> UInt32 {
        var isNew = false
        let number = users.user(id, hash: hash, isNew: &isNew)
        if isNew { directory.chunk(of: hash).users.append(number) }
        return number
    }

    @inline(__always)
    private func append(_ event: borrowing Event, to number: UInt32) {
        guard var state = users.state(number) else { return }
        if !state.isDirty { dirty.append(number) }
        let bytes = state.byteCount
        state.append(event, vocabulary: vocabulary)
        users.resized(by: state.byteCount - bytes)
        users.moved(number, to: state)
        watermark = max(watermark, event.time)
    }

    private func keep(_ state: UserState, _ number: UInt32) {
        users.moved(number, to: state)
        guard state.isEmpty else { return }
        let chunk = directory.chunk(of: state.userHash)
        chunk.users.removeAll { $0 == number }
        chunk.isChanged = true
        users.remove(number)
    }

    /// Folds users that have no new events, a bounded number per commit, so that those who never return go as well.
    private func sweep() {
        guard rules.allowedLateness != nil, users.numberLimit > 0 else { return }
        let finalMark = finalMark
        for _ in 0..<min(users.numberLimit, max(256, users.numberLimit / 512)) {
            sweepPlace = sweepPlace + 1 < users.numberLimit ? sweepPlace + 1 : 0
            let number = UInt32(sweepPlace)
            guard let nextFold = users.nextFold(number), finalMark >= nextFold else { continue }
            users.unpack(number)
            guard var state = users.state(number) else { continue }
            let bytes = state.byteCount
            pass.update(&state, watermark: finalMark, output: [])
            users.resized(by: state.byteCount - bytes)
            keep(state, number)
        }
    }

    // MARK: Checkpoints

    /// A piece of the state as it stands, or the word that the piece written last still holds.
    package struct ChunkRecord {
        /// Bits of the hashes of the users in it.
        package var depth: Int
        package var prefix: UInt64
        /// The users; `nil` where they are as they were written last, `[]` where the chunk was split and is no more.
        package var bytes: [UInt8]?
    }

    /// Bytes that a chunk has at most, unless it is of one user: a larger one splits.
    package var chunkSize = 384 << 10

    /// Takes the next chunk's turn. All events must have been settled.
    ///
    /// A chunk that has grown too large is replaced by its pieces; the word that it is no more comes before them.
    ///
    /// - Parameter commit: the commit that the records are written in, and that they cover.
    package func nextChunk(commit: Int64) -> [ChunkRecord] {
        nextChunk = nextChunk + 1 < directory.chunks.count ? nextChunk + 1 : 0
        let chunk = directory.chunks[nextChunk]
        guard chunk.isChanged else {
            chunk.coveredCommit = commit
            return [ChunkRecord(depth: chunk.depth, prefix: chunk.prefix, bytes: nil)]
        }
        let bytes = encode(chunk)
        let pieces = split(chunk, bytes: bytes.count)
        guard pieces.count > 1 else { return [written(chunk, bytes, commit)] }
        nextChunk += pieces.count - 1
        var records = [ChunkRecord(depth: chunk.depth, prefix: chunk.prefix, bytes: [])]
        for piece in pieces { records.append(written(piece, encode(piece), commit)) }
        return records
    }

    /// Splits a chunk until its pieces are small enough, as far as its own size tells: they are in the directory then.
    private func split(_ chunk: ChunkDirectory.Chunk, bytes: Int) -> [ChunkDirectory.Chunk] {
        guard bytes > chunkSize, chunk.users.count > 1, chunk.depth < ChunkDirectory.maxDepth else { return [chunk] }
        let halves = directory.split(chunk) { users.userHash($0) ?? 0 }
        return halves.flatMap { split($0, bytes: bytes / 2) }
    }

    /// How many chunks there are.
    package var chunkCount: Int { directory.chunks.count }

    /// The oldest commit that every chunk covers; 0 while some chunk was never written, or loading is not finished.
    package var coveredCommit: Int64 { directory.chunks.reduce(.max) { min($0, $1.coveredCommit) } }

    private func written(_ chunk: ChunkDirectory.Chunk, _ bytes: [UInt8], _ commit: Int64) -> ChunkRecord {
        chunk.isChanged = false
        chunk.coveredCommit = commit
        return ChunkRecord(depth: chunk.depth, prefix: chunk.prefix, bytes: bytes)
    }

    private func encode(_ chunk: ChunkDirectory.Chunk) -> [UInt8] {
        var writer = StateChunkWriter(vocabulary: vocabulary)
        for number in chunk.users { users.write(number, to: &writer) }
        return writer.finish()
    }

    // MARK: Loading

    /// Takes in a record that `nextChunk` gave, the records in the order in which they were written: all that a checkpoint holds, or
    /// each as it comes, by a task that follows another.
    ///
    /// Users read before with the same chunk, one around it or ones inside it are dropped and their memory is freed. The task must not
    /// have taken events. If this throws, the task is as it was.
    ///
    /// - Parameter commit: the commit that the record covers.
    /// - Throws: `StateChunk.Unreadable`.
    package func load(_ record: ChunkRecord, coveredCommit commit: Int64) throws {
        precondition(directory.isUntouched, "chunks cannot be loaded into a task that has taken events")
        guard record.depth >= 0, record.depth <= ChunkDirectory.maxDepth, record.prefix >> UInt64(record.depth) == 0
        else {
            throw StateChunk.Unreadable("no state chunk has a prefix of \(record.depth) bits that is \(record.prefix)")
        }
        guard let bytes = record.bytes else {
            let chunk = loaded.chunk(depth: record.depth, prefix: record.prefix)
            if let chunk { chunk.coveredCommit = max(chunk.coveredCommit, commit) }
            return
        }
        guard !bytes.isEmpty else {
            if let chunk = loaded.remove(depth: record.depth, prefix: record.prefix) { drop(chunk) }
            return
        }
        let chunk = ChunkDirectory.Chunk(depth: record.depth, prefix: record.prefix)
        chunk.coveredCommit = commit
        chunk.isChanged = false
        let states = try bytes.withUnsafeBytes { try StateChunk.read($0, vocabulary: vocabulary, within: chunk.holds) }
        for old in loaded.insert(chunk) { drop(old) }
        turn &+= 1
        chunk.users = users.restore(states)
        packIdle()
    }

    /// Ends the loading: from here on the task can take events.
    package func finishLoading() {
        precondition(directory.isUntouched, "loading is finished once, before any event")
        directory = ChunkDirectory(loaded.completed())
        loaded = LoadedChunks()
    }

    /// Takes over all chunks of a checkpoint; the task must be empty.
    package func restore(_ records: [(record: ChunkRecord, coveredCommit: Int64)]) throws {
        for (record, commit) in records { try load(record, coveredCommit: commit) }
        finishLoading()
    }

    private func drop(_ chunk: ChunkDirectory.Chunk) {
        for number in chunk.users { users.remove(number) }
    }
}
