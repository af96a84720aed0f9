internal import CMicroHTTPD

/// What a page answers with.
public struct HTTPAnswer: Equatable, Sendable {
    /// The status code.
    public var status: Int
    /// The media type.
    public var contentType: String
    /// The body.
    public var body: String

    /// An answer, of plain text if nothing else is said.
    public init(status: Int, contentType: String = "text/plain; charset=utf-8", body: String) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

/// Why a server could not start.
public struct HTTPServerFailure: Error, CustomStringConvertible, Sendable {
    /// The code of the system.
    public let code: Int32
    /// The address and what is wrong with it.
    public let description: String
}

/// A small HTTP server for metrics and health: GET and HEAD, one request for each connection, one thread.
///
/// Bounded against clients that mean harm or are broken: 64 connections, 5 s for each to say something, 16 KiB for a request's head.
public final class HTTPServer {
    /// Answers the request for a path; `nil` is "not found". Called on the server's thread.
    public typealias Pages = @Sendable (_ path: String) -> HTTPAnswer?

    private static let limits = tidemark_http_limits(
        connections: 64, timeout_seconds: 5, connection_memory: 16 << 10)

    /// Held for the thread of the C library, which knows only its address.
    private final class Context {
        let pages: Pages

        init(_ pages: @escaping Pages) { self.pages = pages }
    }

    private let context: Context
    private var server: OpaquePointer?
    /// The port that it listens at.
    public let port: UInt16

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - host: a numeric address of this host.
    ///   - port: 0 takes any that is free.
    ///   - pages: what there is.
    /// - Throws: when the address cannot be had, for example because another process has it.
    public init(host: String, port: UInt16, pages: @escaping Pages) throws(HTTPServerFailure) {
        context = Context(pages)
        var code: Int32 = 0
        let started = tidemark_http_start(
            host, port, HTTPServer.limits,
            { context, path, answer in
                guard let context, let path, let answer else { return }
                let pages = Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().pages
                HTTPServer.answer(pages(String(cString: path)) ?? HTTPServer.notFound, answer)
            }, Unmanaged.passUnretained(context).toOpaque(), &code)
        guard let started else {
            let shown = host.contains(":") ? "[\(host)]" : host
            throw HTTPServerFailure(code: code, description: "cannot listen at \(shown):\(port): \(errorText(code))")
        }
        server = started
        self.port = tidemark_http_port(started)
    }

    deinit { stop() }

    /// Closes all connections and ends the thread. Harmless when repeated.
    public func stop() {
        guard let server else { return }
        tidemark_http_stop(server)
        self.server = nil
    }

    private static let notFound = HTTPAnswer(status: 404, body: "not found\n")

    private static func answer(_ answer: HTTPAnswer, _ target: OpaquePointer) {
        var body = answer.body
        body.withUTF8 { bytes in
            tidemark_http_answer_set(
                target, UInt32(answer.status), answer.contentType, bytes.baseAddress, bytes.count)
        }
    }
}
