import Foundation
import Testing
import TidemarkKafka
import TidemarkWorkload

extension ProgramTests {
    /// Records that cannot be counted: each is kept once with its reason, and the stream goes on.
    @Suite struct DeadLetterTests {
        private let largest = 8 << 20

        @Test(
            "poison of every kind, with a kill in between: each once in the dead-letter topic",
            arguments: [false, true])
        func poison(isRepartitioned: Bool) throws {
            let seed: UInt64 = 41
            var random = SplitMix64(seed: seed)
            let application = try TestApplication(
                "poison", partitions: 2, settings: "input.repartition: \(isRepartitioned)")
            let admin = try KafkaAdmin(properties: ["bootstrap.servers": Environment.servers ?? ""])
            let input = KafkaAdmin.NewTopic(
                name: application.input, partitions: 2, replicationFactor: 1,
                config: [
                    "max.message.bytes": "\(largest)", "message.timestamp.type": "LogAppendTime",
                    "retention.ms": "-1",
                ])
            try #require(try admin.createTopics([input]).allSatisfy { $0.error == nil })
            try application.createTopics()
            let workload = Workload.small(users: 200, seed: seed)
            var records = workload.records()
            let batch = try #require(BatchWithBadEvent(in: &records))
            let poison = Poison.all(largest: largest)
            for poison in poison {
                // Late ones need a watermark far ahead.
                let range = poison.code == "late" ? records.count * 9 / 10...records.count : 0...records.count
                records.insert(poison.record, at: Int.random(in: range, using: &random))
            }

            let report = try PublishedReport(application)
            let group = try GroupReader(application)
            let feeder = StreamFeeder(topic: application.input)
            feeder.begin(records, over: 5)
            let first = try application.start(instance: "a")
            let half = Int64(records.count / 2)
            try eventually(within: 30, "seed \(seed): half of the input: \(first.log)") { try group.committed() > half }
            try first.killHard()
            let second = try application.start(instance: "a")
            try feeder.waitForEnd()
            try ExpectedReport(workload).wait(for: report)
            try eventually(within: 20, "seed \(seed): \(second.log)") { try group.committed() == group.end() }
            let ending = try second.stop()
            #expect(ending.status == 0 && ending.seconds < 5, "seed \(seed): \(ending.seconds) s: \(ending.log)")

            try report.update()
            let letters = report.deadLetters.records
            #expect(letters.count == poison.count { $0.code != nil } + 1)
            try check(letters, poison, input: application.input)
            let ofBatch = letters.filter { $0.header("tidemark.error.index") != nil }
            #expect(ofBatch.map(\.value) == [batch.bad])
            #expect(ofBatch.map { $0.header("tidemark.error.index") } == ["1"])
            #expect(ofBatch.map { $0.header("tidemark.error.code") } == ["missing_field"])
        }

        private func check(_ letters: [TopicRecord], _ poison: [Poison], input: String) throws {
            let reader = try TopicReader(input)
            try reader.update()
            var originals: [String: TopicRecord] = [:]
            for record in reader.records { originals["\(record.partition)/\(record.offset)"] = record }
            for poison in poison {
                let found = letters.filter { $0.key == poison.record.key }
                #expect(found.count == (poison.code == nil ? 0 : 1), "\(poison.name)")
                guard let letter = found.first else { continue }
                #expect(letter.header("tidemark.error.code") == poison.code, "\(poison.name)")
                #expect(letter.value == poison.record.value, "\(poison.name)")
                #expect(letter.header("tidemark.error.message")?.isEmpty == false)
                #expect(letter.header("tidemark.error.topic") == input)
                #expect(letter.header("tidemark.error.stage") == poison.stage, "\(poison.name)")
                #expect(letter.header("event_type") == poison.record.type, "\(poison.name)")
                let place =
                    (letter.header("tidemark.error.partition") ?? "") + "/"
                    + (letter.header("tidemark.error.offset") ?? "")
                let original = try #require(originals[place], "\(poison.name): \(place)")
                #expect(original.key == poison.record.key, "\(poison.name)")
                let time = try #require(letter.header("tidemark.error.timestamp").flatMap(Double.init))
                #expect(abs(time / 1_000 - Date().timeIntervalSince1970) < 600)
            }
        }

        @Test("a record that is too large for the dead-letter topic is represented by its hash and first bytes")
        func representation() throws {
            let application = try TestApplication("large", partitions: 1)
            try application.createTopics()
            // Compressed it fits the input, as whole text it does not fit the dead-letter topic.
            let value =
                Array("{\"event_type\":\"users.behaviors.app.SessionStart\",\"id\":\"".utf8)
                + [UInt8](repeating: UInt8(ascii: "x"), count: 6 << 20) + Array("\"}".utf8)
            let producer = try Producer(properties: [
                "bootstrap.servers": Environment.servers ?? "", "message.max.bytes": "16000000",
                "compression.type": "lz4",
            ])
            try Array("k".utf8).withUnsafeBytes { key in
                try value.withUnsafeBytes { value in
                    try producer.produce(topic: application.input, key: key, value: value)
                }
            }
            try producer.flush(timeoutMilliseconds: 30_000)
            try #require(producer.firstDeliveryError == nil)
            let process = try application.start(instance: "a")
            let report = try PublishedReport(application)
            try eventually(within: 30, process.log) {
                try report.update()
                return !report.deadLetters.records.isEmpty
            }
            let letter = report.deadLetters.records[0]
            #expect(letter.header("tidemark.error.code") == "too_large")
            #expect(letter.header("tidemark.error.size") == "\(value.count)")
            #expect(letter.header("tidemark.error.xxh128")?.count == 32)
            #expect(letter.value == Array(value.prefix(4_096)))
            #expect(letter.key == Array("k".utf8))
            #expect(try process.stop().status == 0)
        }
    }
}

/// Two records of a stream that become one batch with a bad event between them.
private struct BatchWithBadEvent {
    let bad: [UInt8]

    /// Takes the first two records of one user that follow each other closely.
    init?(in records: inout [InputRecord]) {
        bad = Array("{\"event_type\":\"users.messages.pushnotification.Open\",\"id\":\"in a batch\"}".utf8)
        for place in records.indices.dropFirst(records.count / 3) {
            let near = records[(place + 1)..<min(place + 20, records.count)]
            guard let next = near.firstIndex(where: { $0.key == records[place].key }),
                let first = records[place].value, let second = records[next].value
            else { continue }
            records[next].value =
                Array("{\"events\":[".utf8) + first + Array(", ".utf8) + bad + Array(" ,".utf8) + second
                + Array("]}".utf8)
            records.remove(at: place)
            return
        }
        return nil
    }
}
