import Foundation
import Testing
import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka
import TidemarkTestKit

@testable import TidemarkIngest

@Suite("The endpoint with an embedded cluster", .serialized)
struct HTTPIngestTests {
    /// A copy of a record.
    struct Record {
        var partition: Int32
        var key: String?
        var value: String
        var headers: [String: String]
    }

    private static func configuration(_ servers: String, _ change: [String] = []) throws -> Configuration {
        try Configuration.load(
            text: "", name: "",
            overrides: [
                "kafka.bootstrap.servers=\(servers)", "ingest.http.listen=127.0.0.1:0", "ingest.http.tokens=env:T",
            ] + change)
    }

    private static func start(_ configuration: Configuration, lines: Lines = Lines()) throws -> HTTPIngest {
        try HTTPIngest(
            configuration, environment: ["T": token],
            limits: TopicLimits(event: 100_000, deadLetter: 200_000), log: lines.log)
    }

    /// Reads so many records of a topic.
    private static func read(_ count: Int, of topic: String, partitions: Int32, _ servers: String) throws -> [Record] {
        let consumer = try KafkaConsumer(properties: ["bootstrap.servers": servers, "group.id": "reader"])
        defer { consumer.close() }
        try consumer.assign(
            (0..<partitions).map { PartitionOffset(topic: topic, partition: $0, offset: PartitionOffset.beginning) })
        var records: [Record] = []
        let end = ContinuousClock.now + .seconds(30)
        while records.count < count, ContinuousClock.now < end {
            _ = consumer.poll(max: 1_000, timeoutMilliseconds: 100) { item in
                guard case .record(let record) = item else { return }
                let headers = record.headers().map { ($0.name, String(decoding: $0.value ?? [], as: UTF8.self)) }
                records.append(
                    Record(
                        partition: record.partition, key: record.key.map { String(decoding: $0, as: UTF8.self) },
                        value: record.value.map { String(decoding: $0, as: UTF8.self) } ?? "",
                        headers: Dictionary(headers) { $1 }))
            }
        }
        return records
    }

    @Test func eventsAndDeadLettersArriveAsTheyShould() throws {
        let cluster = try EmbeddedCluster()
        try cluster.createTopic("currents.events", partitions: 4)
        try cluster.createTopic("tidemark.dead-letter", partitions: 1)
        let ingest = try Self.start(try Self.configuration(cluster.bootstrapServers))
        defer { ingest.stop() }
        let events = (0..<20).map { event($0, user: "user-\($0)") }
        let bad = event(99, user: nil)
        let client = try HTTPConnection(ingest.address.port)
        let answer = client.post(batch(events + [bad]))
        #expect(answer?.body == "{\"message\":\"success\",\"events\":20,\"dead_letters\":1}\n")

        let records = try Self.read(20, of: "currents.events", partitions: 4, cluster.bootstrapServers)
        #expect(Set(records.map(\.value)) == Set(events))
        for record in records {
            let key = try #require(record.key)
            #expect(record.value.contains("\"user_id\":\"\(key)\""))
            let partition = Array(key.utf8).withUnsafeBytes { Murmur2.partition(of: $0, count: 4) }
            #expect(record.partition == partition)
            #expect(record.headers == ["event_type": "users.behaviors.app.SessionStart"])
        }
        let letters = try Self.read(1, of: "tidemark.dead-letter", partitions: 1, cluster.bootstrapServers)
        #expect(letters.map(\.value) == [bad])
        var headers = letters.first?.headers ?? [:]
        #expect(headers.removeValue(forKey: "tidemark.error.timestamp").flatMap { Int64($0) } != nil)
        #expect(headers.removeValue(forKey: "tidemark.error.message")?.hasPrefix("user_id is missing") == true)
        #expect(
            headers == [
                "event_type": "users.behaviors.app.SessionStart", "tidemark.error.code": "missing_field",
                "tidemark.error.topic": "currents.events", "tidemark.error.partition": "-1",
                "tidemark.error.offset": "-1", "tidemark.error.stage": "ingest", "tidemark.error.index": "20",
            ])
        #expect(ingest.status.events == 20)
    }

    @Test func withoutABrokerPostsAreAnsweredWith503AndStoppingEnds() throws {
        let lines = Lines()
        // Nobody listens there.
        let configuration = try Self.configuration("127.0.0.1:1", ["ingest.http.delivery_timeout=1s"])
        let ingest = try Self.start(configuration, lines: lines)
        let client = try HTTPConnection(ingest.address.port)
        let answer = client.post(batch([event(1), event(2)]))
        #expect(answer?.status == 503)
        #expect(answer?.headers["retry-after"] == "5")
        #expect(ingest.status.isKafkaAway)
        #expect(lines.all.contains { $0.hasPrefix("Kafka does not take records (_MSG_TIMED_OUT)") })
        // Whatever still waits gets its answer before the end.
        client.send(head(length: batch([event(3)]).utf8.count) + batch([event(3)]))
        #expect(eventually { ingest.status.requests == 1 })
        ingest.stop()
        let last = client.receive()
        #expect(last?.status == 503)
        #expect(last?.headers["connection"]?.lowercased() == "close")
        #expect(client.receive() == nil)
        #expect(throws: (any Error).self) { try HTTPConnection(ingest.address.port) }
        #expect(ingest.status.answers == [503: 2])
    }

    @Test func afterAnOutagePostsAreTakenAgain() throws {
        let cluster = try EmbeddedCluster()
        try cluster.createTopic("currents.events", partitions: 1)
        let lines = Lines()
        let changes = ["ingest.http.delivery_timeout=1s", "kafka.reconnect.backoff.max.ms=200"]
        let ingest = try Self.start(try Self.configuration(cluster.bootstrapServers, changes), lines: lines)
        defer { ingest.stop() }
        let client = try HTTPConnection(ingest.address.port)
        #expect(client.post(batch([event(1)]))?.status == 200)
        try cluster.setDown(true)
        #expect(client.post(batch([event(2)]))?.status == 503)
        #expect(ingest.status.isKafkaAway)
        try cluster.setDown(false)
        // The sender comes again with what it got no 2xx for.
        var answers: [Int] = []
        #expect(
            eventually {
                answers.append(client.post(batch([event(2), event(3)]))?.status ?? 0)
                return answers.last == 200
            })
        #expect(answers.dropLast().allSatisfy { $0 == 503 })
        #expect(!ingest.status.isKafkaAway)
        #expect(lines.all.contains("Kafka takes records again"))
        let records = try Self.read(3, of: "currents.events", partitions: 1, cluster.bootstrapServers)
        #expect(Set(records.map(\.value)) == [event(1), event(2), event(3)])
    }

    @Test func severalInputTopicsNeedAName() throws {
        let configuration = try Self.configuration("127.0.0.1:1", ["input.topics=a,b"])
        let failure = #expect(throws: IngestFailure.self) { try Self.start(configuration) }
        #expect(
            failure?.description
                == "there are several input.topics; name the one that gets the events, as in ingest.topic: a")
        #expect(try Self.configuration("x", ["input.topics=a,b", "ingest.topic=b"]).ingestTopic == "b")
        #expect(throws: ConfigurationErrors.self) {
            try Self.configuration("x", ["input.topics=a,b", "ingest.topic=c"])
        }
    }

    @Test func anEventThatIsTooLargeForTheDeadLetterTopicIsKeptInPart() {
        let value = Array(String(repeating: "x", count: 150_000).utf8)
        let rejection = Rejection(code: .tooLarge, message: "m")
        value.withUnsafeBytes { bytes in
            let posted = PostedEvent(value: ByteView(bytes))
            let whole = IngestDeadLetter(
                posted, rejection, index: nil, topic: "t", typeHeader: "h", limit: 300_000, now: 5)
            #expect(whole.value.count == 150_000)
            let part = IngestDeadLetter(
                posted, rejection, index: nil, topic: "t", typeHeader: "h", limit: 200_000, now: 5)
            #expect(part.value.count == 4_096)
            let headers = Dictionary(
                uniqueKeysWithValues: part.headers.map { ($0.name, String(decoding: $0.value ?? [], as: UTF8.self)) })
            #expect(headers["tidemark.error.size"] == "150000")
            #expect(headers["tidemark.error.timestamp"] == "5")
            #expect(headers["tidemark.error.xxh128"]?.count == 32)
        }
    }
}
