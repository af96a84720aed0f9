import Testing

@testable import TidemarkRegistry

@Suite("What to fetch, and when")
struct FetchBookTests {
    private let start = ContinuousClock.now

    private let schema = RegisteredSchema(kind: .avro, text: "text")

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .milliseconds(Int(seconds * 1_000)) }
    private func failure(_ reason: RegistryFailure.Reason) -> Result<RegisteredSchema, RegistryFailure> {
        .failure(RegistryFailure(reason: reason, description: "because"))
    }
    private func wait(_ id: UInt32, since seconds: Double = 0, _ problem: String? = nil) -> FetchBook.State {
        .wanted(SchemaWait(id: id, since: at(seconds), problem: problem))
    }

    @Test func schemasAreAskedForOnceAndKeptForEver() {
        var book = FetchBook(unknownAfter: .seconds(5))
        #expect(book.step(now: at(0)) == .idle)
        let first = book.state(of: 7, now: at(0))
        #expect(first == wait(7))
        #expect(book.step(now: at(0)) == .ask(7))
        book.take(.success(schema), for: 7, now: at(0))
        let then = book.state(of: 7, now: at(1_000_000))
        #expect(then == .known(schema))
        #expect(book.step(now: at(1_000_000)) == .idle)
    }

    @Test func anOutageIsWaitedForWithoutEnd() {
        var book = FetchBook(unknownAfter: .seconds(5))
        _ = book.state(of: 1, now: at(0))
        _ = book.state(of: 2, now: at(0))
        var now = at(0)
        for expected in [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000] {
            #expect(book.step(now: now) == .ask(1))
            book.take(failure(.unavailable), for: 1, now: now, random: 0)
            #expect(book.step(now: now) == .wait(until: now + .milliseconds(expected)))
            now += .milliseconds(expected)
        }
        #expect(book.outage == "because")
        #expect(book.failures == 9)
        let waiting = book.state(of: 2, now: now)
        #expect(waiting == wait(2, "because"))
        book.take(.success(schema), for: 1, now: now)
        #expect(book.outage == nil)
        // The next one is not held up by an outage that is over.
        #expect(book.step(now: now) == .ask(2))
    }

    @Test func deniedAndMisconfiguredAreWaitedForToo() {
        for reason in [RegistryFailure.Reason.denied, .misconfigured] {
            var book = FetchBook(unknownAfter: .zero)
            _ = book.state(of: 1, now: at(0))
            book.take(failure(reason), for: 1, now: at(0))
            let state = book.state(of: 1, now: at(1_000))
            #expect(state == wait(1, "because"))
        }
    }

    @Test func unknownOnesAreAskedForSomeSecondsBeforeTheyAreGivenUp() {
        var book = FetchBook(unknownAfter: .seconds(5))
        _ = book.state(of: 9, now: at(0))
        var asked: [Double] = []
        var seconds = 0.0
        loop: while seconds < 100 {
            switch book.step(now: at(seconds)) {
            case .ask(let id):
                asked.append(seconds)
                book.take(failure(.unknown), for: id, now: at(seconds), random: 0)
            case .wait: seconds += 0.1
            case .idle: break loop
            }
        }
        #expect(asked.count == 6)
        #expect((5.0...7.1).contains(asked.last ?? 0))
        let state = book.state(of: 9, now: at(seconds))
        #expect(state == .unknown("because"))
    }

    @Test func timeWithoutAnswerDoesNotCountAgainstAnUnknownOne() {
        var book = FetchBook(unknownAfter: .seconds(5))
        _ = book.state(of: 9, now: at(0))
        book.take(failure(.unavailable), for: 9, now: at(0))
        book.take(failure(.unknown), for: 9, now: at(1_000))
        let state = book.state(of: 9, now: at(1_000))
        #expect(state == wait(9, "because"))
    }

    @Test func givenUpOnesAreAskedForOnceAMinute() {
        var book = FetchBook(unknownAfter: .zero)
        _ = book.state(of: 9, now: at(0))
        book.take(failure(.unknown), for: 9, now: at(0))
        let held = book.state(of: 9, now: at(59))
        #expect(held == .unknown("because"))
        #expect(book.step(now: at(59)) == .idle)
        let again = book.state(of: 9, now: at(61))
        #expect(again == wait(9, since: 61))
        book.take(failure(.unknown), for: 9, now: at(61))
        let still = book.state(of: 9, now: at(62))
        #expect(still == .unknown("because"))
        _ = book.state(of: 9, now: at(200))
        book.take(.success(schema), for: 9, now: at(200))
        let found = book.state(of: 9, now: at(200))
        #expect(found == .known(schema))
    }

    @Test func otherKindsOfSchemaAreGivenUpAtOnce() {
        var book = FetchBook(unknownAfter: .seconds(5))
        _ = book.state(of: 3, now: at(0))
        book.take(failure(.unusable), for: 3, now: at(0))
        let state = book.state(of: 3, now: at(0))
        #expect(state == .unknown("because"))
    }

    @Test func idsOfDamagedRecordsDoNotPileUp() {
        var book = FetchBook(unknownAfter: .zero)
        let count = UInt32(FetchBook.mostUnknown) + 1
        for id in 0..<count {
            _ = book.state(of: id, now: at(0))
            book.take(failure(.unknown), for: id, now: at(0))
        }
        // The first ones are forgotten, not remembered without bound.
        let first = book.state(of: 0, now: at(1))
        #expect(first == wait(0, since: 1))
        let last = book.state(of: count - 1, now: at(1))
        #expect(last == .unknown("because"))
    }
}
