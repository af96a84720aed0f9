import Foundation
import Synchronization

/// A server on loopback that answers each request as a test says, as wrongly as it likes.
final class FaultyServer: Sendable {
    /// One request as it came.
    struct Request: Sendable, Equatable {
        var line: String
        /// By name in lower case.
        var headers: [String: String]
        var body: String
    }

    /// What to do about a request.
    enum Answer: Sendable {
        /// Send this, and close.
        case raw(String)
        /// Send an answer of this status and body.
        case status(Int, String, headers: String = "")
        /// Send nothing, until the server is closed.
        case silence
        /// Close at once.
        case close

        static func json(_ body: String) -> Answer { .status(200, body) }
    }

    let port: UInt16
    private let listener: Int32
    private let answer: @Sendable (Request, _ number: Int) -> Answer
    private let state = Mutex(State())

    private struct State {
        var requests: [Request] = []
        var held: [Int32] = []
    }

    /// Starts to listen.
    ///
    /// - Parameter answer: called for each request, with how many came before.
    init(_ answer: @escaping @Sendable (Request, _ number: Int) -> Answer) throws {
        self.answer = answer
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 { serve(connection) }
            // Not earlier: another server would get the number, and this thread its connections.
            Glibc.close(listener)
        }
    }

    var url: String { "http://127.0.0.1:\(port)" }
    /// All that was asked so far.
    var requests: [Request] { state.withLock { $0.requests } }

    /// Ends it; from now on nobody answers.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in state.withLock({ $0.held }) { Glibc.close(connection) }
    }

    private func serve(_ connection: Int32) {
        guard let request = receive(connection) else {
            Glibc.close(connection)
            return
        }
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count - 1
        }
        switch answer(request, number) {
        case .raw(let text): send(text, connection)
        case .status(let status, let body, let headers):
            send(
                "HTTP/1.1 \(status) Some\r\n\(headers)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)",
                connection)
        case .silence: return state.withLock { $0.held.append(connection) }
        case .close: break
        }
        Glibc.close(connection)
    }

    private func send(_ text: String, _ connection: Int32) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    private func receive(_ connection: Int32) -> Request? {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let head = text.range(of: "\r\n\r\n") {
                let lines = text[..<head.lowerBound].components(separatedBy: "\r\n")
                let headers = lines.dropFirst().reduce(into: [String: String]()) { headers, line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    headers[parts[0].lowercased()] =
                        parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
                }
                let body = String(text[head.upperBound...])
                if body.utf8.count >= Int(headers["content-length"] ?? "0") ?? 0 {
                    return Request(line: lines[0], headers: headers, body: body)
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}
