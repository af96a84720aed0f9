import CZlib
import Foundation
import Synchronization
import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka
import TidemarkTestKit

@testable import TidemarkIngest

/// An event of the HTTP shape, as JSON.
func event(
    _ number: Int, user: String? = "u-7", type: String? = "users.behaviors.app.SessionStart", more: String = ""
) -> String {
    let session = "\"session_id\":\"s-\(number)\",\"app_id\":\"a-1\""
    let type = type.map { "\"event_type\":\"\($0)\"," } ?? ""
    let user = user.map { "{\"user_id\":\"\($0)\"}" } ?? "{}"
    return "{\(type)\"id\":\"e-\(number)\",\"time\":1767225600,\"user\":\(user),\"properties\":{\(session)\(more)}}"
}

func batch(_ events: [String]) -> String { "{\"events\":[\(events.joined(separator: ","))]}" }

/// Bytes with room behind them for the parser.
func padded(_ text: String) -> [UInt8] { Array(text.utf8) + [UInt8](repeating: 0, count: BatchSplitter.padding) }

/// A gzip member.
func gzip(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
        &stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(bytes.count))))
    let (room, count) = (output.count, input.count)
    input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = uInt(count)
            stream.next_out = output.baseAddress
            stream.avail_out = uInt(room)
            deflate(&stream, Z_FINISH)
        }
    }
    return Array(output[..<(room - Int(stream.avail_out))])
}

/// Keeps what is sent, and settles it when the test says so.
final class StubSink: EventSink {
    struct Sent: Equatable {
        var value: String
        var key: String?
        var type: String?
        /// `nil` for an event of the input topic.
        var code: RejectionCode?
        var index: Int?
    }

    private struct State {
        var sent: [Sent] = []
        var tokens: [UInt] = []
        var holds = false
        var isAway = false
        /// What sending the event with this number ends with.
        var refusals: [Int: KafkaError.Code] = [:]
        var refusesOnce = false
        /// What delivering it ends with.
        var failures: [Int: KafkaError.Code] = [:]
    }

    private let state = Mutex(State())

    var sent: [Sent] { state.withLock { $0.sent } }
    var isAway: Bool { state.withLock { $0.isAway } }

    func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }
    func refuse(at place: Int, _ code: KafkaError.Code?) { state.withLock { $0.refusals[place] = code } }
    /// Refuses the first attempt alone.
    func refuseOnce(at place: Int, _ code: KafkaError.Code) {
        state.withLock {
            $0.refusals[place] = code
            $0.refusesOnce = true
        }
    }
    func fail(at place: Int, _ code: KafkaError.Code?) { state.withLock { $0.failures[place] = code } }
    /// From now on, records wait for `settle`.
    func hold() { state.withLock { $0.holds = true } }

    /// Acknowledges what waits, or fails it.
    func settle(_ code: KafkaError.Code? = nil) {
        let tokens = state.withLock { state in
            defer { state.tokens = [] }
            return state.tokens
        }
        for token in tokens { PostedBatch.settle(UnsafeMutableRawPointer(bitPattern: token)!, code) }
    }

    /// How many records wait.
    var waiting: Int { state.withLock { $0.tokens.count } }

    func send(_ event: PostedEvent, token: UnsafeMutableRawPointer) -> KafkaError.Code? {
        take(Sent(value: event.value.text ?? "", key: event.key.text, type: event.type.text), token)
    }

    func refuse(
        _ event: PostedEvent, _ rejection: Rejection, index: Int?, token: UnsafeMutableRawPointer
    ) -> KafkaError.Code? {
        let sent = Sent(
            value: event.value.text ?? "", key: event.key.text, type: event.type.text, code: rejection.code,
            index: index)
        return take(sent, token)
    }

    private func take(_ record: Sent, _ token: UnsafeMutableRawPointer) -> KafkaError.Code? {
        let (refusal, failure, holds) = state.withLock { state in
            let place = state.sent.count
            if let refusal = state.refusals[place] {
                if state.refusesOnce { state.refusals[place] = nil }
                return (Optional(refusal), KafkaError.Code?.none, false)
            }
            state.sent.append(record)
            if state.holds { state.tokens.append(UInt(bitPattern: token)) }
            return (nil, state.failures[place], state.holds)
        }
        if let refusal { return refusal }
        if !holds { PostedBatch.settle(token, failure) }
        return nil
    }
}

/// The token that the endpoints of tests take.
let token = "0123456789abcdef-token"

/// The head of a post.
func head(_ path: String = "/currents", token: String? = token, length: Int?, _ more: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: localhost\r\n"
        + (token.map { "Authorization: Bearer \($0)\r\n" } ?? "") + (length.map { "Content-Length: \($0)\r\n" } ?? "")
        + more + "\r\n"
}

extension HTTPConnection {
    /// Posts a body and takes the answer.
    func post(
        _ body: [UInt8], _ path: String = "/currents", token: String? = TidemarkIngestTests.token, _ more: String = ""
    ) -> HTTPConnection.Answer? {
        send(Array(head(path, token: token, length: body.count, more).utf8) + body)
        return receive()
    }

    func post(_ body: String, _ path: String = "/currents", token: String? = TidemarkIngestTests.token)
        -> HTTPConnection.Answer?
    {
        post(Array(body.utf8), path, token: token)
    }
}

/// An endpoint on a loopback port whose events go to a stub.
final class TestEndpoint {
    let sink = StubSink()
    let endpoint: CurrentsEndpoint
    let server: PostServer

    init(eventBytes: Int = 1 << 20, _ change: (inout Configuration.Ingest.HTTP) -> Void = { _ in }) throws {
        var settings = Configuration().ingest.http
        settings.listen = ListenAddress(host: "127.0.0.1", port: 0)
        settings.tokens = .variable("T")
        change(&settings)
        let tokens = try TokenKeeper(settings.tokens, environment: ["T": token], log: IngestLog { _, _ in })
        endpoint = CurrentsEndpoint(settings, eventBytes: eventBytes, tokens: tokens, sink: sink)
        server = try PostServer(settings, handler: endpoint)
    }

    deinit {
        sink.settle()
        server.stop()
    }

    var port: UInt16 { server.listens.port }

    func client() throws -> HTTPConnection { try HTTPConnection(port) }
}

/// Waits until a condition holds, for as long as a test may take at most.
func eventually(_ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while !condition() {
        if ContinuousClock.now > end { return false }
        usleep(2_000)
    }
    return true
}

/// Keeps the lines of a log.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    var log: IngestLog { IngestLog { [self] line, _ in lines.withLock { $0.append(line) } } }
}
