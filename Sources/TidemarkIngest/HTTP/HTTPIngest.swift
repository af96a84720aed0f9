internal import Foundation
public import TidemarkConfiguration
internal import TidemarkKafka
internal import TidemarkProcessor

/// The endpoint for posts, with all that belongs to it: `tidemark ingest http`.
public final class HTTPIngest: Sendable {
    /// How long bodies that are on their way are waited for at the end, beside the time for Kafka.
    private static let lastBodies = Duration.seconds(6)

    private let configuration: Configuration
    private let sink: KafkaSink
    private let endpoint: CurrentsEndpoint
    private let server: PostServer
    private let tokens: TokenKeeper
    private let housekeeping: Housekeeping
    private let log: IngestLog

    /// Looks at the topics, and starts to take posts.
    ///
    /// - Parameters:
    ///   - configuration: names brokers, topics and limits.
    ///   - environment: may hold the tokens.
    /// - Throws: what keeps it from working, with advice.
    public convenience init(
        _ configuration: Configuration, environment: [String: String], log: IngestLog
    ) throws {
        try self.init(configuration, environment: environment, limits: TopicLimits(configuration), log: log)
    }

    init(
        _ configuration: Configuration, environment: [String: String], limits: TopicLimits, log: IngestLog
    ) throws {
        self.configuration = configuration
        self.log = log
        let http = configuration.ingest.http
        let topic = try TopicLimits.topic(configuration)
        tokens = try TokenKeeper(http.tokens, environment: environment, log: log)
        let properties = ClientProperties(configuration).reportingProducer(
            timeoutMilliseconds: Int(http.deliveryTimeout / .milliseconds(1)), queueBytes: http.heldBytes * 2)
        sink = try KafkaSink(
            KafkaSink.Settings(
                properties: properties, topic: topic, deadLetters: configuration.output.deadLetters,
                typeHeader: configuration.input.typeHeader, deadLetterBytes: limits.deadLetter), log: log)
        let eventBytes = limits.eventBytes(configuration)
        endpoint = CurrentsEndpoint(http, eventBytes: eventBytes, tokens: tokens, sink: sink)
        do {
            server = try PostServer(http, handler: endpoint)
        } catch {
            sink.close()
            throw error
        }
        housekeeping = Housekeeping { [tokens] in tokens.refresh() }
        log("posts to http://\(server.listens)/currents go to \(topic)")
    }

    /// Where it takes posts.
    public var address: ListenAddress { server.listens }

    /// What was done so far, and how it stands.
    public var status: IngestStatus {
        var status = endpoint.status
        let figures = server.figures
        status.connections = figures.connections
        status.requests = figures.requests
        status.heldBytes = figures.heldBytes
        status.slowConnections = figures.timedOut
        status.brokenOff = figures.brokenOff
        return status
    }

    /// Reads the file with the tokens again, whether it has changed or not.
    public func readTokensAgain() { tokens.refresh(always: true) }

    /// Takes no further posts, answers those that were taken once Kafka has acknowledged them, and ends. What Kafka has not
    /// acknowledged in its time is given up, and the post answered with 503.
    public func stop() {
        housekeeping.timer.cancel()
        endpoint.stop()
        server.quiesce()
        let limit = ContinuousClock.now + configuration.ingest.http.deliveryTimeout + HTTPIngest.lastBodies
        while server.figures.requests > 0, ContinuousClock.now < limit { Thread.sleep(forTimeInterval: 0.01) }
        endpoint.close()
        while endpoint.waitingCount > 0 {
            sink.giveUp()
            Thread.sleep(forTimeInterval: 0.01)
        }
        server.stop()
        sink.close()
    }

    /// What is done every second.
    ///
    /// Unchecked: a source of Dispatch may be cancelled from any thread.
    private struct Housekeeping: @unchecked Sendable {
        let timer: any DispatchSourceTimer

        init(_ body: @escaping @Sendable () -> Void) {
            timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "tidemark.ingest.housekeeping"))
            timer.setEventHandler(handler: body)
            timer.schedule(deadline: .now() + 1, repeating: 1)
            timer.resume()
        }
    }
}
