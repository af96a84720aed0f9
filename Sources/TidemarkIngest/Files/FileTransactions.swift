internal import Foundation
internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkProcessor

/// What was sent last may or may not be committed: the ledger has to be read again.
struct SessionLost: Error, CustomStringConvertible {
    let description: String
}

/// Brings events, dead letters and entries of the ledger to Kafka in transactions: an entry says of a file what its transaction and those
/// before it have brought, and nothing else.
///
/// The transactional id belongs to the application: of two processes the one that starts later fences the other, so that no file is
/// brought in by both.
final class FileTransactions {
    private static let callTimeout: Int32 = 30_000
    /// How often the same transaction is sent again.
    private static let attempts = 20

    private let producer: TransactionalProducer
    private let topic: String
    private let deadLetters: String
    private let ledger: String
    private let typeHeader: String
    private let headerName: [CChar]
    private let deadLetterBytes: Int
    private let log: IngestLog
    private let batch = OutboundBatch()
    private var headers = HeaderBytes()
    private var handles: [String: TopicHandle] = [:]

    /// Takes over from whoever had the transactional id before, and ends what that one left open.
    init(_ configuration: Configuration, topic: String, deadLetterBytes: Int, log: IngestLog) throws {
        self.topic = topic
        self.log = log
        self.deadLetterBytes = deadLetterBytes
        deadLetters = configuration.output.deadLetters
        ledger = LedgerTopic(configuration).name
        typeHeader = configuration.input.typeHeader
        headerName = Array(typeHeader.utf8CString)
        let properties = ClientProperties(configuration)
            .producer(transactionalID: configuration.applicationID + "-ingest-files")
        producer = try TransactionalProducer(properties: properties) { line in
            if line.level <= 3 { log("kafka producer: \(line.message)", .warning) }
        }
        try producer.initTransactions(timeoutMilliseconds: FileTransactions.callTimeout)
    }

    /// Bytes that wait for the next commit.
    var byteCount: Int { batch.byteCount }
    /// Records that wait for the next commit.
    var recordCount: Int { batch.records.count }

    /// Adds an event for the input topic.
    func append(_ event: PostedEvent) {
        headers.removeAll()
        if !event.type.isNull { headers.append(headerName, event.type.buffer) }
        batch.append(
            topic: topic, partition: -1, key: event.key.isNull ? nil : event.key.buffer, value: event.value.buffer,
            packed: headers)
    }

    /// Adds an event, or a record that holds none, for the dead-letter topic.
    ///
    /// - Parameter source: the file and the place in it.
    func append(_ event: PostedEvent, _ rejection: Rejection, index: Int?, source: String) {
        let letter = IngestDeadLetter(
            event, rejection, index: index, topic: topic, typeHeader: typeHeader, limit: deadLetterBytes,
            now: IngestDeadLetter.now())
        batch.append(
            topic: deadLetters, partition: -1, key: letter.key, value: letter.value,
            headers: letter.headers + [KafkaHeader(name: "tidemark.error.source", text: source)])
    }

    /// Adds what is known of a file from then on.
    func append(_ entry: LedgerEntry, of name: String) {
        batch.append(topic: ledger, partition: 0, key: Array(name.utf8), value: entry.value)
    }

    /// Commits all that was added.
    ///
    /// - Throws: ``SessionLost`` where it is not known whether it was; ``IngestFailure`` where it cannot be.
    func commit() throws {
        guard !batch.isEmpty else { return }
        for attempt in 1...FileTransactions.attempts {
            do throws(KafkaError) {
                try send()
                return batch.removeAll()
            } catch {
                try recover(from: error, attempt: attempt)
            }
        }
        throw SessionLost(description: "the same transaction failed \(FileTransactions.attempts) times")
    }

    func close() { producer.close() }

    private func send() throws(KafkaError) {
        try producer.begin()
        var failure: KafkaError?
        batch.forEachWithHeaders { record, key, value, packed in
            guard failure == nil else { return }
            do throws(KafkaError) {
                let handle = try handle(record.topic)
                if let packed {
                    try producer.produce(
                        topic: handle, partition: record.partition, key: key, value: value, packedHeaders: packed)
                } else {
                    try producer.produce(
                        topic: handle, partition: record.partition, key: key, value: value, headers: record.headers)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        try producer.commit(timeoutMilliseconds: FileTransactions.callTimeout)
    }

    private func handle(_ topic: String) throws(KafkaError) -> TopicHandle {
        if let known = handles[topic] { return known }
        let handle = try producer.topic(topic)
        handles[topic] = handle
        return handle
    }

    private func recover(from error: KafkaError, attempt: Int) throws {
        if error.code == .producerFenced || error.code == .fenced || error.code == .invalidProducerEpoch {
            throw IngestFailure("another `tidemark ingest files` of this application has taken over: \(error)")
        }
        if error.isFatal { throw SessionLost(description: "the producer cannot go on: \(error)") }
        if error.code == .messageTooLarge {
            try? producer.abort(timeoutMilliseconds: FileTransactions.callTimeout)
            throw IngestFailure(
                "a record is larger than \(topic) or \(deadLetters) takes: \(error). Raise their max.message.bytes, or lower "
                    + "limits.record_bytes")
        }
        guard error.requiresAbort else {
            throw SessionLost(description: "the outcome of a transaction is unknown: \(error)")
        }
        do throws(KafkaError) {
            try producer.abort(timeoutMilliseconds: FileTransactions.callTimeout)
        } catch {
            throw SessionLost(description: "cannot abort a transaction: \(error)")
        }
        log("transaction aborted, sending it again (\(attempt)): \(error)", .warning)
        Thread.sleep(forTimeInterval: min(Double(attempt) * 0.1, 1))
    }
}
