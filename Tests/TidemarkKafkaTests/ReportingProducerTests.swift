import Foundation
import Synchronization
import Testing

@testable import TidemarkKafka

@Suite("Producer that reports each record", .serialized)
struct ReportingProducerTests {
    /// What was reported, by token.
    private final class Reports: Sendable {
        private let codes = Mutex<[Int: KafkaError.Code?]>([:])

        var all: [Int: KafkaError.Code?] { codes.withLock { $0 } }

        func add(_ token: UnsafeMutableRawPointer, _ code: KafkaError.Code?) {
            codes.withLock { $0[Int(bitPattern: token)] = .some(code) }
        }
    }

    private let cluster: EmbeddedCluster
    private let reports = Reports()

    init() throws {
        cluster = try EmbeddedCluster()
        try cluster.createTopic("one", partitions: 1)
        try cluster.createTopic("elsewhere", partitions: 1)
    }

    private func producer(_ properties: [String: String] = [:]) throws -> ReportingProducer {
        let reports = reports
        let all = ["bootstrap.servers": cluster.bootstrapServers, "linger.ms": "0"].merging(properties) { $1 }
        return try ReportingProducer(properties: all) { reports.add($0, $1) }
    }

    /// Sends a value that stays in place for good.
    private func send(
        _ value: StaticString, _ token: Int, to topic: TopicHandle, of producer: ReportingProducer,
        headers: [KafkaHeader] = []
    ) -> KafkaError.Code? {
        let bytes = UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount)
        return producer.produce(
            topic: topic, key: nil, value: bytes, headers: headers, token: UnsafeMutableRawPointer(bitPattern: token)!)
    }

    private func serve(_ producer: ReportingProducer, until count: Int) {
        let end = ContinuousClock.now + .seconds(20)
        while reports.all.count < count, ContinuousClock.now < end { producer.serve(timeoutMilliseconds: 50) }
    }

    private func values() throws -> [String?] {
        let consumer = try KafkaConsumer(properties: ["bootstrap.servers": cluster.bootstrapServers])
        defer { consumer.close() }
        try consumer.assign([PartitionOffset(topic: "one", partition: 0, offset: PartitionOffset.beginning)])
        return polling(consumer) { $0.ends.count == 1 }.texts
    }

    @Test func eachRecordIsReportedOnceTheBrokerHasIt() throws {
        let producer = try producer()
        let topic = try producer.topic("one")
        for token in 1...3 {
            #expect(send("value", token, to: topic, of: producer, headers: [KafkaHeader(name: "h", text: "x")]) == nil)
        }
        serve(producer, until: 3)
        #expect(reports.all == [1: nil, 2: nil, 3: nil])
        #expect(producer.outstanding == 0)
        #expect(try values() == ["value", "value", "value"])
    }

    @Test func whatCannotBeDeliveredIsReportedToo() throws {
        let producer = try producer(["bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": "500"])
        let topic = try producer.topic("one")
        #expect(send("value", 1, to: topic, of: producer) == nil)
        serve(producer, until: 1)
        #expect(reports.all == [1: .messageTimedOut])
    }

    @Test func aFullQueueIsSaidAtOnceAndGivingUpReports() throws {
        let producer = try producer(["bootstrap.servers": "127.0.0.1:1", "queue.buffering.max.messages": "2"])
        let topic = try producer.topic("one")
        #expect(send("a", 1, to: topic, of: producer) == nil)
        #expect(send("b", 2, to: topic, of: producer) == nil)
        #expect(send("c", 3, to: topic, of: producer) == .queueFull)
        producer.purge()
        serve(producer, until: 2)
        #expect(Set(reports.all.keys) == [1, 2])
        #expect(reports.all.values.allSatisfy { $0 == .purgedFromQueue })
    }

    @Test("a partition refuses the first request and takes what comes behind it: nothing is lost")
    func refusedFirstRequest() throws {
        let producer = try producer()
        let (one, elsewhere) = (try producer.topic("one"), try producer.topic("elsewhere"))
        #expect(send("way", 1, to: elsewhere, of: producer) == nil)
        serve(producer, until: 1)
        try cluster.answer(afterMilliseconds: 300)
        cluster.refuseNextProduce()
        #expect(send("first", 2, to: one, of: producer) == nil)
        // Would the client send the next request before the first is answered, it would be on its way by then.
        Thread.sleep(forTimeInterval: 0.1)
        #expect(send("second", 3, to: one, of: producer) == nil)
        serve(producer, until: 3)
        try cluster.answer(afterMilliseconds: 0)
        #expect(reports.all == [1: nil, 2: nil, 3: nil])
        #expect(try values() == ["first", "second"])
    }
}
