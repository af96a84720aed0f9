internal import CCurl
internal import Foundation

/// What a server answered.
struct HTTPAnswer {
    var status: Int
    var body: Data

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Why no answer came.
struct HTTPFailure: Error {
    enum Kind {
        case cancelled, timeout, unreachable, notTrusted, badCredentials, tooLarge, redirected, badURL, other
    }

    var kind: Kind
    /// In the words of libcurl.
    var message: String
}

/// Sends requests to one server over a connection that is kept. For one thread at a time.
final class HTTPClient {
    private static let answerLimit = 8 << 20
    private static let mediaType = "application/vnd.schemaregistry.v1+json"

    /// Held for the C library, which knows only its address.
    private final class Context {
        let isCancelled: @Sendable () -> Bool

        init(_ isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }
    }

    private let context: Context
    private let client: OpaquePointer

    /// - Parameters:
    ///   - userPassword: of the URL, before that of the settings.
    ///   - isCancelled: asked several times a second while a request runs; true ends it.
    init(_ settings: RegistrySettings, userPassword: String?, isCancelled: @escaping @Sendable () -> Bool) {
        context = Context(isCancelled)
        var raw = tidemark_curl_settings()
        let texts = CStrings()
        raw.user_password = texts.pointer(userPassword ?? settings.basicAuth)
        raw.bearer_token = texts.pointer(settings.bearerToken)
        raw.authorities_file = texts.pointer(settings.authoritiesFile)
        raw.certificate_file = texts.pointer(settings.certificateFile)
        raw.key_file = texts.pointer(settings.keyFile)
        raw.key_password = texts.pointer(settings.keyPassword)
        raw.timeout = Int(settings.timeout / .milliseconds(1))
        raw.answer_limit = HTTPClient.answerLimit
        raw.context = Unmanaged.passUnretained(context).toOpaque()
        raw.is_cancelled = { context in
            context.map { Unmanaged<Context>.fromOpaque($0).takeUnretainedValue().isCancelled() } ?? false
        }
        guard let client = withExtendedLifetime(texts, { tidemark_curl_open(&raw) }) else {
            fatalError("libcurl has no memory")
        }
        self.client = client
    }

    deinit { tidemark_curl_close(client) }

    /// Sends a GET, or a POST where there is a body, and waits for the answer.
    func send(_ url: String, body: Data? = nil) throws(HTTPFailure) -> HTTPAnswer {
        let answer =
            body.map { body in
                body.withUnsafeBytes { bytes in
                    // An empty body has no address, and would make a GET of it; there is none here.
                    tidemark_curl_send(
                        client, url, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count,
                        HTTPClient.mediaType, HTTPClient.accepted)
                }
            } ?? tidemark_curl_send(client, url, nil, 0, HTTPClient.mediaType, HTTPClient.accepted)
        if let kind = HTTPFailure.Kind(answer.result) {
            throw HTTPFailure(kind: kind, message: String(cString: answer.message))
        }
        return HTTPAnswer(
            status: answer.status, body: answer.body.map { Data(bytes: $0, count: answer.count) } ?? Data())
    }

    private static let accepted = "\(mediaType), application/json"
}

extension HTTPFailure.Kind {
    fileprivate init?(_ result: tidemark_curl_result) {
        switch result {
        case tidemark_curl_ok: return nil
        case tidemark_curl_cancelled: self = .cancelled
        case tidemark_curl_timeout: self = .timeout
        case tidemark_curl_unreachable: self = .unreachable
        case tidemark_curl_not_trusted: self = .notTrusted
        case tidemark_curl_bad_credentials: self = .badCredentials
        case tidemark_curl_too_large: self = .tooLarge
        case tidemark_curl_redirected: self = .redirected
        case tidemark_curl_bad_url: self = .badURL
        default: self = .other
        }
    }
}

/// Texts for C that live as long as this does.
private final class CStrings {
    private var pointers: [UnsafeMutablePointer<CChar>] = []

    func pointer(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text, let copy = strdup(text) else { return nil }
        pointers.append(copy)
        return UnsafePointer(copy)
    }

    deinit { for pointer in pointers { free(pointer) } }
}
