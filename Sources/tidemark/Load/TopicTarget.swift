import Foundation
import TidemarkConfiguration
import TidemarkKafka
import TidemarkWorkload

/// A topic, keyed by user. Records stay in their pieces until they are delivered.
final class TopicTarget: LoadTarget {
    private static let metadataTimeout: Int32 = 10_000
    private let topic: String
    private let producer: Producer
    private let handle: TopicHandle
    private let pieces = PiecesUnderWay()
    /// Header that carries the type of records that do not name it; `nil` where they do.
    private let typeHeader: String?
    private var headersOfType: [String: [KafkaHeader]] = [:]
    /// Makes Avro of records; `nil` leaves them as they are.
    private let encoder: AvroEventEncoder?
    private let partitions: Int
    private var firstRecords: FirstRecords

    /// - Parameter isPaced: whether records come at a rate, and so should not be held back to make large batches.
    /// - Throws: `CommandFailure` if there is no such topic or no broker answers.
    init(
        topic: String, typeHeader: String?, encoder: AvroEventEncoder?, isPaced: Bool, configuration: Configuration
    ) throws {
        self.topic = topic
        self.encoder = encoder
        self.typeHeader = typeHeader
        do {
            partitions = try Self.partitionCount(topic, configuration)
            firstRecords = FirstRecords(partitions: partitions)
            let pieces = pieces
            producer = try Producer(
                properties: Self.properties(configuration, isPaced: isPaced),
                onDelivery: { pieces.delivered($0) })
            handle = try producer.topic(topic)
        } catch let error as KafkaError {
            throw CommandFailure("cannot produce to \(topic): \(error)")
        }
    }

    // The client may read what it still has until it has really gone, which nobody waits for.
    deinit { pieces.leave() }

    func take(_ piece: WorkloadPiece, _ records: Range<Int>) throws {
        do {
            for record in records {
                let key = piece.key(record)
                if !firstRecords.areKnown { try awaitFirst(Int(Murmur2.partition(of: key, count: partitions))) }
                try send(piece, record, key)
            }
        } catch let error as KafkaError { throw failure(error) }
    }

    /// Without a timestamp of its own: a broker's retention would delete records of past times.
    private func send(_ piece: WorkloadPiece, _ record: Int, _ key: UnsafeRawBufferPointer) throws {
        let headers = headers(piece, record)
        guard let encoder else {
            return try producer.produceInPlace(
                topic: handle, key: key, value: piece.value(record), headers: headers, token: pieces.token(of: piece))
        }
        // A copy, for what is encoded is nowhere else.
        let value = try encoder.encode(piece.value(record), type: piece.eventType(record))
        try value.withUnsafeBytes { try producer.produce(topic: handle, key: key, value: $0, headers: headers) }
    }

    /// Waits until a partition knows the producer, if its first record is under way.
    private func awaitFirst(_ partition: Int) throws {
        guard !firstRecords.admit(partition) else { return }
        try awaitAll { _ in }
        firstRecords.arrived()
    }

    func finish(_ piece: WorkloadPiece, giveBack: @escaping (WorkloadPiece) -> Void) throws {
        if encoder == nil { pieces.giveBack = giveBack } else { giveBack(piece) }
        try check()
    }

    func check() throws {
        producer.poll()
        guard producer.failedDeliveries > 0 else { return }
        let first = producer.firstDeliveryError.map { ": \($0)" } ?? ""
        let count = NumberText.count(producer.failedDeliveries, "record")
        throw CommandFailure("\(count) could not be delivered to \(topic)\(first)")
    }

    func finish(waiting: (Int) -> Void) throws {
        try awaitAll(waiting)
        try check()
        producer.close()
    }

    /// Waits until everything that was taken has arrived.
    private func awaitAll(_ waiting: (Int) -> Void) throws {
        while producer.outstanding > 0 {
            waiting(producer.outstanding)
            do {
                try producer.flush(timeoutMilliseconds: 200)
            } catch  where error.code != .timedOut {
                throw failure(error)
            } catch {
                // Not all yet; what cannot be delivered at all fails by its own timeout.
            }
            try check()
        }
    }

    private func headers(_ piece: WorkloadPiece, _ record: Int) -> [KafkaHeader] {
        guard let typeHeader else { return [] }
        let type = piece.eventType(record)
        if let known = headersOfType[type] { return known }
        headersOfType[type] = [KafkaHeader(name: typeHeader, text: type)]
        return headersOfType[type] ?? []
    }

    private func failure(_ error: any Error) -> CommandFailure {
        let last = producer.lastError.map { " (last error of the client: \($0.message))" } ?? ""
        return CommandFailure("cannot produce to \(topic): \(error)\(last)")
    }

    /// How many partitions the topic has.
    private static func partitionCount(_ topic: String, _ configuration: Configuration) throws -> Int {
        let admin = try KafkaAdmin(properties: configuration.kafka)
        defer { admin.close() }
        do {
            let known = try admin.describeTopics([topic], timeoutMilliseconds: metadataTimeout)
            guard let count = known[topic] else {
                throw CommandFailure(
                    "there is no topic \(topic) on \(configuration.bootstrapServers); "
                        + "`tidemark topics create` makes those of the configuration")
            }
            return Int(count)
        } catch let error as KafkaError where [.transport, .timedOut, .allBrokersDown].contains(error.code) {
            let last = admin.lastError.map { ": \($0.message)" } ?? ""
            throw CommandFailure("no broker of \(configuration.bootstrapServers) answers\(last)")
        }
    }

    /// What the configuration gives, over what suits bulk loads. Partitions as other Kafka clients choose them.
    static func properties(_ configuration: Configuration, isPaced: Bool) -> [String: String] {
        var properties = [
            "compression.type": "lz4", "linger.ms": isPaced ? "5" : "50", "acks": "all", "batch.size": "1048576",
            "batch.num.messages": "100000", "queue.buffering.max.messages": "1000000",
            // Small enough to stay in memory that was touched before, large enough for the batches of many partitions.
            "queue.buffering.max.kbytes": "65536", "message.timeout.ms": "60000",
        ]
        // Safe because of `FirstRecords`; with a single one, nothing goes on while a broker answers.
        let limits = ["max.in.flight", "max.in.flight.requests.per.connection"]
        if limits.allSatisfy({ configuration.kafka[$0] == nil }) { properties[limits[0]] = "5" }
        properties.merge(configuration.kafka) { _, given in given }
        properties["enable.idempotence"] = "true"
        properties["partitioner"] = "murmur2_random"
        return properties
    }
}
