import Testing
import TidemarkProcessor
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

/// A task that reads another one's checkpoint as it is written, and then goes on in its place.
@Suite("Followers")
struct FollowerTests {
    /// A live task, its checkpoint and what follows it.
    private struct Scene {
        let live: EngineDriver
        let follower: EngineDriver
        var checkpoint = CompactedChunks()
        var commit: Int64 = 0
        var history: [(event: SampleEvent, commit: Int64)] = []
        var largest = 0

        init(_ stream: EdgeStream, lateness: Int, chunkSize: Int) {
            live = EngineDriver(stream.settings, lateness: lateness)
            live.chunkSize = chunkSize
            follower = EngineDriver(following: live)
        }

        /// Commits some events, with turns for some chunks.
        mutating func commit(_ events: some Sequence<SampleEvent>, turns: Int) throws {
            commit += 1
            for event in events where live.take(event) == .accepted { history.append((event, commit)) }
            live.commit()
            for _ in 0..<turns {
                for record in live.nextChunk(commit: commit) {
                    checkpoint.take(record, commit)
                    try follower.load(record, commit: commit)
                    largest = max(largest, record.depth)
                }
            }
        }

        /// A task that loads the whole checkpoint as it stands, at once.
        func restored() throws -> EngineDriver {
            let driver = EngineDriver(following: live)
            for (record, commit) in checkpoint.records { try driver.load(record, commit: commit) }
            return driver
        }
    }

    @Test("at every commit a follower holds what the checkpoint holds, and it can take over at any")
    func takeOver() throws {
        var depths: [Int] = []
        for seed in UInt64(1)...150 {
            var random = SplitMix64(seed: seed ^ 0xF0)
            let lateness = [600, 86_400, 3 * 86_400].randomElement(using: &random)!
            let stream = EdgeStream(
                seed: seed, events: Int.random(in: 50...300, using: &random), horizon: 120 * 86_400,
                maxDelay: lateness * 2 + 60)
            let events = stream.events.spread(over: UInt64.random(in: 1...60, using: &random))
            let size = [200, 1_000, 4_000].randomElement(using: &random)!
            var scene = Scene(stream, lateness: lateness, chunkSize: size)
            let end = Int.random(in: 0...events.count, using: &random)
            var place = 0
            while place < end {
                let next = min(place + Int.random(in: 1...8, using: &random), end)
                try scene.commit(events[place..<next], turns: Int.random(in: 0...4, using: &random))
                place = next
                let restored = try scene.restored()
                #expect(scene.follower.userCount == restored.userCount, "seed \(seed), \(place) events")
                #expect(scene.follower.stateBytes == restored.stateBytes, "seed \(seed), \(place) events")
            }
            let restored = try scene.restored()
            for heir in [scene.follower, restored] {
                heir.takeOver(from: scene.live, redoing: scene.history)
                #expect(heir.coveredCommit == scene.live.coveredCommit, "seed \(seed)")
                // Users that have folded away since their chunks were written are there once more, for a while.
                #expect(heir.userCount >= scene.live.userCount, "seed \(seed)")
            }
            for driver in [scene.live, scene.follower, restored] { driver.take(Array(events[end...]), batch: 3) }
            for heir in [scene.follower, restored] {
                #expect(heir.rows() == scene.live.rows(), "seed \(seed), taken over after \(end)")
                #expect(heir.opens == scene.live.opens, "seed \(seed), taken over after \(end)")
                #expect(heir.userCount == scene.live.userCount, "seed \(seed)")
            }
            depths.append(scene.largest)
        }
        #expect(depths.contains(0))
        #expect(depths.contains { $0 >= 4 })
    }

    /// A task whose one chunk has split, what it wrote before that, and what after.
    private func halved() throws -> (driver: EngineDriver, outer: TaskState.ChunkRecord, inner: [TaskState.ChunkRecord])
    {
        let stream = EdgeStream(seed: 5, events: 200)
        let events = stream.events.spread(over: 40)
        let driver = EngineDriver(stream.settings, lateness: 365 * 86_400)
        driver.take(Array(events.dropLast(100)), batch: 50)
        let outer = try #require(driver.nextChunk(commit: 1).first)
        driver.chunkSize = (outer.bytes?.count ?? 0) / 2
        driver.take(Array(events.suffix(100)), batch: 50)
        let records = driver.nextChunk(commit: 2)
        #expect(records.first?.bytes == [])
        #expect(records.count > 2)
        return (driver, outer, Array(records.dropFirst()))
    }

    @Test("a chunk takes the place of the one around it and of those inside it")
    func overlaps() throws {
        let (driver, outer, inner) = try halved()
        let follower = EngineDriver(following: driver)
        try follower.load(outer, commit: 1)
        let (users, bytes) = (follower.userCount, follower.stateBytes)
        #expect(users > 0)
        try follower.load(inner[0], commit: 2)
        let only = EngineDriver(following: driver)
        try only.load(inner[0], commit: 2)
        #expect(follower.userCount == only.userCount)
        #expect(follower.stateBytes == only.stateBytes)
        for record in inner { try follower.load(record, commit: 2) }
        #expect(follower.userCount == driver.userCount)
        try follower.load(outer, commit: 1)
        #expect(follower.userCount == users)
        #expect(follower.stateBytes == bytes)
    }

    @Test("what is dropped frees its memory, and leaves a gap that no commit covers")
    func drops() throws {
        let (driver, _, inner) = try halved()
        let follower = EngineDriver(following: driver)
        for record in inner { try follower.load(record, commit: 2) }
        var last = inner[inner.count - 1]
        last.bytes = []
        try follower.load(last, commit: 3)
        #expect(follower.userCount < driver.userCount)
        for var record in inner {
            record.bytes = []
            try follower.load(record, commit: 3)
            try follower.load(record, commit: 3)
        }
        #expect(follower.userCount == 0)
        #expect(follower.stateBytes == 0)
        for record in inner.dropLast() { try follower.load(record, commit: 4) }
        follower.takeOver(from: driver, redoing: [])
        #expect(follower.coveredCommit == 0)
    }

    @Test("a hold moves the covered commit forward only, and none is heard without its chunk")
    func holds() throws {
        let (driver, _, inner) = try halved()
        let follower = EngineDriver(following: driver)
        for record in inner {
            var hold = record
            hold.bytes = nil
            try follower.load(hold, commit: 9)
            try follower.load(record, commit: 2)
            try follower.load(hold, commit: 5)
            try follower.load(hold, commit: 4)
        }
        #expect(follower.userCount == driver.userCount)
        follower.takeOver(from: driver, redoing: [])
        #expect(follower.coveredCommit == 5)
    }

    @Test("a chunk that cannot be read is refused and changes nothing")
    func refusals() throws {
        let (driver, outer, inner) = try halved()
        let follower = EngineDriver(following: driver)
        try follower.load(outer, commit: 1)
        let (users, bytes) = (follower.userCount, follower.stateBytes)
        var bad: [TaskState.ChunkRecord] = []
        for count in [1, 2, 40, (outer.bytes?.count ?? 0) - 1] {
            var cut = outer
            cut.bytes = outer.bytes.map { Array($0.prefix(count)) }
            bad.append(cut)
        }
        var longer = outer
        longer.bytes?.append(0)
        var foreign = inner[0]
        foreign.bytes = inner[inner.count - 1].bytes
        var deep = outer
        deep.depth = 25
        var wide = outer
        wide.prefix = 1
        for record in bad + [longer, foreign, deep, wide] {
            #expect(throws: StateChunk.Unreadable.self) { try follower.load(record, commit: 3) }
            #expect(follower.userCount == users)
            #expect(follower.stateBytes == bytes)
        }
    }

    @Test("chunks of another format version are refused by name")
    func versions() throws {
        let (driver, outer, _) = try halved()
        for version in [UInt8(0), StateChunk.version - 1, StateChunk.version + 1] {
            var other = outer
            other.bytes?[0] = version
            let error = #expect(throws: StateChunk.Unreadable.self) {
                try EngineDriver(following: driver).load(other, commit: 1)
            }
            #expect(
                error?.description
                    == "a state chunk has format version \(version), this program reads \(StateChunk.version)")
        }
    }
}

/// The last record of each chunk and the last hold, in the order in which they were written: what compaction leaves.
private struct CompactedChunks {
    private(set) var records: [(record: TaskState.ChunkRecord, commit: Int64)] = []

    mutating func take(_ record: TaskState.ChunkRecord, _ commit: Int64) {
        records.removeAll {
            $0.record.depth == record.depth && $0.record.prefix == record.prefix
                && ($0.record.bytes == nil) == (record.bytes == nil)
        }
        if record.bytes != [] { records.append((record, commit)) }
    }
}

extension [SampleEvent] {
    /// The same events with the users of an edge stream, a few, split into many.
    func spread(over users: UInt64) -> [SampleEvent] {
        map { event in
            var event = event
            var random = SplitMix64(seed: event.id.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
            event.userID += "-\(random.next() % users)"
            return event
        }
    }
}
