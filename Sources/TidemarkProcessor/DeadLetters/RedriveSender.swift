internal import TidemarkConfiguration
internal import TidemarkKafka

/// Feeds records in transactions, each together with the mark that says so.
///
/// There is one transactional id for the application. Taking it over ends what an earlier owner left open and fences it, so that the marks
/// that are read after that are all there will be but one's own: no two can feed the same dead letter.
final class RedriveSender {
    /// A record with where it goes and the time that it is sent with.
    struct Item {
        var record: RedriveRecord
        var target: TopicPartition
        var time: Int64
    }

    private static let callTimeout: Int32 = 30_000
    private static let attempts = 10
    private static let batchRecords = 500
    private static let batchBytes = 8 << 20

    private let producer: TransactionalProducer
    private let topics: ApplicationTopics
    private let command: String
    private let control: RunControl
    private let now: () -> Int64
    private let report: (Item, _ refusal: String?) -> Void

    private var waiting: [Item] = []
    private var waitingBytes = 0
    private let batchLimit: Int
    private let rate: Int?
    private let start: ContinuousClock.Instant
    private var sent = 0

    /// Takes the application's transactional id over.
    ///
    /// - Parameters:
    ///   - command: `redrive` or `import`.
    ///   - rate: records a second at most.
    ///   - now: milliseconds since the epoch.
    ///   - report: told of each record once its transaction is committed, or of the reason why no topic takes it.
    init(
        _ configuration: Configuration, command: String, rate: Int?, control: RunControl, now: @escaping () -> Int64,
        report: @escaping (Item, _ refusal: String?) -> Void
    ) throws {
        topics = ApplicationTopics(configuration)
        self.command = command
        self.control = control
        self.rate = rate
        self.now = now
        self.report = report
        batchLimit = min(RedriveSender.batchRecords, rate ?? .max)
        start = control.now
        producer = try TransactionalProducer(
            properties: ClientProperties(configuration).producer(transactionalID: topics.redriveID))
        do {
            try producer.initTransactions(timeoutMilliseconds: RedriveSender.callTimeout)
        } catch {
            throw RunFailure(
                "cannot take over the transactional id \(topics.redriveID): \(error). Check the brokers, and that the user of the `kafka` "
                    + "settings has Write and Describe on it")
        }
    }

    func close() { producer.close() }

    /// Takes a record, and feeds those that wait once they are enough.
    func add(_ item: Item) throws {
        waiting.append(item)
        waitingBytes += (item.record.value?.count ?? 0) + (item.record.key?.count ?? 0) + 512
        if waiting.count >= batchLimit || waitingBytes >= RedriveSender.batchBytes { try flush() }
    }

    /// Feeds the records that wait, and keeps to the rate.
    func flush() throws {
        guard !waiting.isEmpty else { return }
        try send(waiting[...])
        sent += waiting.count
        waiting.removeAll()
        waitingBytes = 0
        guard let rate else { return }
        let due = start + Duration.seconds(1) * (Double(sent) / Double(rate))
        let early = control.now.duration(to: due)
        if early > .zero { control.sleep(early) }
    }

    private func send(_ items: ArraySlice<Item>) throws {
        var last: KafkaError?
        for attempt in 1...RedriveSender.attempts {
            do throws(KafkaError) {
                try transact(items)
            } catch {
                let isTooLarge = [error.code, producer.firstDeliveryError?.code].contains(.messageTooLarge)
                try abort(after: error, isTooLarge: isTooLarge)
                if isTooLarge { return try divide(items) }
                last = error
                control.sleep(.milliseconds(100 * attempt))
                continue
            }
            for item in items { report(item, nil) }
            return
        }
        throw RunFailure(
            "the same transaction failed \(RedriveSender.attempts) times, the last time: \(last.map { "\($0)" } ?? ""). \(RedriveSender.goOn)"
        )
    }

    private static let goOn = "What was fed is noted: the same command goes on with the rest"

    private func transact(_ items: ArraySlice<Item>) throws(KafkaError) {
        try producer.begin()
        for item in items { try produce(item) }
        try producer.commit(timeoutMilliseconds: RedriveSender.callTimeout)
    }

    private func produce(_ item: Item) throws(KafkaError) {
        let record = item.record
        let headers = record.headers + [KafkaHeader(name: RedriveRecord.header, text: record.id)]
        let mark = RedriveMarks.Mark(at: now(), by: command, to: item.target.description)
        do {
            try withOptionalBytes(record.key) { key in
                try withOptionalBytes(record.value) { value in
                    try producer.produce(
                        topic: item.target.topic, partition: item.target.partition, key: key, value: value,
                        headers: headers, timestampMilliseconds: item.time)
                }
            }
            try withOptionalBytes(Array(record.id.utf8)) { key in
                try withOptionalBytes(JSONRecord.encode(mark)) { value in
                    try producer.produce(topic: topics.redriven, partition: 0, key: key, value: value)
                }
            }
        } catch let error as KafkaError {
            throw error
        } catch {
            preconditionFailure("producing throws errors of Kafka only: \(error)")
        }
    }

    private func abort(after error: KafkaError, isTooLarge: Bool) throws {
        switch error.code {
        case .fenced, .producerFenced, .invalidProducerEpoch:
            throw RunFailure(
                "another `tidemark dlq redrive` or `import` of \(topics.taskGroup) has begun, and this one ends: only one feeds at a time. "
                    + RedriveSender.goOn)
        default: break
        }
        if error.isLasting || producer.firstDeliveryError?.isLasting == true {
            throw RunFailure(
                "nothing can be fed: \(error). The user of the `kafka` settings needs Write on the input topics and on \(topics.redriven), and "
                    + "Write and Describe on the transactional id \(topics.redriveID) (`kafka-acls --add`)")
        }
        guard error.requiresAbort || isTooLarge, !error.isFatal else {
            throw RunFailure(
                "a transaction failed, and whether it was committed is not known: \(error). \(RedriveSender.goOn)")
        }
        do {
            try producer.abort(timeoutMilliseconds: RedriveSender.callTimeout)
        } catch {
            throw RunFailure("cannot abort a transaction: \(error). \(RedriveSender.goOn)")
        }
    }

    /// Finds out which records are too large for their topic: the others are fed.
    private func divide(_ items: ArraySlice<Item>) throws {
        guard items.count > 1 else {
            for item in items {
                report(
                    item,
                    "it is larger than \(item.target.topic) takes, with the header that says where it is from: raise max.message.bytes of the topic"
                )
            }
            return
        }
        let middle = items.startIndex + items.count / 2
        try send(items[..<middle])
        try send(items[middle...])
    }
}
