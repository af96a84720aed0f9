import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkProcessor
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

/// Packing is for memory alone: nothing that can be seen may depend on it.
@Suite("Packed users")
struct UserPackerTests {
    @Test("ids of any spelling come back byte for byte, with everything else of their events")
    func spellings() {
        for seed in UInt64(1)...200 {
            var random = SplitMix64(seed: seed)
            let users = SampleUsers(count: 20, events: 12, random: &random)
            var packer = UserPacker()
            // All are packed before the first is unpacked: each must stand by itself.
            let packed = users.states.map { packer.pack($0, horizon: .min) }
            for (packed, original) in zip(packed, users.states).reversed() {
                #expect(packed.userHash == original.userHash && packed.nextFold == original.nextFold)
                let (isOwn, isOther) = (
                    packer.holds(packed, userID: original.userID),
                    packer.holds(packed, userID: users.states[0].userID)
                )
                #expect(isOwn)
                #expect(isOther == (original.userHash == users.states[0].userHash))
                let state = packer.unpack(packed)
                #expect(StateContents(state) == StateContents(original), "seed \(seed)")
                state.deallocate()
                packed.deallocate()
            }
        }
    }

    @Test("pieces of a user, put together, are its events in the order in which they came")
    func pieces() {
        for seed in UInt64(1)...100 {
            var random = SplitMix64(seed: seed)
            let users = SampleUsers(count: 1, events: 0, random: &random)
            let id = users.states[0].userID
            var packer = UserPacker()
            var whole = UserState(userID: id, hash: 7)
            defer { whole.deallocate() }
            var pieces: [[UInt8]] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                var part = UserState(userID: id, hash: 7)
                defer { part.deallocate() }
                for event in users.events(Int.random(in: 0...5, using: &random), random: &random) {
                    part.append(event, vocabulary: users.vocabulary)
                    whole.append(event, vocabulary: users.vocabulary)
                }
                packer.withPiece(of: part) { pieces.append(Array($0)) }
            }
            let kept = pieces.map { piece in
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
                copy.copyBytes(from: piece)
                return UnsafeRawBufferPointer(copy)
            }
            defer { for piece in kept { piece.deallocate() } }
            #expect(kept.allSatisfy { UserPacker.areOfOneUser(kept[0], $0) })
            let joined = packer.join(kept, hash: 7)
            defer { joined.deallocate() }
            #expect(joined.entries.isEmpty && joined.pending.count == whole.pending.count)
            // As entries in the same order they can be compared.
            for state in [joined, whole] { state.adopt(state.pending) }
            #expect(StateContents(joined) == StateContents(whole), "seed \(seed)")
        }
    }

    @Test("an unpacked user takes new events, its external id as well")
    func goesOn() {
        for seed in UInt64(1)...100 {
            var random = SplitMix64(seed: seed)
            let users = SampleUsers(count: 4, events: 6, random: &random)
            var packer = UserPacker()
            for (index, var original) in users.states.enumerated() {
                let packed = packer.pack(original, horizon: .min)
                defer { packed.deallocate() }
                var state = packer.unpack(packed, room: Int(seed) % 100)
                defer { state.deallocate() }
                for event in users.events(5, random: &random) {
                    state.append(event, vocabulary: users.vocabulary)
                    original.append(event, vocabulary: users.vocabulary)
                }
                users.replace(index, by: original)
                #expect(
                    state.pending.map { Array(state.id(of: $0)) } == original.pending.map { Array(original.id(of: $0)) }
                )
                #expect(
                    state.pending.map { Array(state.externalID(of: $0)) }
                        == original.pending.map { Array(original.externalID(of: $0)) }, "seed \(seed)")
            }
        }
    }

    @Test(
        "ids that only tell duplicates go once no duplicate can come; pushes and sessions keep theirs, for open records name them"
    )
    func idsGo() {
        var random = SplitMix64(seed: 7)
        let users = SampleUsers(count: 60, events: 12, random: &random)
        var packer = UserPacker()
        let horizon: Int64 = 1_767_571_260
        var gone = 0
        for original in users.states {
            let packed = packer.pack(original, horizon: horizon)
            let state = packer.unpack(packed)
            defer {
                state.deallocate()
                packed.deallocate()
            }
            for (entry, before) in zip(state.entries, original.entries) {
                let isNeeded = before.type.isPush || before.type.isSession || Int64(before.time) >= horizon
                #expect(Array(state.id(of: entry)) == (isNeeded ? Array(original.id(of: before)) : []))
                gone += isNeeded ? 0 : 1
            }
        }
        #expect(gone > 50)
    }

    @Test("every verdict is the same, however little stays unpacked")
    func verdicts() {
        for seed in UInt64(1)...300 {
            var random = SplitMix64(seed: seed ^ 0xAC)
            let lateness = [0, 600, 86_400].randomElement(using: &random)!
            let stream = EdgeStream(
                seed: seed, events: 200, horizon: [2, 20, 120].randomElement(using: &random)! * 86_400,
                maxDelay: lateness * 2 + 60)
            let plain = EngineDriver(stream.settings, lateness: lateness)
            let packing = EngineDriver(stream.settings, lateness: lateness, unpackedLimit: 0)
            // Each event comes a second time some events later, as from a source that sends again.
            var late: [SampleEvent] = []
            for (index, event) in stream.events.enumerated() {
                late.append(event)
                let again = index % 3 == 0 ? late.remove(at: Int.random(in: 0..<late.count, using: &random)) : nil
                for event in [event, again].compactMap({ $0 }) {
                    let (first, second) = (plain.take(event), packing.take(event))
                    #expect(first == second, "seed \(seed), event \(index)")
                }
                if index % 4 == 0 {
                    plain.commit()
                    packing.commit()
                }
            }
            plain.commit()
            packing.commit()
            #expect(plain.rows() == packing.rows() && plain.opens == packing.opens, "seed \(seed)")
            #expect(packing.stateBytes < plain.stateBytes || plain.userCount == 0, "seed \(seed)")
        }
    }

    @Test(
        "eight events on two devices, from three campaigns, with an external id: what a user takes that nothing happens to"
    )
    func size() {
        let user = TypicalUser()
        defer { user.state.deallocate() }
        var packer = UserPacker()
        let packed = packer.pack(user.state, horizon: Int64(user.horizon))
        defer { packed.deallocate() }
        #expect(user.state.byteCount > 800)
        #expect(packed.byteCount <= 250, "\(packed.byteCount) bytes")
    }
}

/// A user as the memory goal describes it: the last two events are within lateness.
private struct TypicalUser {
    private(set) var state: UserState
    let horizon: UInt32 = 1_767_571_200
    private let texts = TextKeeper()
    private let vocabulary = Vocabulary(excludedPlatforms: [])

    init() {
        var random = SplitMix64(seed: 1)
        let texts = texts
        func uuid() -> ByteView { texts.keep(Array(SampleUsers.uuid(&random).utf8)) }
        let id = uuid()
        state = UserState(userID: id, hash: id.hash64)
        let devices = [uuid(), uuid()]
        let external = texts.keep(Array("user-00001234".utf8))
        let campaigns = [uuid(), uuid(), uuid()]
        let dispatches = [uuid(), uuid(), uuid()]
        let kinds: [(EventType, Int)] = [
            (.pushSend, 0), (.sessionStart, 0), (.inAppMessageImpression, 1), (.inAppMessageClick, 1),
            (.contentCardImpression, 2), (.pushSend, 2), (.pushSend, 1), (.pushOpen, 1),
        ]
        for (index, (type, campaign)) in kinds.enumerated() {
            var event = Event()
            event.type = type
            event.time = horizon - 20_000 * 6 + 20_000 * UInt32(index)
            event.id = uuid()
            event.externalUserID = external
            event.deviceID = devices[index / 4]
            event.appID = texts.keep(Array("a-app".utf8))
            event.platform = texts.keep(Array("ios".utf8))
            event.sessionID = type.isSession ? uuid() : .null
            event.dispatchID = dispatches[campaign]
            event.labels.campaignID = campaigns[campaign]
            state.append(event, vocabulary: vocabulary)
        }
        var entries = Array(state.pending)
        entries.withUnsafeMutableBufferPointer { state.adopt($0) }
    }
}
