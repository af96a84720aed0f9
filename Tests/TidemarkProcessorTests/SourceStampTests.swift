import Testing
import TidemarkAttribution
import TidemarkEvents
import TidemarkKafka
import TidemarkWorkload

@testable import TidemarkProcessor

@Suite("Where an event was first read")
struct SourceStampTests {
    /// The text of a stamp.
    private func text(
        epoch: Int = 1, watermark: UInt32 = 1_767_571_200, partition: Int32 = 3, offset: Int64 = 4_711,
        timestamp: Int64 = 1_767_571_201_123, index: Int? = nil, topic: String = "currents.events"
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        Array(topic.utf8).withUnsafeBytes {
            SourceStamp(
                epoch: epoch, watermark: watermark, partition: partition, offset: offset, timestamp: timestamp,
                index: index, topic: $0
            ).write(to: &bytes)
        }
        return bytes
    }

    private func parts(_ bytes: [UInt8]) -> String? {
        bytes.withUnsafeBytes { bytes in
            SourceStamp(bytes).map {
                "\($0.epoch) \($0.watermark) \($0.partition) \($0.offset) \($0.timestamp) "
                    + "\($0.index.map(String.init) ?? "-") \($0.topicName)"
            }
        }
    }

    @Test("Kafka's own tools show it as words")
    func form() {
        #expect(
            String(decoding: text(), as: UTF8.self) == "1 1767571200 3 4711 1767571201123 - currents.events")
        #expect(String(decoding: text(index: 12), as: UTF8.self).hasSuffix(" 12 currents.events"))
    }

    @Test("what is written is read")
    func roundTrip() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<2_000 {
            func number(_ bits: UInt64) -> Int64 {
                Int64(random.next() >> (64 - UInt64.random(in: 1...bits, using: &random)))
            }
            let (epoch, partition, offset) = (Int(number(31)), Int32(number(31)), number(59))
            let timestamp = Bool.random(using: &random) ? -1 : number(42)
            let (watermark, index) = (UInt32(number(32)), Bool.random(using: &random) ? nil : Int(number(20)))
            let topic = ["a", "users.messages", String(repeating: "t", count: 249)].randomElement(using: &random)!
            let bytes = text(
                epoch: epoch, watermark: watermark, partition: partition, offset: offset, timestamp: timestamp,
                index: index, topic: topic)
            let expected =
                "\(epoch) \(watermark) \(partition) \(offset) \(timestamp) \(index.map(String.init) ?? "-") \(topic)"
            #expect(parts(bytes) == expected)
        }
    }

    @Test(
        "anything else is not taken for one",
        arguments: [
            "", " ", "1", "1 2 3 4 5 -", "1 2 3 4 5 - ", "1 2 3 4 5 6", "1 2 3 4 5 x t", "1 2 3 4 5 -1 t",
            "a 2 3 4 5 - t",
            "1 4294967296 3 4 5 - t", "1 2 2147483648 4 5 - t", "1 2 3 9999999999999999999 5 - t", "1  2 3 4 5 - t",
            "- 2 3 4 5 - t", "1 2 3 4 5 -t",
        ])
    func nonsense(_ text: String) {
        #expect(parts(Array(text.utf8)) == nil)
    }

    @Test("headers in one stretch of memory are the headers that went in")
    func headerBytes() {
        var headers = HeaderBytes()
        for _ in 0..<2 {
            headers.removeAll()
            [1, 2].withUnsafeBytes { headers.append(Array("first".utf8CString), $0) }
            headers.append(Array("empty".utf8CString), UnsafeRawBufferPointer(start: nil, count: 0))
            headers.withBytes { bytes in
                #expect(
                    HeaderBytes.headers(in: bytes) == [
                        KafkaHeader(name: "first", value: [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]),
                        KafkaHeader(name: "empty", value: []),
                    ])
            }
        }
    }
}

@Suite("Source partitions")
struct SourcesTests {
    private let sources = Sources([("a", 2), ("b", 3)])

    @Test("numbers go through the topics one after the other")
    func numbers() {
        #expect(sources.count == 5)
        func number(_ topic: String, _ partition: Int32) -> Int? {
            sources.number(of: TopicPartition(topic: topic, partition: partition))
        }
        #expect((0..<2).map { number("a", $0) } + (0..<3).map { number("b", $0) } == [0, 1, 2, 3, 4])
        #expect([number("a", 2), number("b", -1), number("c", 0)] == [nil, nil, nil])
        #expect(
            ["a", "b", "ab", ""].map { name in Array(name.utf8).withUnsafeBytes { sources.index(ofTopic: $0) } }
                == [0, 1, nil, nil])
    }

    @Test("watermarks by topic come back only for the same topics and partitions")
    func marks() {
        let byTopic = sources.byTopic([1, 2, 3, 4, 5])
        #expect(byTopic == ["a": [1, 2], "b": [3, 4, 5]])
        #expect(sources.marks(byTopic) == [1, 2, 3, 4, 5])
        for other in [
            ["a": [1, 2]], ["a": [1, 2], "b": [3, 4]], ["a": [1, 2], "c": [3, 4, 5]], byTopic.merging(["c": []]) { $1 },
        ] {
            #expect(sources.marks(other) == nil)
        }
    }

    @Test("the lowest watermark counts, from the next settling on; a source without events holds it at 0")
    func minimum() {
        var marks = SourceWatermarks(count: 3)
        marks.raise(0, to: 100)
        marks.raise(1, to: 50)
        marks.settle()
        #expect(marks.minimum == 0)
        marks.raise(2, to: 70)
        #expect(marks.minimum == 0)
        marks.settle()
        #expect(marks.minimum == 50)
        marks.raise(1, to: 40)
        marks.raise(2, to: 60)
        marks.settle()
        #expect(marks.minimum == 50 && marks.marks == [100, 50, 70])
    }

    @Test("an event is refused as future-dated before it is as late, each just beyond its bound")
    func acceptance() {
        var rules = AttributionRules()
        rules.futureTolerance = 10
        rules.allowedLateness = 100
        let acceptance = Acceptance(rules)
        #expect(acceptance.refusal(1_010, recordTime: 1_000_000, watermark: 0) == nil)
        #expect(acceptance.refusal(1_011, recordTime: 1_000_999, watermark: 5_000) == .futureDated)
        #expect(acceptance.refusal(900, recordTime: 1_000_000, watermark: 1_000) == nil)
        #expect(acceptance.refusal(899, recordTime: 1_000_000, watermark: 1_000) == .late)
        rules.futureTolerance = nil
        rules.allowedLateness = nil
        #expect(Acceptance(rules).refusal(.max, recordTime: 0, watermark: 0) == nil)
        #expect(Acceptance(rules).refusal(0, recordTime: 0, watermark: .max) == nil)
    }
}
