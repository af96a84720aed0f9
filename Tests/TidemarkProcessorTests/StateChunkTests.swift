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
            let first = EngineDriver(stream.settings, lateness: lateness)
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

/// All that a state holds, texts by their bytes.
private struct StateContents: Equatable {
    struct Entry: Equatable {
        var numbers: [UInt64]
        var id: [UInt8]
        var sessionID: [UInt8]
        var externalID: [UInt8]
    }

    var userID: [UInt8]
    var numbers: [UInt64]
    var entries: [Entry]
    var history: [[Int64]]
    var memory: [UInt8]

    init(_ state: UserState) {
        userID = Array(state.userID)
        numbers = [state.userHash, UInt64(state.nextFold)]
        entries = state.entries.map { entry in
            let isSession = entry.type.isSession
            return Entry(
                numbers: [
                    UInt64(entry.time), UInt64(entry.type.rawValue), UInt64(entry.flags.rawValue),
                    UInt64(entry.platform), UInt64(entry.app), UInt64(entry.label),
                    isSession ? 0 : UInt64(entry.payload), entry.device, entry.link,
                ],
                id: Array(state.id(of: entry)), sessionID: isSession ? Array(state.sessionID(of: entry)) : [],
                externalID: Array(state.externalID(of: entry)))
        }
        history = state.history.map {
            [Int64($0.app), Int64($0.month), Int64($0.count), Int64($0.first), Int64($0.last)]
        }
        memory = Array(state.memory)
    }
}

/// Users with random events, their ids in every spelling that there is and some that look like one.
private final class SampleUsers {
    let vocabulary = Vocabulary(excludedPlatforms: [])
    private(set) var states: [UserState] = []
    private let texts = TextKeeper()

    init(count: Int, events: Int, random: inout SplitMix64) {
        for _ in 0..<count {
            let id = text(&random)
            var state = UserState(userID: id, hash: id.hash64)
            for _ in 0..<Int.random(in: 0...events, using: &random) {
                state.append(event(&random), vocabulary: vocabulary)
            }
            var entries = Array(state.pending)
            entries.sort { state.isBefore($0, $1) }
            entries.withUnsafeMutableBufferPointer { state.adopt($0) }
            state.nextFold = [0, 1, .max, 1_767_571_200].randomElement(using: &random)!
            if Bool.random(using: &random) { fold(state, &random) }
            states.append(state)
        }
    }

    deinit { for state in states { state.deallocate() } }

    func chunk() -> [UInt8] {
        var writer = StateChunkWriter(vocabulary: vocabulary)
        for state in states { writer.append(state) }
        return writer.finish()
    }

    private func event(_ random: inout SplitMix64) -> Event {
        var event = Event()
        event.type = EventType.allCases.randomElement(using: &random)!
        event.time = [0, .max, 1_767_571_200, 1_767_571_260].randomElement(using: &random)!
        event.conversionIndex = UInt8(random.next() % 4)
        event.isInControlGroup = Bool.random(using: &random)
        event.id = text(&random)
        event.sessionID = text(&random)
        event.externalUserID = few("x", &random)
        event.appID = few("app", &random)
        event.platform = few("platform", &random)
        event.deviceID = few("device", &random)
        event.dispatchID = few("dispatch", &random)
        event.buttonID = few("button", &random)
        event.buttonActionType = few("action", &random)
        event.labels.campaignID = few("campaign", &random)
        event.labels.campaignName = few("name", &random)
        event.labels.canvasID = few("canvas", &random)
        return event
    }

    private func fold(_ state: UserState, _ random: inout SplitMix64) {
        var history: [MonthHistory] = []
        for month in 0..<Int32.random(in: 0...3, using: &random) {
            let first = UInt32(truncatingIfNeeded: random.next() >> 1)
            history.append(
                MonthHistory(
                    app: vocabulary.strings.intern("app1"), month: 670 + month, count: 1 + UInt32(random.next() % 9),
                    first: first, last: first + UInt32(random.next() % 1_000)))
        }
        history.withUnsafeMutableBufferPointer { state.replaceFolded(history: $0, memory: .init(start: nil, count: 0)) }
    }

    /// One of a few texts, or null.
    private func few(_ kind: String, _ random: inout SplitMix64) -> ByteView {
        let number = random.next() % 4
        return number == 0 ? .null : texts.keep(Array("\(kind)\(number)".utf8))
    }

    private func text(_ random: inout SplitMix64) -> ByteView {
        let uuid = SampleUsers.digits("........-....-....-....-............", &random)
        let length = [8, 8, 12, 24, 24, 24, 31, 32, 36, 504, 512].randomElement(using: &random)!
        let digits = SampleUsers.digits(String(repeating: ".", count: length), &random)
        let spelling =
            switch random.next() % 12 {
            case 0...3: uuid
            case 4: uuid.uppercased()
            case 5: String(uuid.dropLast())
            case 6: "0" + String(uuid.dropLast())
            case 7: digits.uppercased()
            case 8: String(repeating: ["-", "g", "é"].randomElement(using: &random)!, count: length)
            default: digits
            }
        return texts.keep(Array(spelling.utf8))
    }

    /// The pattern with digits in place of dots.
    private static func digits(_ pattern: String, _ random: inout SplitMix64) -> String {
        let bytes = pattern.utf8.map { byte in
            byte == UInt8(ascii: ".") ? alphabet[Int(random.next() % 16)] : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let alphabet = Array("0123456789abcdef".utf8)
}

/// Memory for texts that events point to.
private final class TextKeeper {
    private var kept: [UnsafeMutableBufferPointer<UInt8>] = []

    func keep(_ bytes: [UInt8]) -> ByteView {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        kept.append(copy)
        return ByteView(UnsafeRawBufferPointer(copy))
    }

    deinit { for copy in kept { copy.deallocate() } }
}

extension [UInt8] {
    fileprivate init(_ view: ByteView) { self.init(UnsafeBufferPointer(start: view.start, count: view.count)) }
}
