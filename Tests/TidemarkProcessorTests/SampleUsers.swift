import TidemarkAttribution
import TidemarkEvents
import TidemarkReports
import TidemarkWorkload

/// All that a state holds, texts by their bytes.
struct StateContents: Equatable {
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
final class SampleUsers {
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

    /// Random events, valid as long as the users.
    func events(_ count: Int, random: inout SplitMix64) -> [Event] { (0..<count).map { _ in event(&random) } }

    /// Notes where a user's state is now, after events were added to it.
    func replace(_ place: Int, by state: UserState) { states[place] = state }

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
        let uuid = SampleUsers.uuid(&random)
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

    /// A UUID in lower case.
    static func uuid(_ random: inout SplitMix64) -> String { digits("........-....-....-....-............", &random) }

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
final class TextKeeper {
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
    init(_ view: ByteView) { self.init(UnsafeBufferPointer(start: view.start, count: view.count)) }
}
