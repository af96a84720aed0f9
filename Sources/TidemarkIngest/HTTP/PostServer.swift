internal import CMicroHTTPD
internal import TidemarkConfiguration

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What answers posts. Called on the threads of the server, several at a time.
protocol PostHandler: AnyObject, Sendable {
    /// The head of a request is there; answering now refuses it before its body is looked at.
    func begin(_ post: Post)
    /// The whole body is there. The answer may come later, and from any thread.
    func finish(_ post: Post)
    /// The body was not taken. The answer must be given before the call returns.
    func refuse(_ post: Post, _ outcome: PostOutcome)
}

/// One request: valid until it is answered.
///
/// Unchecked: the C side hands a request to one thread at a time, and whoever answers is the last to touch it.
struct Post: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    /// The method as it was sent.
    var method: String { String(cString: tidemark_post_method(pointer)) }
    /// The path without query.
    var path: String { String(cString: tidemark_post_path(pointer)) }

    /// The value of a header, as a C string that is valid within the call of the handler; `nil` where there is none.
    func header(_ name: String) -> UnsafePointer<CChar>? { tidemark_post_header(pointer, name) }

    /// The body, with bytes behind it that may be read. Valid until the answer.
    var body: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: tidemark_post_body(pointer), count: tidemark_post_body_size(pointer))
    }

    /// Memory beside the body that lasts until the answer, with what was there before at its beginning; `nil` where all requests
    /// together hold too much.
    func reserve(_ size: Int) -> UnsafeMutablePointer<UInt8>? { tidemark_post_reserve(pointer, size) }

    /// Answers; once.
    func answer(_ reply: PostReply) {
        var body = reply.body
        body.withUTF8 { bytes in
            var answer = tidemark_post_answer()
            answer.status = UInt32(reply.status)
            answer.retry_after = Int32(reply.retryAfter ?? -1)
            answer.closes = reply.closes
            answer.body = bytes.baseAddress
            answer.size = bytes.count
            "Bearer realm=\"tidemark\"".withCString { challenge in
                if reply.status == 401 { answer.challenge = challenge }
                (reply.allow ?? "").withCString { allow in
                    if reply.allow != nil { answer.allow = allow }
                    tidemark_post_settle(pointer, answer)
                }
            }
        }
    }
}

/// What a server holds and has had to end.
struct PostServerFigures: Equatable, Sendable {
    /// Open now.
    var connections = 0
    /// Begun and not answered in full.
    var requests = 0
    /// Bodies, bytes.
    var heldBytes = 0
    /// Connections that were too slow.
    var timedOut = 0
    /// Requests whose body never was complete.
    var brokenOff = 0
}

/// The HTTP server that takes posts.
///
/// Unchecked: the C server locks for itself; nothing here changes after start but `server`, which the owner alone takes away.
final class PostServer: @unchecked Sendable {
    private let handler: Context
    private var server: OpaquePointer?
    private let address: ListenAddress
    /// Where it listens.
    var listens: ListenAddress { address }

    /// Held for the threads of the C library, which know only its address.
    private final class Context: Sendable {
        let handler: any PostHandler
        let limits: Configuration.Ingest.HTTP

        init(_ handler: any PostHandler, _ limits: Configuration.Ingest.HTTP) {
            self.handler = handler
            self.limits = limits
        }

        static func of(_ context: UnsafeMutableRawPointer) -> Context {
            Unmanaged<Context>.fromOpaque(context).takeUnretainedValue()
        }

        func outcome(_ trouble: tidemark_post_trouble) -> PostOutcome {
            switch trouble {
            case TIDEMARK_POST_HEAD_TOO_LARGE: .headTooLarge
            case TIDEMARK_POST_BODY_TOO_LARGE: .bodyTooLarge(limit: limits.bodyBytes)
            default: .noRoom
            }
        }
    }

    /// Starts to listen.
    ///
    /// - Throws: when the address cannot be had.
    init(_ settings: Configuration.Ingest.HTTP, handler: any PostHandler) throws(IngestFailure) {
        let context = Context(handler, settings)
        self.handler = context
        let handlers = tidemark_posts_handlers(
            begin: { context, post in
                guard let context, let post else { return }
                Context.of(context).handler.begin(Post(pointer: post))
            },
            finish: { context, post in
                guard let context, let post else { return }
                Context.of(context).handler.finish(Post(pointer: post))
            },
            refuse: { context, post, trouble in
                guard let context, let post else { return }
                let own = Context.of(context)
                own.handler.refuse(Post(pointer: post), own.outcome(trouble))
            })
        var code: Int32 = 0
        let started = tidemark_posts_start(
            settings.listen.host, settings.listen.port, settings.limits, handlers,
            Unmanaged.passUnretained(context).toOpaque(), &code)
        guard let started else {
            throw IngestFailure(
                "ingest.http.listen: cannot listen at \(settings.listen): \(String(cString: strerror(code)))")
        }
        server = started
        address = ListenAddress(host: settings.listen.host, port: tidemark_posts_port(started))
    }

    deinit { stop() }

    /// What it holds now.
    var figures: PostServerFigures {
        guard let server else { return PostServerFigures() }
        let counts = tidemark_posts_count(server)
        return PostServerFigures(
            connections: Int(counts.connections), requests: Int(counts.requests), heldBytes: Int(counts.held_bytes),
            timedOut: Int(counts.timed_out), brokenOff: Int(counts.broken_off))
    }

    /// Takes no further connections; requests that have begun go on.
    func quiesce() {
        if let server { tidemark_posts_quiesce(server) }
    }

    /// Closes all connections and ends the threads. All requests whose body was handed out must be answered.
    func stop() {
        guard let server else { return }
        tidemark_posts_stop(server)
        self.server = nil
    }
}

extension Configuration.Ingest.HTTP {
    fileprivate var limits: tidemark_posts_limits {
        func milliseconds(_ duration: Duration) -> Int64 { Int64(duration / .milliseconds(1)) }
        return tidemark_posts_limits(
            // A thread without a connection of its own could never take one.
            threads: UInt32(min(threads, connections)), connections: UInt32(connections), head_bytes: headBytes,
            body_bytes: bodyBytes, held_bytes: heldBytes, head_milliseconds: milliseconds(headTimeout),
            body_milliseconds: milliseconds(bodyTimeout), idle_milliseconds: milliseconds(idleTimeout))
    }
}
