import Foundation
import Testing
import TidemarkProcessor
import TidemarkServer

@Suite("HTTP server on a loopback port")
struct HTTPServerTests {
    private let server: HTTPServer

    init() throws {
        let build = BuildFigures(version: "1.2.3", librdkafka: "2.0.2")
        let pages = RunPages(build: build) { .sample }
        server = try HTTPServer(host: "127.0.0.1", port: 0) { path in
            path == "/large"
                ? HTTPAnswer(status: 200, body: String(repeating: "x", count: 3_000_000)) : pages.answer(path)
        }
    }

    @Test func metricsAreServedAsPrometheusWantsThem() throws {
        let answer = try request("GET /metrics", port: server.port)
        #expect(answer.statusLine == "HTTP/1.1 200 OK")
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.headers["content-length"] == "\(answer.body.utf8.count)")
        #expect(answer.headers["connection"]?.lowercased() == "close")
        #expect(answer.body.contains("\ntidemark_input_records_total 1234\n"))
        #expect(answer.body.contains("tidemark_build_info{version=\"1.2.3\",librdkafka=\"2.0.2\"} 1\n"))
        #expect(answer.body.contains("\ntidemark_process_resident_memory_bytes "))
        #expect(answer.body.hasSuffix("\n"))
    }

    @Test func headHasTheHeadersAndNoBody() throws {
        let whole = try request("GET /livez", port: server.port)
        let head = try request("HEAD /livez", port: server.port)
        #expect(whole.body == "live\n")
        #expect(head.statusLine == "HTTP/1.1 200 OK")
        #expect(head.headers["content-length"] == "5")
        #expect(head.body.isEmpty)
    }

    @Test(arguments: ["/metricsx", "/metrics/", "/..%2fmetrics", "//"])
    func whatIsNotThereIsNotFound(path: String) throws {
        #expect(try request("GET \(path)", port: server.port).statusLine.hasPrefix("HTTP/1.1 404 "), "\(path)")
    }

    @Test func aQueryChangesNothing() throws {
        #expect(try request("GET /readyz?verbose=1", port: server.port).body == "ready\n")
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
    func otherMethodsAreRefused(method: String) throws {
        let answer = try request(
            "\(method) /metrics", port: server.port, headers: "Content-Length: 4\r\n", body: "body")
        #expect(answer.statusLine.hasPrefix("HTTP/1.1 405 "), "\(answer.text)")
        #expect(answer.headers["allow"] == "GET, HEAD")
    }

    @Test func aBodyIsNotWaitedFor() throws {
        // It says that a gigabyte follows, and sends none of it.
        let answer = try request("GET /livez", port: server.port, headers: "Content-Length: 1000000000\r\n")
        #expect(answer.body == "live\n")
    }

    @Test func aRequestThatIsTooLargeIsRefused() throws {
        let padding = String(repeating: "a", count: 100_000)
        let inHeader = try request("GET /livez", port: server.port, headers: "X-Padding: \(padding)\r\n")
        #expect(!inHeader.text.contains("200 OK"), "\(inHeader.statusLine)")
        let inPath = try request("GET /\(padding)", port: server.port)
        #expect(!inPath.text.contains("200 OK"), "\(inPath.statusLine)")
        #expect(try request("GET /livez", port: server.port).body == "live\n")
    }

    @Test func whatIsNoRequestHarmsNobody() throws {
        for junk in ["\r\n\r\n\r\n", "GET\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET /livez HTTP/9.9\r\n\r\n"] {
            let connection = try RawConnection(port: server.port)
            connection.send(junk)
        }
        #expect(try request("GET /livez", port: server.port).body == "live\n")
    }

    @Test func aConnectionServesOneRequest() throws {
        let connection = try RawConnection(port: server.port)
        let line = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"
        connection.send(line + line + line)
        #expect(connection.receive().text.components(separatedBy: "HTTP/1.1 200").count == 2)
    }

    @Test func silentConnectionsGiveWay() throws {
        // More than the server takes at one time; those that say nothing are closed after some seconds.
        let silent = try (0..<100).map { _ in try RawConnection(port: server.port) }
        #expect(try request("GET /livez", port: server.port).body == "live\n")
        withExtendedLifetime(silent) {}
    }

    @Test func manyAtOnceAllGetTheirAnswer() async throws {
        let port = server.port
        let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try request("GET /large", port: port).body.utf8.count } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sizes == [Int](repeating: 3_000_000, count: 20))
    }

    @Test func aPortThatIsTakenIsSaid() throws {
        let port = server.port
        let failure = #expect(throws: HTTPServerFailure.self) {
            try HTTPServer(host: "127.0.0.1", port: port) { _ in nil }
        }
        #expect(failure?.description == "cannot listen at 127.0.0.1:\(port): Address already in use")
    }

    @Test func afterStoppingThePortIsFree() throws {
        let port = server.port
        server.stop()
        server.stop()
        #expect(throws: (any Error).self) { try request("GET /livez", port: port) }
        let next = try HTTPServer(host: "127.0.0.1", port: port) { _ in HTTPAnswer(status: 200, body: "next") }
        #expect(try request("GET /", port: next.port).body == "next")
    }

    @Test func anAddressThatIsNotOursIsSaid() {
        let failure = #expect(throws: HTTPServerFailure.self) {
            try HTTPServer(host: "192.0.2.1", port: 0) { _ in nil }
        }
        #expect(failure?.description.hasPrefix("cannot listen at 192.0.2.1:0: ") == true)
    }
}
