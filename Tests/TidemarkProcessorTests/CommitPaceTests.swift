import Testing

@testable import TidemarkProcessor

/// When a worker commits.
@Suite("Commit pace")
struct CommitPaceTests {
    private let pace = CommitPace(interval: .seconds(1), byteLimit: 1_000)

    private func isDue(
        after milliseconds: Int, records: Int, bytes: Int = 0, isIdle: Bool = false, left: Int = 0
    ) -> Bool {
        pace.isDue(after: .milliseconds(milliseconds), records: records, bytes: bytes, isIdle: isIdle) { left }
    }

    @Test("a commit each interval, sooner when it is full")
    func interval() {
        #expect(!isDue(after: 999, records: 499_999, bytes: 999))
        #expect(isDue(after: 1_000, records: 1))
        #expect(isDue(after: 1, records: 500_000))
        #expect(isDue(after: 1, records: 1, bytes: 1_000))
    }

    @Test("a backlog of at least as much again: up to four intervals become one")
    func backlog() {
        #expect(!isDue(after: 1_000, records: 50_000, left: 50_000))
        #expect(isDue(after: 1_000, records: 50_000, left: 49_999))
        #expect(!isDue(after: 3_999, records: 300_000, left: 9_000_000))
        #expect(isDue(after: 4_000, records: 300_000, left: 9_000_000))
        #expect(isDue(after: 1_000, records: 500_000, left: 9_000_000))
        // Nothing comes, or it trickles: what there is goes out.
        #expect(isDue(after: 1_000, records: 50_000, isIdle: true, left: 9_000_000))
        #expect(isDue(after: 1_000, records: 9_999, left: 9_000_000))
    }
}
