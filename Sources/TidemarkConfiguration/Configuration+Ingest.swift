extension Configuration {
    /// How events come in by other ways than Kafka.
    public struct Ingest: Sendable {
        /// `ingest.topic`: one of the input topics; `nil` is the only one there is.
        public var topic: String?
        /// `ingest.http`.
        public var http = HTTP()
        /// `ingest.files`.
        public var files = Files()

        /// Files that are brought in.
        public struct Files: Sendable {
            /// `ingest.files.settle`: how long a file of a landing folder has not changed once it is complete.
            public var settle = Duration.zero
        }

        /// The endpoint for posts.
        public struct HTTP: Sendable {
            /// `ingest.http.listen`.
            public var listen = ListenAddress(host: "", port: 0)
            /// `ingest.http.tokens`: where the bearer tokens are; `nil` lets everybody in.
            public var tokens: SecretSource?
            /// `ingest.http.threads`.
            public var threads = 0
            /// `ingest.http.connections`: open at one time.
            public var connections = 0
            /// `ingest.http.head_bytes`: the lines before a body.
            public var headBytes = 0
            /// `ingest.http.body_bytes`: a body as it is sent.
            public var bodyBytes = 0
            /// `ingest.http.inflated_bytes`: a body once it is decompressed.
            public var inflatedBytes = 0
            /// `ingest.http.held_bytes`: all bodies at one time.
            public var heldBytes = 0
            /// `ingest.http.head_timeout`.
            public var headTimeout = Duration.zero
            /// `ingest.http.body_timeout`.
            public var bodyTimeout = Duration.zero
            /// `ingest.http.idle_timeout`.
            public var idleTimeout = Duration.zero
            /// `ingest.http.delivery_timeout`: how long Kafka may take to acknowledge a batch.
            public var deliveryTimeout = Duration.zero
        }
    }

    /// Where a secret is kept. Never the secret itself, so that it may be shown.
    public enum SecretSource: Equatable, Sendable, CustomStringConvertible {
        /// In an environment variable.
        case variable(String)
        /// In a file.
        case file(String)

        /// As one writes it.
        public var description: String {
            switch self {
            case .variable(let name): "env:\(name)"
            case .file(let path): "file:\(path)"
            }
        }
    }

    /// The topic that events are brought to; `nil` where there are several and none is named.
    public var ingestTopic: String? { ingest.topic ?? (input.topics.count == 1 ? input.topics[0] : nil) }

    static let ingestKeys: [ConfigurationKey] = [
        .value(
            "ingest.topic", \.ingest.topic, .kafkaName(atMost: 249), or: "only", default: "only",
            "Which of input.topics gets the events of tidemark ingest; only stands for the only one there is"),
        .value(
            "ingest.http.listen", \.ingest.http.listen, .listenAddress, default: "127.0.0.1:8080",
            "Where tidemark ingest http takes posts; it speaks no TLS, so that a proxy belongs in front of it"),
        .value(
            "ingest.http.tokens", \.ingest.http.tokens, .secretSource, or: "none", default: "env:INGEST_TOKENS",
            "Where the bearer tokens are, one a line, each of them valid; a file is read again when it changes and on SIGHUP"
        ),
        .value(
            "ingest.http.threads", \.ingest.http.threads, .integer(1...64), default: "2",
            "Threads that read posts and hand their events to Kafka"),
        .value(
            "ingest.http.connections", \.ingest.http.connections, .integer(1...1_000_000), default: "10000",
            "Connections at one time; more wait until one is closed"),
        .value(
            "ingest.http.head_bytes", \.ingest.http.headBytes, .size(1 << 10...1 << 20), default: "16KiB",
            "A request with a larger head is refused (431); a connection takes twice as much memory"),
        .value(
            "ingest.http.body_bytes", \.ingest.http.bodyBytes, .size(1 << 10...1 << 30), default: "8MiB",
            "A larger body is refused (413)"),
        .value(
            "ingest.http.inflated_bytes", \.ingest.http.inflatedBytes, .size(1 << 10...1 << 30), default: "32MiB",
            "A body that is larger once it is decompressed is refused (413)"),
        .value(
            "ingest.http.held_bytes", \.ingest.http.heldBytes, .size(1 << 20...1 << 40), default: "256MiB",
            "All bodies that are read or wait for Kafka; a body for which there is no room is put off (429)"),
        .value(
            "ingest.http.head_timeout", \.ingest.http.headTimeout, .duration(100...600_000), default: "10s",
            "Time for the head of the first request of a connection, however it trickles in"),
        .value(
            "ingest.http.body_timeout", \.ingest.http.bodyTimeout, .duration(100...3_600_000), default: "30s",
            "Time for a body, however it trickles in"),
        .value(
            "ingest.http.idle_timeout", \.ingest.http.idleTimeout, .duration(100...3_600_000), default: "75s",
            "Time from an answer to the end of the next request's head on the same connection"),
        .value(
            "ingest.http.delivery_timeout", \.ingest.http.deliveryTimeout, .duration(1_000...600_000), default: "20s",
            "Time for Kafka to acknowledge the events of a post, after which the answer is 503"),
        .value(
            "ingest.files.settle", \.ingest.files.settle, .duration(0...86_400_000), default: "10s",
            "With --follow, a file is read once it has not changed for this long"),
    ]
}

extension ValueFormat where Value == Configuration.SecretSource {
    /// A reference to a secret; the secret itself is not taken, because configurations get about.
    static let secretSource = ValueFormat.single(
        .text, allowed: "env:NAME or file:/path",
        parse: { text throws(ValueProblem) in
            for (prefix, make) in [("env:", Value.variable), ("file:", Value.file)] where text.hasPrefix(prefix) {
                let name = String(text.dropFirst(prefix.count))
                guard !name.isEmpty else { throw ValueProblem("names nothing after `\(prefix)`") }
                return make(name)
            }
            throw ValueProblem("is no reference to a secret")
        },
        print: { $0.description })
}
