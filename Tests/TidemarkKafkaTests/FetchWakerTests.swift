import Testing

@testable import TidemarkKafka

/// When a client that does not look by itself is woken to fetch.
@Suite("Fetch waker")
struct FetchWakerTests {
    private let old = 0x0200_02FF

    /// A waker of a queue of 1 MiB that was handed records of 1 KiB.
    private func waker() throws -> FetchWaker {
        var waker = try #require(FetchWaker(["queued.max.messages.kbytes": "1024"], version: old))
        waker.note(records: 10, bytes: 10_240)
        return waker
    }

    /// At which lengths the client is woken.
    private func lengthsThatWake(_ waker: inout FetchWaker, _ lengths: [Int]) -> [Int] {
        lengths.filter { waker.shouldWake(length: $0) }
    }

    @Test("each time that a queue that was at least half full has become half as long")
    func halfEmpty() throws {
        var waker = try waker()
        let woken = lengthsThatWake(&waker, [100, 1_024, 900, 513, 512, 500, 256, 0, 1_000, 400])
        #expect(woken == [512, 256, 400])
    }

    @Test("never where the queue has room: the client goes on by itself")
    func room() throws {
        var waker = try waker()
        let small = lengthsThatWake(&waker, [511, 0, 500, 10])
        #expect(small == [])
        // The same lengths of larger records.
        waker.note(records: 1, bytes: 4_096)
        let large = lengthsThatWake(&waker, [511, 10])
        #expect(large == [10])
    }

    @Test("nothing is known before the first record")
    func unknownSize() throws {
        var waker = try #require(FetchWaker([:], version: old))
        waker.note(records: 0, bytes: 0)
        let woken = lengthsThatWake(&waker, [1_000_000, 0])
        #expect(woken == [])
    }

    @Test("versions that can be told how long to wait need none")
    func newVersions() {
        #expect(FetchWaker([:], version: 0x0202_00FF) == nil)
    }
}
