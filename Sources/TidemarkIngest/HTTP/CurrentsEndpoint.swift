internal import Synchronization
internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkProcessor

/// Answers posts of Currents events: no answer says that events are stored before Kafka has acknowledged every one of them.
final class CurrentsEndpoint: PostHandler {
    private let settings: Configuration.Ingest.HTTP
    private let tokens: TokenKeeper
    private let sink: any EventSink
    private let splitters: SplitterPool
    private let state = Mutex(IngestStatus())
    /// Posts whose body is there and that are not answered.
    private let waiting = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)
    private let isClosed = Atomic<Bool>(false)

    /// - Parameter eventBytes: the largest event that the input topic takes.
    init(_ settings: Configuration.Ingest.HTTP, eventBytes: Int, tokens: TokenKeeper, sink: any EventSink) {
        self.settings = settings
        self.tokens = tokens
        self.sink = sink
        let bodyBytes = max(settings.bodyBytes, settings.inflatedBytes)
        splitters = SplitterPool { BatchSplitter(bodyBytes: bodyBytes, eventBytes: eventBytes) }
    }

    /// What was done so far, without what the server knows.
    var status: IngestStatus {
        var status = state.withLock { $0 }
        status.isKafkaAway = sink.isAway
        if isStopping.load(ordering: .relaxed) { status.phase = .stopping }
        return status
    }

    /// Posts that wait for Kafka.
    var waitingCount: Int { waiting.load(ordering: .acquiring) }

    /// Refuses posts from now on, but for those that have begun.
    func stop() { isStopping.store(true, ordering: .relaxed) }

    /// Refuses all that is not waiting for Kafka already.
    func close() { isClosed.store(true, ordering: .sequentiallyConsistent) }

    // MARK: Heads

    func begin(_ post: Post) {
        if let refusal = refusal(of: post) { answer(post, refusal) }
    }

    private func refusal(of post: Post) -> PostOutcome? {
        // Nobody without a token learns anything else.
        guard tokens.accept(post.header("Authorization")) else { return .unauthorized }
        guard CurrentsEndpoint.paths.contains(post.path) else { return .unknownPath }
        guard post.method == "POST" else { return .otherMethod }
        guard !isStopping.load(ordering: .relaxed) else { return .stopping }
        return CurrentsEndpoint.encoding(of: post) == .unknown ? .unknownEncoding : nil
    }

    private static let trackPath = "/users/track"
    private static let paths = ["/currents", "/", trackPath]

    private enum Encoding { case plain, gzip, unknown }

    private static func encoding(of post: Post) -> Encoding {
        guard let header = post.header("Content-Encoding") else { return .plain }
        return switch String(cString: header).lowercased() {
        case "", "identity": .plain
        case "gzip", "x-gzip": .gzip
        default: .unknown
        }
    }

    func refuse(_ post: Post, _ outcome: PostOutcome) { answer(post, outcome) }

    // MARK: Bodies

    func finish(_ post: Post) {
        waiting.add(1, ordering: .sequentiallyConsistent)
        let start = ContinuousClock.now
        if let outcome = take(post, start) {
            answer(post, outcome)
            waiting.subtract(1, ordering: .releasing)
        }
    }

    /// Sends what a post holds.
    ///
    /// - Returns: the outcome where it is known at once; `nil` where the answer comes with Kafka's.
    private func take(_ post: Post, _ start: ContinuousClock.Instant) -> PostOutcome? {
        guard !isClosed.load(ordering: .sequentiallyConsistent) else { return .stopping }
        state.withLock { $0.receivedBytes += post.body.count }
        switch content(of: post) {
        case .refused(let outcome): return outcome
        case .bytes(let body, let tracked):
            return splitters.with { splitter in
                switch splitter.begin(ByteView(body)) {
                case .nothing: return .stored(events: 0, deadLetters: 0)
                case .unreadable(let rejection): return .unreadable(rejection.message)
                case .events: break
                }
                // While Kafka is away, one post at a time finds out whether it still is: others would only fill up memory.
                guard !sink.isAway || waiting.load(ordering: .relaxed) == 1 else { return .notStored(nil) }
                send(splitter, post, tracked, start)
                return nil
            }
        }
    }

    /// What a body comes to.
    private enum Content {
        /// Events in a shape of Currents, and what became of those that were in another one.
        case bytes(UnsafeRawBufferPointer, TrackConversion.Result?)
        case refused(PostOutcome)
    }

    /// The body, decompressed and converted. It lasts as long as the post.
    private func content(of post: Post) -> Content {
        var body = post.body
        guard body.count > 0 else { return .bytes(body, nil) }
        if CurrentsEndpoint.encoding(of: post) == .gzip {
            switch BodyInflater.inflate(body, limit: settings.inflatedBytes, reserve: post.reserve) {
            case .bytes(let bytes): body = bytes
            case .tooLarge: return .refused(.inflatedTooLarge(limit: settings.inflatedBytes))
            case .noRoom: return .refused(.noRoom)
            case .damaged(let reason): return .refused(.unreadable(reason))
            }
        }
        guard post.path == CurrentsEndpoint.trackPath else { return .bytes(body, nil) }
        do throws(TrackConversion.Failure) {
            let conversion = try TrackConversion(body, limit: settings.inflatedBytes)
            guard conversion.eventCount > 0 else { return .refused(.tracked(conversion.result)) }
            guard let memory = post.reserve(conversion.batch.count) else { return .refused(.noRoom) }
            memory.update(from: conversion.batch, count: conversion.batch.count)
            return .bytes(UnsafeRawBufferPointer(start: memory, count: conversion.batch.count), conversion.result)
        } catch {
            switch error {
            case .unreadable(let reason): return .refused(.unreadable(reason))
            case .tooLarge: return .refused(.inflatedTooLarge(limit: settings.inflatedBytes))
            }
        }
    }

    private func send(
        _ splitter: BatchSplitter, _ post: Post, _ tracked: TrackConversion.Result?, _ start: ContinuousClock.Instant
    ) {
        var tally = BatchTally()
        tally.tracked = tracked
        let box = TallyBox()
        let batch = PostedBatch { [self] code in complete(post, box.tally, code, start) }
        let token = batch.begin()
        var event = PostedEvent()
        var failure: KafkaError.Code?
        while failure == nil, let outcome = splitter.next(into: &event) {
            batch.add()
            switch outcome {
            case .event:
                failure = sink.send(event, token: token)
                tally.events += 1
                // The client knows what the topic takes; what it does not take is the event's fault alone.
                if failure == .messageTooLarge {
                    tally.events -= 1
                    failure = refuse(event, .tooLargeForTopic(event.value.count), index: nil, token, &tally)
                }
            case .refused(let rejection, let index):
                failure = refuse(event, rejection, index: index, token, &tally)
            }
            if failure != nil { batch.close(failure) }
        }
        box.tally = tally
        batch.close()
    }

    private func refuse(
        _ event: PostedEvent, _ rejection: Rejection, index: Int?, _ token: UnsafeMutableRawPointer,
        _ tally: inout BatchTally
    ) -> KafkaError.Code? {
        tally.deadLetters[rejection.code, default: 0] += 1
        return sink.refuse(event, rejection, index: index, token: token)
    }

    /// Kafka has all of a batch, or some of it is given up.
    private func complete(_ post: Post, _ tally: BatchTally, _ code: KafkaError.Code?, _ start: ContinuousClock.Instant)
    {
        if code == nil {
            let duration = start.duration(to: .now)
            state.withLock { state in
                state.events += tally.events
                state.deadLetters.merge(tally.deadLetters, uniquingKeysWith: +)
                state.durations.add(duration)
            }
        }
        let outcome: PostOutcome =
            switch code {
            case nil:
                tally.tracked.map { .tracked($0) }
                    ?? .stored(events: tally.events, deadLetters: tally.deadLetters.values.reduce(0, +))
            case .queueFull?: .queueFull
            case .purgedFromQueue?, .purgedInFlight?: .stopping
            default: .notStored(code)
            }
        answer(post, outcome)
        waiting.subtract(1, ordering: .releasing)
    }

    private func answer(_ post: Post, _ outcome: PostOutcome) {
        var reply = PostReply(outcome)
        if isStopping.load(ordering: .relaxed) { reply.closes = true }
        state.withLock { $0.answers[reply.status, default: 0] += 1 }
        post.answer(reply)
    }
}

/// What a batch consists of.
private struct BatchTally: Sendable {
    var events = 0
    var deadLetters: [RejectionCode: Int] = [:]
    /// Where it was in another shape.
    var tracked: TrackConversion.Result?
}

/// Carries the tally of a batch to whoever closes it last.
///
/// Unchecked: written before the sender closes the batch, read after the last has closed it.
private final class TallyBox: @unchecked Sendable {
    var tally = BatchTally()
}

extension Rejection {
    fileprivate static func tooLargeForTopic(_ count: Int) -> Rejection {
        Rejection(
            code: .tooLarge,
            message: "the event has \(count) bytes, more than the input topic takes; raise its max.message.bytes")
    }
}
