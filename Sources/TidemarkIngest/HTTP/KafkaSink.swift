internal import Foundation
internal import Synchronization
internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkProcessor

/// Sends events to Kafka by an idempotent producer, and hears of each when the brokers have it.
final class KafkaSink: EventSink {
    /// What it is made of.
    struct Settings: Sendable {
        /// Of librdkafka.
        var properties: [String: String]
        var topic: String
        var deadLetters: String
        /// The header that names an event's type.
        var typeHeader: String
        /// The greatest record that the dead-letter topic takes, bytes.
        var deadLetterBytes: Int
    }

    /// A producer and its topics. There is a second one when the first can no longer be used.
    private final class Link: Sendable {
        let producer: ReportingProducer
        let events: TopicHandle
        let deadLetters: TopicHandle

        init(_ settings: Settings, report: @escaping ReportingProducer.Report, log: IngestLog) throws(KafkaError) {
            producer = try ReportingProducer(properties: settings.properties, report: report) { line in
                if line.level <= 3 { log("kafka producer: \(line.message)", .warning) }
            }
            events = try producer.topic(settings.topic)
            deadLetters = try producer.topic(settings.deadLetters)
        }
    }

    private let settings: Settings
    private let headerName: [CChar]
    private let log: IngestLog
    private let link: Mutex<Link>
    private let reach: KafkaReach
    private let isClosing = Atomic<Bool>(false)
    private let closed = DispatchSemaphore(value: 0)

    /// Starts a producer, and the thread on which its reports come.
    init(_ settings: Settings, log: IngestLog) throws(KafkaError) {
        self.settings = settings
        self.log = log
        headerName = Array(settings.typeHeader.utf8CString)
        reach = KafkaReach(log: log)
        link = Mutex(try Link(settings, report: reach.report, log: log))
        // The thread holds the sink until it is closed.
        Thread.detachNewThread { self.serve() }
    }

    var isAway: Bool { reach.isAway }

    func send(_ event: PostedEvent, token: UnsafeMutableRawPointer) -> KafkaError.Code? {
        let link = link.withLock { $0 }
        return headerName.withUnsafeBufferPointer { name in
            guard let name = name.baseAddress else { return nil }
            return link.producer.produce(
                topic: link.events, key: event.key.buffer, value: event.value.buffer, headerName: name,
                headerValue: event.type.buffer, token: token)
        }
    }

    func refuse(
        _ event: PostedEvent, _ rejection: Rejection, index: Int?, token: UnsafeMutableRawPointer
    ) -> KafkaError.Code? {
        let letter = IngestDeadLetter(
            event, rejection, index: index, topic: settings.topic, typeHeader: settings.typeHeader,
            limit: settings.deadLetterBytes, now: IngestDeadLetter.now())
        let link = link.withLock { $0 }
        return link.producer.produce(
            topic: link.deadLetters, key: letter.key, value: letter.value, headers: letter.headers, token: token)
    }

    /// Gives up what Kafka has not acknowledged, so that every post gets its answer.
    func giveUp() { link.withLock { $0 }.producer.purge() }

    /// Ends the thread of reports; nothing may be sent any more.
    func close() {
        guard !isClosing.exchange(true, ordering: .relaxed) else { return }
        closed.wait()
    }

    // MARK: The thread of reports

    private func serve() {
        while !isClosing.load(ordering: .relaxed) {
            let link = link.withLock { $0 }
            link.producer.serve(timeoutMilliseconds: 100)
            if let error = link.producer.fatalError { replace(link, error) }
        }
        drain(link.withLock { $0 })
        closed.signal()
    }

    private func drain(_ link: Link) {
        link.producer.purge()
        while link.producer.outstanding > 0 { link.producer.serve(timeoutMilliseconds: 100) }
    }

    private func replace(_ old: Link, _ error: KafkaError) {
        log("the Kafka producer cannot go on: \(error); starting another", .error)
        do throws(KafkaError) {
            let new = try Link(settings, report: reach.report, log: log)
            link.withLock { $0 = new }
            drain(old)
        } catch {
            log("cannot start another Kafka producer: \(error)", .error)
            Thread.sleep(forTimeInterval: 1)
        }
    }
}

/// Passes reports on, and gathers from them whether Kafka takes records.
private final class KafkaReach: Sendable {
    private let away = Atomic<Bool>(false)
    private let log: IngestLog

    init(log: IngestLog) { self.log = log }

    var isAway: Bool { away.load(ordering: .relaxed) }

    func report(_ token: UnsafeMutableRawPointer, _ code: KafkaError.Code?) {
        note(code)
        PostedBatch.settle(token, code)
    }

    /// Kafka is away when a record could not be delivered, and back when one could.
    private func note(_ code: KafkaError.Code?) {
        // Too large is the record's own fault, and giving up is ours.
        if let code, [.messageTooLarge, .purgedFromQueue, .purgedInFlight].contains(code) { return }
        guard away.load(ordering: .relaxed) != (code != nil) else { return }
        away.store(code != nil, ordering: .relaxed)
        if let code {
            log("Kafka does not take records (\(code)): posts are answered with 503 until it does", .warning)
        } else {
            log("Kafka takes records again")
        }
    }
}

extension ByteView {
    /// The bytes as a buffer; an empty one where null.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}
