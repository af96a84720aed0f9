import Foundation
import Synchronization
import Testing

@testable import TidemarkRegistry

@Suite("The thread that fetches", .timeLimit(.minutes(1)))
struct SchemaFetcherTests {
    private final class Notes: Sendable {
        private let notes = Mutex<[SchemaFetcher.Note]>([])

        var all: [SchemaFetcher.Note] { notes.withLock { $0 } }

        func add(_ note: SchemaFetcher.Note) { notes.withLock { $0.append(note) } }
    }

    /// Looks until the state is another than "wanted".
    private func settled(_ fetcher: SchemaFetcher, _ id: UInt32) -> SchemaFetcher.State {
        while true {
            let state = fetcher.state(of: id)
            guard case .wanted = state else { return state }
            sched_yield()
        }
    }

    @Test func schemasArriveAndOutagesAreNoted() throws {
        let server = try FaultyServer { request, number in
            number < 2 ? .status(500, "") : .json(#"{"schema": "\#(request.line)"}"#)
        }
        defer { server.close() }
        let notes = Notes()
        let fetcher = SchemaFetcher(try RegistrySettings(server.url)) { notes.add($0) }
        #expect(settled(fetcher, 4) == .known(RegisteredSchema(kind: .avro, text: "GET /schemas/ids/4 HTTP/1.1")))
        #expect(fetcher.figures.wanted == 0)
        #expect(fetcher.figures.failures == 2)
        fetcher.close()
        fetcher.close()
        #expect(notes.all == [.outage("cannot get schema 4 at \(server.url): answered 500"), .recovered])
    }

    @Test func unknownOnesAreGivenUp() throws {
        let server = try FaultyServer { _, _ in .status(404, #"{"error_code": 40403, "message": "none"}"#) }
        defer { server.close() }
        let fetcher = SchemaFetcher(try RegistrySettings(server.url) { $0.unknownAfter = .zero }) { _ in }
        defer { fetcher.close() }
        #expect(settled(fetcher, 4) == .unknown("cannot get schema 4 at \(server.url): answered 404 (none)"))
    }

    @Test func closingEndsARequestThatIsOnItsWay() throws {
        let server = try FaultyServer { _, _ in .silence }
        defer { server.close() }
        let fetcher = SchemaFetcher(try RegistrySettings(server.url) { $0.timeout = .seconds(300) }) { _ in }
        guard case .wanted = fetcher.state(of: 4) else {
            Issue.record("not wanted")
            return
        }
        while server.requests.isEmpty { sched_yield() }
        fetcher.close()
        #expect(fetcher.figures.wanted == 1)
    }
}
