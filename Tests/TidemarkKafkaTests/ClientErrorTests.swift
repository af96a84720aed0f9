import Testing
import TidemarkKafka

@Suite("Errors of the client")
struct ClientErrorTests {
    /// Nothing listens on port 1 of the loopback interface.
    let nowhere = ["bootstrap.servers": "127.0.0.1:1"]

    @Test func unknownPropertyIsNamed() throws {
        let error = try #require(throws: KafkaError.self) { try KafkaConsumer(properties: ["fetch.lots": "1"]) }
        #expect(error.code == .invalidArgument)
        #expect(error.message == "unknown Kafka property \"fetch.lots\"")
        let other = try #require(throws: KafkaError.self) { try Producer(properties: ["lingers.ms": "1"]) }
        #expect(other.message == "unknown Kafka property \"lingers.ms\"")
    }

    @Test func invalidValueIsExplained() throws {
        let error = try #require(throws: KafkaError.self) { try KafkaAdmin(properties: ["socket.timeout.ms": "soon"]) }
        #expect(error.message.hasPrefix("Kafka property \"socket.timeout.ms\": "))
    }

    @Test(arguments: [
        ("enable.auto.commit", "true"), ("enable.auto.offset.store", "true"), ("enable.partition.eof", "false"),
        ("partition.assignment.strategy", "cooperative-sticky"),
    ])
    func consumerRefusesContradictions(key: String, value: String) throws {
        let error = try #require(throws: KafkaError.self) { try KafkaConsumer(properties: [key: value]) }
        #expect(error.message.hasPrefix("Kafka property \"\(key)\" cannot be \(value): "))
    }

    @Test func transactionalIDBelongsToTheTransactionalProducer() throws {
        let missing = try #require(throws: KafkaError.self) { try TransactionalProducer(properties: nowhere) }
        #expect(missing.message == "Kafka property \"transactional.id\" is missing")
        #expect(throws: KafkaError.self) { try Producer(properties: ["transactional.id": "t"]) }
    }

    @Test func incompatiblePropertiesAreRefused() throws {
        let error = try #require(throws: KafkaError.self) {
            try Producer(properties: ["enable.idempotence": "true", "acks": "1"])
        }
        #expect(error.message.hasPrefix("cannot start the Kafka client: "))
    }

    @Test func unreachableBrokerTimesOutAndIsLogged() throws {
        let lines = Collector<KafkaLogLine>()
        let consumer = try KafkaConsumer(properties: nowhere, log: { lines.append($0) })
        let error = try #require(throws: KafkaError.self) {
            try consumer.partitionCount(of: "events", timeoutMilliseconds: 500)
        }
        #expect([.transport, .timedOut].contains(error.code))
        _ = consumer.poll(max: 10, timeoutMilliseconds: 500) { _ in }
        #expect(consumer.lastError != nil)
        #expect(lines.elements.contains { $0.level == 3 && $0.facility == "ERROR" })
        consumer.close()
    }

    @Test func queriesKeepTheirDeadline() throws {
        let consumer = try KafkaConsumer(properties: nowhere)
        let partition = TopicPartition(topic: "events", partition: 0)
        #expect(throws: KafkaError.self) { try consumer.watermarks(of: partition, timeoutMilliseconds: 200) }
        #expect(throws: KafkaError.self) { try consumer.committed([partition], timeoutMilliseconds: 200) }
        #expect(throws: KafkaError.self) { try consumer.offsets(at: [partition: 1], timeoutMilliseconds: 200) }
    }

    @Test func failedDeliveryIsCounted() throws {
        let producer = try Producer(properties: nowhere.merging(["message.timeout.ms": "200"]) { $1 })
        try producer.send("lost", to: "events")
        try producer.send("lost too", to: "events")
        try producer.flush(timeoutMilliseconds: 20_000)
        #expect(producer.failedDeliveries == 2)
        #expect(producer.firstDeliveryError?.code == .messageTimedOut)
        #expect(producer.firstDeliveryError?.message.hasPrefix("delivery to events[0] failed: ") == true)
    }

    @Test func fullQueueIsAnErrorAfterTheDeadline() throws {
        let producer = try Producer(
            properties: nowhere.merging(["queue.buffering.max.messages": "1"]) { $1 }, queueFullTimeoutMilliseconds: 50)
        try producer.send("fits", to: "events")
        let error = try #require(throws: KafkaError.self) { try producer.send("too many", to: "events") }
        #expect(error.code == .queueFull)
        #expect(producer.outstanding == 1)
    }

    @Test func oversizedRecordIsRefusedAtOnce() throws {
        let producer = try Producer(properties: nowhere.merging(["message.max.bytes": "1000"]) { $1 })
        let error = try #require(throws: KafkaError.self) {
            try producer.send(String(repeating: "x", count: 2_000), to: "events")
        }
        #expect(error.code == .messageTooLarge)
    }

    @Test func closedClientsRefuseCalls() throws {
        let consumer = try KafkaConsumer(properties: nowhere)
        consumer.close()
        consumer.close()
        let error = try #require(throws: KafkaError.self) { try consumer.assign([]) }
        #expect(error.code == .state)
        #expect(consumer.poll(max: 1, timeoutMilliseconds: 0) { _ in } == 0)
        let producer = try Producer(properties: nowhere)
        producer.close()
        #expect(throws: KafkaError.self) { try producer.topic("events") }
    }

    /// A member of a group whose brokers have gone cannot say goodbye; closing must end all the same.
    @Test func closingWithoutBrokersEnds() throws {
        var cluster: EmbeddedCluster? = try EmbeddedCluster()
        try cluster?.createTopic("events", partitions: 1)
        let servers = try #require(cluster?.bootstrapServers)
        let member = try Member(properties: ["bootstrap.servers": servers, "group.id": "g"], topics: ["events"])
        let producer = try TransactionalProducer(properties: ["bootstrap.servers": servers, "transactional.id": "t"])
        try producer.initTransactions(timeoutMilliseconds: 20_000)
        try producer.begin()
        try producer.send("a", to: "events")
        pollingAll([member.consumer]) { member.assigned.count == 1 }
        #expect(member.assigned.count == 1)
        cluster = nil
        let error = try #require(throws: KafkaError.self) { try producer.commit(timeoutMilliseconds: 500) }
        #expect(error.code == .timedOut)
        #expect(error.isRetriable && !error.isFatal && !error.requiresAbort)
        producer.close()
        member.consumer.close(timeoutMilliseconds: 1_000)
        #expect(member.revocations == [false])
    }

    @Test func scramWithAnOldLibraryIsWarnedOf() throws {
        let lines = Collector<KafkaLogLine>()
        let properties = [
            "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "u",
            "sasl.password": "p",
        ]
        let producer = try Producer(properties: nowhere.merging(properties) { $1 }, log: { lines.append($0) })
        #expect(lines.elements.contains { $0.facility == "SCRAM" } != KafkaLibrary.supportsScram)
        producer.close()
    }

    @Test func codesHaveNames() {
        #expect(KafkaError.Code.timedOut.description == "_TIMED_OUT")
        #expect(KafkaError.Code.fenced.description == "_FENCED")
        #expect(KafkaError.Code.topicAlreadyExists.description == "TOPIC_ALREADY_EXISTS")
        #expect(KafkaLibrary.versionNumber >= 0x0200_0000)
        #expect(KafkaLibrary.version.contains("."))
    }
}
