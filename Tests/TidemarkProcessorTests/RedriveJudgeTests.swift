import Testing
import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka

@testable import TidemarkProcessor

@Suite struct RedriveJudgeTests {
    private let now: Int64 = 1_767_225_600_000

    private func judge(_ settings: [String] = [], watermark: UInt32 = 0, hasBrokerTime: Bool = true) throws
        -> RedriveJudge
    {
        let configuration = try Configuration.load(file: nil, environment: [:], overrides: settings)
        let target = RedriveTargets.Target(partitions: 4, hasBrokerTime: hasBrokerTime, oldest: nil)
        return RedriveJudge(
            configuration, targets: RedriveTargets(["currents.events": target]),
            watermarks: CurrentWatermarks(byPartition: [3: watermark]))
    }

    private func event(_ time: Int64, user: String = "u-7") -> [UInt8] {
        Array(
            "{\"event_type\":\"users.messages.pushnotification.Send\",\"id\":\"e\",\"user_id\":\"\(user)\",\"time\":\(time)}"
                .utf8)
    }

    private func record(
        _ value: [UInt8]?, code: String = "missing_field", allowed: Int64? = nil, topic: String = "currents.events",
        headers: [KafkaHeader] = []
    ) -> RedriveRecord {
        RedriveRecord(deadLetter(code: code, topic: topic, allowed: allowed, value: value, headers: headers))
    }

    @Test func whatWouldBeCountedHasNoProblem() throws {
        #expect(try judge().problem(with: record(event(1_767_225_600)), now: now) == nil)
        let bare = Array("{\"id\":\"e\",\"user_id\":\"u\",\"time\":1}".utf8)
        let typed = [KafkaHeader(name: "event_type", text: "users.canvas.Entry")]
        #expect(try judge().problem(with: record(bare, headers: typed), now: now) == nil)
    }

    @Test func whatWouldBeRefusedAgainSaysWhy() throws {
        let judge = try judge()
        #expect(
            judge.problem(with: record(Array("{}".utf8)), now: now)
                == "it would be refused again as missing_field: event_type is missing; name the type in the record, in the type header, or by the "
                + "topic; repair it: `tidemark dlq export`, then `tidemark dlq import`")
        #expect(judge.problem(with: record(nil), now: now) == "it has no value: a tombstone would be skipped")
        #expect(
            judge.problem(with: record(event(1), topic: "old"), now: now)
                == "old is not among input.topics: use the configuration of the application that read it")
        let foreign = Array("{\"event_type\":\"users.messages.sms.Send\"}".utf8)
        #expect(
            judge.problem(with: record(foreign), now: now)
                == "it would be skipped: it has no event of a type that is counted")
        let batch = Array("{\"events\":[".utf8) + event(1) + Array(",{}]}".utf8)
        #expect(
            judge.problem(with: record(batch), isRepaired: true, now: now)?.hasPrefix(
                "event 1 of the batch: it would be refused again as missing_field") == true)
    }

    @Test func lateOnesNeedMoreLatenessThanTheyHad() throws {
        let late = record(event(1_767_225_600), code: "late", allowed: 86_400)
        #expect(
            try judge().problem(with: late, now: now)
                == "it was late when attribution.allowed_lateness was 86400 s, and no more than 86400 s are allowed now; "
                + "`tidemark replay --topic currents.events` counts events however late they are")
        let wider = ["attribution.allowed_lateness=2d"]
        #expect(try judge(wider).problem(with: late, now: now) == nil)
        #expect(try judge(["attribution.allowed_lateness=unlimited"]).problem(with: late, now: now) == nil)
        // More is allowed, and still not enough.
        #expect(
            try judge(wider, watermark: 1_767_225_600 + 172_801).problem(with: late, now: now)
                == "it would be refused as late: its time 1767225600 is 172801 s behind the watermark of currents.events[3], 172800 s are "
                + "allowed; `tidemark replay --topic currents.events` counts events however late they are")
        #expect(try judge(wider, watermark: 1_767_225_600 + 172_800).problem(with: late, now: now) == nil)
    }

    @Test func otherOnesMayBeLateByNow() throws {
        let repaired = record(event(1_767_225_600))
        #expect(try judge(watermark: 1_767_225_600 + 86_400).problem(with: repaired, now: now) == nil)
        #expect(
            try judge(watermark: 1_767_225_600 + 86_401).problem(with: repaired, now: now)?.hasPrefix(
                "it would be refused as late") == true)
    }

    @Test func futureDatedOnesAreJudgedByTheTimeOfNow() throws {
        let ahead = record(event(1_767_225_600 + 3_700), code: "future_dated", allowed: 3_600)
        #expect(
            try judge().problem(with: ahead, now: now)
                == "it would be refused again as future_dated: its time 1767229300 is still ahead by 100 s more than "
                + "attribution.future_tolerance allows; try again then")
        #expect(try judge().problem(with: ahead, now: now + 100_000) == nil)
        // Also where the topic keeps the producer's time: it is sent with that of now.
        #expect(try judge(hasBrokerTime: false).problem(with: ahead, now: now + 100_000) == nil)
    }

    @Test func avroIsFedWhereAnotherSchemaOrSettingMayTakeIt() throws {
        let value: [UInt8] = [0, 0, 0, 0, 42, 2, 4]
        for code in ["unknown_schema", "too_large", "future_dated"] {
            #expect(try judge().problem(with: record(value, code: code), now: now) == nil)
        }
        #expect(
            try judge().problem(with: record(value, code: "bad_type"), now: now)
                == "it was refused as bad_type when its schema was known, and its bytes are the same: its source has to send it again"
        )
    }

    @Test func aKeptTimeStaysTheMeasure() throws {
        let mended = record(event(1_767_225_600 + 3_601), code: "missing_field")
        #expect(
            try judge(hasBrokerTime: false).problem(with: mended, now: now + 9_999_000)
                == "it would be refused again as future_dated: its time 1767229201 is ahead of its record's, which it keeps; mend the time: "
                + "`tidemark dlq export`, then `tidemark dlq import`")
    }

    @Test func aRepairedKeyMustBeTheUser() throws {
        let other = record(event(1_767_225_600, user: "u-8"))
        #expect(
            try judge().problem(with: other, isRepaired: true, now: now)
                == "its key is not its user_id, so that it would be counted apart from the user's other events; give it the key \"u-8\""
        )
        #expect(try judge().problem(with: other, now: now) == nil)
        #expect(try judge(["input.key_check=off"]).problem(with: other, isRepaired: true, now: now) == nil)
        #expect(try judge(["input.repartition=true"]).problem(with: other, isRepaired: true, now: now) == nil)
    }
}

@Suite struct RedriveTargetsTests {
    private func targets(_ count: Int, hasBrokerTime: Bool = false, oldest: Int64? = nil, scattered: Bool = false)
        -> RedriveTargets
    {
        RedriveTargets(
            ["currents.events": .init(partitions: count, hasBrokerTime: hasBrokerTime, oldest: oldest)],
            isRepartitioned: scattered)
    }

    private func record(key: String?, partition: Int32) -> RedriveRecord {
        var record = RedriveRecord(deadLetter(key: key.map { Array($0.utf8) }))
        record.origin.partition = partition
        return record
    }

    private func place(_ key: String, _ partitioner: (UnsafeRawBufferPointer, Int) -> Int32) -> Int32 {
        Array(key.utf8).withUnsafeBytes { partitioner($0, 8) }
    }

    @Test func unchangedRecordsGoWhereTheyCameFrom() {
        #expect(targets(8).partition(ofUnchanged: record(key: "a", partition: 5)) == 5)
        #expect(targets(4).partition(ofUnchanged: record(key: "a", partition: 5)) == -1)
        #expect(targets(8).partition(ofUnchanged: record(key: "a", partition: -1)) == place("a", Murmur2.partition))
    }

    @Test func repairedKeysGoWhereTheProducersPutThem() {
        for partitioner in [Murmur2.partition, ConsistentCRC32.partition] {
            let untouched = (0..<9).map { record(key: "u\($0)", partition: place("u\($0)", partitioner)) }
            let changed = record(key: "new", partition: (place("new", partitioner) + 1) % 8)
            let placement = targets(8).placement(of: untouched + [changed])
            #expect(untouched.map(placement) == untouched.map(\.origin.partition))
            #expect(placement(changed) == place("new", partitioner))
            #expect(placement(record(key: nil, partition: 3)) == 3)
        }
        let lone = record(key: "new", partition: 1)
        #expect(targets(8).placement(of: [lone])(lone) == place("new", Murmur2.partition))
        #expect(targets(8, scattered: true).placement(of: [lone])(lone) == 1)
    }

    @Test func timesAreKeptAsFarAsTheTopicLetsThem() {
        let record = record(key: "a", partition: 0)
        let now = record.origin.timestamp + 1_000
        #expect(targets(4).sentTime(of: record, now: now) == record.origin.timestamp)
        #expect(targets(4, hasBrokerTime: true).sentTime(of: record, now: now) == 0)
        #expect(targets(4, oldest: 1_000).sentTime(of: record, now: now) == record.origin.timestamp)
        #expect(targets(4, oldest: 999).sentTime(of: record, now: now) == 0)
        var future = record
        future.code = "future_dated"
        #expect(targets(4).sentTime(of: future, now: now) == 0)
    }
}
