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

    @Test("once for each time that a full queue is half empty")
    func halfEmpty() throws {
        var waker = try waker()
        #expect([100, 1_024, 900, 513].allSatisfy { !waker.shouldWake(length: $0) })
        #expect(waker.shouldWake(length: 512))
        #expect([500, 256, 0, 1_000].allSatisfy { !waker.shouldWake(length: $0) })
        #expect(waker.shouldWake(length: 400))
    }

    @Test("never where the queue has room: the client goes on by itself")
    func room() throws {
        var waker = try waker()
        #expect([511, 0, 500, 10].allSatisfy { !waker.shouldWake(length: $0) })
        // The same lengths of larger records.
        waker.note(records: 1, bytes: 4_096)
        #expect(waker.shouldWake(length: 0))
    }

    @Test("nothing is known before the first record")
    func unknownSize() throws {
        var waker = try #require(FetchWaker([:], version: old))
        #expect([1_000_000, 0].allSatisfy { !waker.shouldWake(length: $0) })
        waker.note(records: 0, bytes: 0)
        #expect(!waker.shouldWake(length: 0))
    }

    @Test("versions that can be told how long to wait need none")
    func newVersions() {
        #expect(FetchWaker([:], version: 0x0202_00FF) == nil)
    }
}
