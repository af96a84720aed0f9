internal import TidemarkEvents
internal import TidemarkKafka

/// What became of a request.
enum PostOutcome: Equatable {
    /// Kafka has acknowledged all of it: so many events in the input topic, so many in the dead-letter topic. None at all is a probe.
    case stored(events: Int, deadLetters: Int)
    /// As above, of a post in the shape of `/users/track`.
    case tracked(TrackConversion.Result)
    /// The body can never be read.
    case unreadable(String)
    /// No token, or none that is valid.
    case unauthorized
    case unknownPath
    case otherMethod
    case unknownEncoding
    case headTooLarge
    case bodyTooLarge(limit: Int)
    case inflatedTooLarge(limit: Int)
    /// Bodies that wait already take all the memory there is for them.
    case noRoom
    /// The Kafka client's queue is full.
    case queueFull
    /// Kafka has not acknowledged some of it, or is known not to answer.
    case notStored(KafkaError.Code?)
    /// The process comes to an end.
    case stopping
}

/// An answer to a request. The table of what the connector does with each is in `docs/ingest.md`.
struct PostReply: Equatable {
    /// The status code.
    var status: Int
    /// Seconds after which it is worth another try; `nil` where the sender should choose.
    var retryAfter: Int?
    /// Whether the connection ends with the answer.
    var closes = false
    /// The methods there are, where another one was used.
    var allow: String?
    /// The body, a JSON object.
    var body: String

    private init(_ status: Int, _ message: String, retryAfter: Int? = nil, closes: Bool = false, allow: String? = nil) {
        self.status = status
        self.retryAfter = retryAfter
        self.closes = closes
        self.allow = allow
        body = "{\"message\":\(JSONText.quoted(message))}\n"
    }

    /// The answer to a request of which this became.
    init(_ outcome: PostOutcome) {
        switch outcome {
        case .stored(let events, let deadLetters):
            self.init(200, "")
            body = "{\"message\":\"success\",\"events\":\(events),\"dead_letters\":\(deadLetters)}\n"
        case .tracked(let result): self.init(result)
        case .unreadable(let reason): self.init(400, reason)
        // Whoever has no token gets no further request out of the connection.
        case .unauthorized: self.init(401, "send a valid token: Authorization: Bearer TOKEN", closes: true)
        case .unknownPath: self.init(404, "post Currents events to /currents, or others to /users/track")
        case .otherMethod: self.init(405, "only POST is served", allow: "POST")
        case .bodyTooLarge(let limit): self.init(413, "the body is larger than \(limit) bytes; send smaller batches")
        case .inflatedTooLarge(let limit):
            self.init(413, "the body is larger than \(limit) bytes once it is decompressed; send smaller batches")
        case .unknownEncoding: self.init(415, "Content-Encoding must be gzip or absent")
        case .headTooLarge: self.init(431, "the head of the request is too large", closes: true)
        case .noRoom: self.init(429, "too many bytes are waiting to be stored; try again soon", retryAfter: 1)
        case .queueFull: self.init(429, "too many events are waiting to be stored; try again soon", retryAfter: 1)
        case .notStored(let code):
            let reason = code.map { " (\($0))" } ?? ""
            self.init(503, "Kafka has not acknowledged the events\(reason); send them again", retryAfter: 5)
        case .stopping: self.init(503, "the endpoint is stopping; try again soon", retryAfter: 1, closes: true)
        }
    }
}

extension PostReply {
    /// An answer as that API gives it: 201 where anything was taken or nothing was wrong.
    fileprivate init(_ result: TrackConversion.Result) {
        let isFailure = result.events + result.purchases == 0 && !result.problems.isEmpty
        self.init(isFailure ? 400 : 201, "")
        let problems = result.problems.map { problem in
            "{\"type\":\(JSONText.quoted(problem.message)),\"input_array\":\"\(problem.array)\",\"index\":\(problem.index)}"
        }
        let message = isFailure ? result.problems[0].message : "success"
        body =
            "{\"message\":\(JSONText.quoted(message)),\"events_processed\":\(result.events),"
            + "\"purchases_processed\":\(result.purchases),\"attributes_skipped\":\(result.attributes)"
            + (problems.isEmpty ? "" : ",\"errors\":[\(problems.joined(separator: ","))]") + "}\n"
    }
}

/// Texts in JSON, for answers: off the path of events.
enum JSONText {
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
