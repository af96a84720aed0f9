import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkProcessor
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

/// A task whose state goes through checkpoint bytes in the middle of a stream must end as one that never stopped.
@Suite("State chunks")
struct StateChunkTests {
    @Test("any stream, cut anywhere: the same rows and opens")
    func roundTrip() throws {
        for seed in UInt64(1)...400 {
            var random = SplitMix64(seed: seed ^ 0xC4)
            let lateness = [0, 600, 86_400, 3 * 86_400].randomElement(using: &random)!
            let stream = EdgeStream(
                seed: seed, events: Int.random(in: 10...150, using: &random), horizon: 120 * 86_400,
                maxDelay: lateness * 2 + 60)
            let whole = EngineDriver(stream.settings, lateness: lateness)
            whole.take(stream.events, batch: 3)
            let cut = Int.random(in: 0...stream.events.count, using: &random)
            let first = EngineDriver(stream.settings, lateness: lateness, unpackedLimit: seed % 2 == 0 ? nil : 0)
            first.take(Array(stream.events[..<cut]), batch: 3)
            let second = try EngineDriver(continuing: first)
            second.take(Array(stream.events[cut...]), batch: 3)
            #expect(second.rows() == whole.rows(), "seed \(seed), cut at \(cut)")
            #expect(second.opens == whole.opens, "seed \(seed), cut at \(cut)")
        }
    }

    @Test("ids of any spelling come back byte for byte, with everything else of their events")
    func spellings() throws {
        for seed in UInt64(1)...200 {
            var random = SplitMix64(seed: seed)
            let users = SampleUsers(count: 20, events: 12, random: &random)
            let read = try users.chunk().withUnsafeBytes { try StateChunk.read($0, vocabulary: users.vocabulary) }
            defer { for state in read { state.deallocate() } }
            try #require(read.count == users.states.count)
            for (state, original) in zip(read, users.states) {
                #expect(StateContents(state) == StateContents(original), "seed \(seed)")
            }
        }
    }

    @Test("every byte at every place of an id that looks like one of digits")
    func everyByte() throws {
        let texts = TextKeeper()
        let vocabulary = Vocabulary(excludedPlatforms: [])
        for id in ["01234567", "89abcdef01234567fedcba98", "01234567-89ab-cdef-fedc-ba9876543210"] {
            for place in id.utf8.indices {
                var states: [UserState] = []
                defer { for state in states { state.deallocate() } }
                var writer = StateChunkWriter(vocabulary: vocabulary)
                for byte in UInt8.min...UInt8.max {
                    var bytes = Array(id.utf8)
                    bytes[id.utf8.distance(from: id.utf8.startIndex, to: place)] = byte
                    let view = texts.keep(bytes)
                    states.append(UserState(userID: view, hash: view.hash64))
                    writer.append(states[states.count - 1])
                }
                let chunk = writer.finish()
                let read = try chunk.withUnsafeBytes { try StateChunk.read($0, vocabulary: vocabulary) }
                defer { for state in read { state.deallocate() } }
                #expect(read.map { Array($0.userID) } == states.map { Array($0.userID) }, "\(id), \(place)")
                #expect(read.map(\.userHash) == states.map(\.userHash))
            }
        }
    }

    @Test("ids of digits in lower case take half their bytes")
    func packing() {
        func size(_ id: String) -> Int {
            let texts = TextKeeper()
            let view = texts.keep(Array(id.utf8))
            let state = UserState(userID: view, hash: view.hash64)
            defer { state.deallocate() }
            var writer = StateChunkWriter(vocabulary: Vocabulary(excludedPlatforms: []))
            writer.append(state)
            return writer.finish().count
        }
        let uuid = "0b5eefc0-9d3a-4a7c-8f2e-1c2d3e4f5a6b"
        #expect(size(uuid.uppercased()) - size(uuid) == 36 - 16)
        let profile = "5f8d0d55b54764421b7156c9"
        #expect(size(profile.uppercased()) - size(profile) == 24 - 12)
    }

    @Test("damaged bytes are refused or read as something else, and nothing worse")
    func damage() {
        for seed in UInt64(1)...3_000 {
            var random = SplitMix64(seed: seed)
            let users = SampleUsers(count: 4, events: 4, random: &random)
            var chunk = users.chunk()
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                chunk[Int.random(in: 1..<chunk.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
            }
            let vocabulary = Vocabulary(excludedPlatforms: [])
            do {
                let read = try chunk.withUnsafeBytes { try StateChunk.read($0, vocabulary: vocabulary) }
                for state in read { state.deallocate() }
            } catch {
                #expect(error as? StateChunk.Unreadable == StateChunk.Unreadable("a state chunk is damaged"))
            }
        }
    }
}
