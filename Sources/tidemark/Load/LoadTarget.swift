import Foundation
import TidemarkConfiguration
import TidemarkKafka
import TidemarkWorkload

/// Where a generated stream goes.
protocol LoadTarget: AnyObject {
    /// Takes one record; throws `CommandFailure` as soon as it is known that records got lost.
    func take(_ record: borrowing WorkloadRecord) throws

    /// Waits until everything that was taken has arrived.
    ///
    /// - Parameter waiting: told how many records are still under way.
    func finish(waiting: (Int) -> Void) throws
}

/// A file, or standard output: one record a line.
final class FileTarget: LoadTarget {
    private static let pieceSize = 1 << 20
    private let name: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// - Parameter path: `nil` is standard output.
    init(path: String?) throws(CommandFailure) {
        name = path ?? "standard output"
        descriptor = path.map { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) } ?? STDOUT_FILENO
        guard descriptor >= 0 else {
            throw CommandFailure("cannot write \(name): \(String(cString: strerror(errno)))")
        }
        buffer.reserveCapacity(Self.pieceSize + 1 << 16)
    }

    deinit { if descriptor != STDOUT_FILENO { close(descriptor) } }

    func take(_ record: borrowing WorkloadRecord) throws {
        buffer.append(contentsOf: record.json)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.pieceSize { try write() }
    }

    func finish(waiting: (Int) -> Void) throws { try write() }

    private func write() throws(CommandFailure) {
        let problem: Int32? = buffer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written >= 0 { rest = rest.dropFirst(written) } else if errno != EINTR { return errno }
            }
            return nil
        }
        buffer.removeAll(keepingCapacity: true)
        guard let problem else { return }
        if problem == EPIPE, descriptor == STDOUT_FILENO {
            // A reader that has seen enough (`| head`) ends the stream as it ends other tools: silently.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        throw CommandFailure("cannot write \(name): \(String(cString: strerror(problem)))")
    }
}

/// A topic, keyed by user.
final class TopicTarget: LoadTarget {
    private static let metadataTimeout: Int32 = 10_000
    private let topic: String
    private let producer: Producer
    private let handle: TopicHandle
    /// Header that carries the type of records that do not name it; `nil` where they do.
    private let typeHeader: String?
    /// Makes Avro of records; `nil` leaves them as they are.
    private let encoder: AvroEventEncoder?
    private var headersOfType: [String: [KafkaHeader]] = [:]
    private var taken = 0

    /// - Throws: `CommandFailure` if there is no such topic or no broker answers.
    init(topic: String, typeHeader: String?, encoder: AvroEventEncoder?, configuration: Configuration) throws {
        self.topic = topic
        self.encoder = encoder
        self.typeHeader = typeHeader
        do {
            try Self.check(topic, configuration)
            producer = try Producer(properties: Self.properties(configuration))
            handle = try producer.topic(topic)
        } catch let error as KafkaError {
            throw CommandFailure("cannot produce to \(topic): \(error)")
        }
    }

    func take(_ record: borrowing WorkloadRecord) throws {
        let value = try encoder?.encode(record.json, type: record.eventType) ?? record.json
        do {
            // Without a timestamp of their own: a broker's retention would delete records of past times.
            try record.userID.withUnsafeBytes { key in
                try value.withUnsafeBytes { value in
                    try producer.produce(topic: handle, key: key, value: value, headers: headers(record.eventType))
                }
            }
        } catch { throw failure(error) }
        taken += 1
        if taken % 1_024 == 0 { try checkDeliveries() }
    }

    func finish(waiting: (Int) -> Void) throws {
        while producer.outstanding > 0 {
            waiting(producer.outstanding)
            do {
                try producer.flush(timeoutMilliseconds: 200)
            } catch  where error.code != .timedOut {
                throw failure(error)
            } catch {
                // Not all yet; what cannot be delivered at all fails by its own timeout.
            }
            try checkDeliveries()
        }
        producer.poll()
        try checkDeliveries()
        producer.close()
    }

    private func headers(_ type: String) -> [KafkaHeader] {
        guard let typeHeader else { return [] }
        if let known = headersOfType[type] { return known }
        headersOfType[type] = [KafkaHeader(name: typeHeader, text: type)]
        return headersOfType[type] ?? []
    }

    private func checkDeliveries() throws(CommandFailure) {
        if taken % 1_024 == 0 { producer.poll() }
        guard producer.failedDeliveries > 0 else { return }
        let first = producer.firstDeliveryError.map { ": \($0)" } ?? ""
        let count = NumberText.count(producer.failedDeliveries, "record")
        throw CommandFailure("\(count) could not be delivered to \(topic)\(first)")
    }

    private func failure(_ error: any Error) -> CommandFailure {
        let last = producer.lastError.map { " (last error of the client: \($0.message))" } ?? ""
        return CommandFailure("cannot produce to \(topic): \(error)\(last)")
    }

    private static func check(_ topic: String, _ configuration: Configuration) throws {
        let admin = try KafkaAdmin(properties: configuration.kafka)
        defer { admin.close() }
        do {
            let known = try admin.describeTopics([topic], timeoutMilliseconds: metadataTimeout)
            guard known[topic] != nil else {
                throw CommandFailure(
                    "there is no topic \(topic) on \(configuration.bootstrapServers); "
                        + "`tidemark topics create` makes those of the configuration")
            }
        } catch let error as KafkaError where [.transport, .timedOut, .allBrokersDown].contains(error.code) {
            let last = admin.lastError.map { ": \($0.message)" } ?? ""
            throw CommandFailure("no broker of \(configuration.bootstrapServers) answers\(last)")
        }
    }

    /// What the configuration gives, over what suits bulk loads. Partitions as other Kafka clients choose them.
    private static func properties(_ configuration: Configuration) -> [String: String] {
        var properties = [
            "compression.type": "lz4", "linger.ms": "50", "acks": "all", "batch.size": "1048576",
            "batch.num.messages": "100000", "queue.buffering.max.messages": "1000000",
            "queue.buffering.max.kbytes": "524288", "message.timeout.ms": "60000",
        ]
        properties.merge(configuration.kafka) { _, given in given }
        properties["enable.idempotence"] = "true"
        properties["partitioner"] = "murmur2_random"
        return properties
    }
}
