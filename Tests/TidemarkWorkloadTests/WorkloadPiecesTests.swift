import Testing

@testable import TidemarkWorkload

@Suite("Records rendered ahead")
struct WorkloadPiecesTests {
    /// A record as someone who reads a topic or a file sees it.
    private struct Seen: Equatable {
        var key: [UInt8]
        var value: [UInt8]
        var type: String
        var line: [UInt8]
    }

    private static let workload = Workload(
        WorkloadOptions(users: 90, days: 6, campaigns: 30, seed: 21, lateShare: 0.03, turnover: 0.2))

    private func oneByOne(_ workload: Workload, _ shape: WireShape?) -> [Seen] {
        var stream = workload.stream()
        var record = WorkloadRecord()
        var seen: [Seen] = []
        while stream.next(into: &record, shape: shape) {
            seen.append(
                Seen(key: record.userID, value: record.json, type: record.eventType, line: record.json + [0x0A]))
        }
        return seen
    }

    private func inPieces(_ pieces: WorkloadPieces) -> [Seen] {
        var seen: [Seen] = []
        while let piece = pieces.next() {
            for record in 0..<piece.count {
                seen.append(
                    Seen(
                        key: Array(piece.key(record)), value: Array(piece.value(record)),
                        type: piece.eventType(record), line: Array(piece.lines(record..<record + 1))))
            }
            pieces.giveBack(piece)
        }
        return seen
    }

    @Test("They are those of the stream, however many threads there are", arguments: [1, 2, 5])
    func threads(count: Int) {
        let expected = oneByOne(Self.workload, nil)
        #expect(expected.count > 2_000)
        #expect(inPieces(WorkloadPieces(Self.workload, threadCount: count)) == expected)
    }

    @Test("So they are in other shapes", arguments: [WireShape.avro, .http])
    func shapes(shape: WireShape) {
        let expected = oneByOne(Self.workload, shape)
        #expect(inPieces(WorkloadPieces(Self.workload, shape: shape, threadCount: 2)) == expected)
    }

    @Test("Lines of a piece follow one another, and it says when its last record comes")
    func lines() throws {
        let pieces = WorkloadPieces(Self.workload, threadCount: 2)
        let piece = try #require(pieces.next())
        let all = Array(piece.lines(0..<piece.count))
        #expect(all == (0..<piece.count).flatMap { Array(piece.lines($0..<$0 + 1)) })
        #expect(all.last == 0x0A)
        #expect(piece.lines(3..<3).isEmpty)
        var stream = Self.workload.stream()
        var record = WorkloadRecord()
        for _ in 0..<piece.count { _ = stream.next(into: &record) }
        #expect(piece.lastArrival == record.arrival)
    }

    @Test("A reader that does not give pieces back gets all the same, and one that stops early holds nobody up")
    func readers() {
        let pieces = WorkloadPieces(Self.workload, threadCount: 3)
        var count = 0
        var kept: [WorkloadPiece] = []
        while let piece = pieces.next() {
            count += piece.count
            kept.append(piece)
        }
        #expect(count == oneByOne(Self.workload, nil).count)
        #expect(kept.count > 20)
        #expect(pieces.next() == nil)
        let left = WorkloadPieces(Workload(WorkloadOptions(users: 5_000)), threadCount: 2)
        #expect(left.next() != nil)
    }

    @Test("No record is longer than its writer says", arguments: [true, false])
    func longest(namesType: Bool) {
        var options = WorkloadOptions(users: 400, campaigns: 200, seed: 22)
        options.namesTypeInRecord = namesType
        let workload = Workload(options)
        let longest = oneByOne(workload, nil).reduce(0) { max($0, $1.value.count) }
        // What is written beyond the end for speed, and what is rare, fits too.
        #expect(longest + 500 < workload.writer.longestRecord)
    }
}

@Suite("Order of arrival")
struct ArrivalOrderTests {
    @Test("Sorting by counting gives the order of the stream", arguments: UInt64(1)...20)
    func order(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        // Few seconds make long runs, few users and ids make equal events.
        let seconds = random.pick([1, 2, 60, 3_600])
        let start = 1_767_571_200
        var events = (0..<random.below(3_000)).map { number in
            WorkloadEvent(
                arrival: UInt32(start + random.below(seconds)), time: UInt32(number), user: UInt32(random.below(20)),
                message: 0, type: .pushSend, device: 0, detail: 0, traits: [], identity: UInt64(random.below(3)),
                link: 0)
        }
        let expected = events.enumerated().sorted { left, right in
            if Workload.arrivesEarlier(left.element, right.element) { return true }
            if Workload.arrivesEarlier(right.element, left.element) { return false }
            return left.offset < right.offset
        }.map(\.element.time)
        events.sortByArrival(from: start, seconds: seconds)
        #expect(events.map(\.time) == expected)
    }

    @Test("None and one are in order")
    func few() {
        var none: [WorkloadEvent] = []
        none.sortByArrival(from: 0, seconds: 10)
        #expect(none.isEmpty)
    }
}
