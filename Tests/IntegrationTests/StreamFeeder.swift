import Foundation
import Synchronization
import TidemarkKafka

/// A record on its way into an input topic.
struct InputRecord: Sendable {
    var key: [UInt8]?
    /// `nil` is a tombstone.
    var value: [UInt8]?
    /// The value of the header `event_type`, if any.
    var type: String?
    /// Milliseconds since the epoch; 0 is now.
    var timestamp: Int64 = 0
    /// Another topic than the feeder's.
    var topic: String?
    /// Where to put it; -1 is where its key belongs.
    var partition: Int32 = -1
}

/// Produces records to a topic, all at once or evenly over a time on a thread of its own.
final class StreamFeeder: Sendable {
    private let topic: String
    private let properties: [String: String]
    private let sent = Mutex(0)
    private let failure = Mutex<(any Error)?>(nil)
    private let isDone = Mutex(false)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter properties: of the producer, besides the usual ones.
    init(topic: String, properties: [String: String] = [:]) {
        self.topic = topic
        self.properties = properties
    }

    /// How many records were handed to the client so far.
    var count: Int { sent.withLock { $0 } }

    /// Produces all records and waits until they are there.
    func feed(_ records: some Sequence<InputRecord>) throws {
        try produce(records, perSecond: .infinity)
    }

    /// Begins to produce the records evenly over some seconds; ``waitForEnd()`` waits for the last one.
    func begin(_ records: [InputRecord], over seconds: Double) {
        let rate = Double(records.count) / max(seconds, 0.02)
        Thread { [self] in
            do {
                try produce(records, perSecond: rate)
            } catch {
                failure.withLock { $0 = error }
            }
            isDone.withLock { $0 = true }
            ended.signal()
        }.start()
    }

    /// Whether ``begin(_:over:)`` has nothing more to produce.
    var hasEnded: Bool { isDone.withLock { $0 } }

    /// Waits until all records of ``begin(_:over:)`` are in the topic.
    func waitForEnd() throws {
        ended.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func produce(_ records: some Sequence<InputRecord>, perSecond rate: Double) throws {
        let usual = [
            "bootstrap.servers": Environment.servers ?? "", "partitioner": "murmur2_random", "linger.ms": "5",
            "message.max.bytes": "16000000", "compression.type": "none",
        ]
        let producer = try Producer(properties: usual.merging(properties) { $1 })
        defer { producer.close() }
        var handles: [String: TopicHandle] = [:]
        let start = Date()
        for record in records {
            let name = record.topic ?? topic
            let handle = try handles[name] ?? producer.topic(name)
            handles[name] = handle
            try StreamFeeder.bytes(record.key) { key in
                try StreamFeeder.bytes(record.value) { value in
                    try producer.produce(
                        topic: handle, partition: record.partition, key: key, value: value,
                        headers: record.type.map { [KafkaHeader(name: "event_type", text: $0)] } ?? [],
                        timestampMilliseconds: record.timestamp)
                }
            }
            let number = sent.withLock { count in
                count += 1
                return count
            }
            // By the clock, so that a machine that is short of time does not make a stream longer.
            let early = Double(number) / rate - Date().timeIntervalSince(start)
            if early > 0.02 { Thread.sleep(forTimeInterval: early) }
        }
        try producer.flush(timeoutMilliseconds: 60_000)
        if let error = producer.firstDeliveryError { throw error }
    }

    private static func bytes<Result>(
        _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        guard let bytes else { return try body(nil) }
        return try bytes.withUnsafeBytes { try body($0) }
    }
}
