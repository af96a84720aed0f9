import TidemarkKafka

@testable import TidemarkWorkload

/// A record on its way into an input topic, and what should become of it.
struct PlannedRecord {
    var partition: Int32
    var key: [UInt8]
    var value: [UInt8]?
    /// Its events.
    var events: [SampleEvent] = []
    /// The code of its dead letter, where it must become one.
    var code: String?

    /// A record of one event, or of several of one user.
    init(_ events: [SampleEvent], partitions: Int, _ random: inout SplitMix64) {
        self.events = events
        key = Array(events[0].userID.utf8)
        partition = key.withUnsafeBytes { Murmur2.partition(of: $0, count: partitions) }
        value = events.count > 1 ? SampleEvent.httpBatch(events) : events[0].json(random.pick([.flatWithType, .http]))
    }

    /// A record that cannot be counted.
    init(poison number: Int, partitions: Int, _ random: inout SplitMix64) {
        let send = "\"event_type\":\"users.messages.pushnotification.Send\""
        let user = "poison-\(number)"
        let kinds: [(String?, String?)] = [
            (nil, nil), ("{\"event_type\":\"users.messages.sms.Send\",\"id\":\"u\"}", nil),
            ("{\"id\":\"a", "malformed"), ("17", "bad_type"), ("{\(send),\"id\":\"p\",\"time\":1}", "missing_field"),
            ("{\(send),\"id\":\"p\",\"user_id\":\"\(user)\",\"time\":1900000000}", "future_dated"),
        ]
        // Large ones fill what a task may keep waiting.
        let large: (String?, String?) = ("{\"id\":" + String(repeating: " ", count: 150_000), "malformed")
        let kind = random.chance(0.4) ? large : random.pick(kinds)
        key = Array(user.utf8)
        partition = key.withUnsafeBytes { Murmur2.partition(of: $0, count: partitions) }
        value = kind.0.map { Array($0.utf8) }
        code = kind.1
    }

    /// The records of a scenario, in the order in which they are sent; some come twice.
    static func all(_ scenario: Scenario, _ random: inout SplitMix64) -> [PlannedRecord] {
        var records: [PlannedRecord] = []
        var events = scenario.events[...]
        let batches = random.chance(0.5)
        while let first = events.first {
            let run = events.prefix(batches ? random.number(1...3) : 1).prefix { $0.userID == first.userID }
            events.removeFirst(run.count)
            records.append(PlannedRecord(Array(run), partitions: scenario.inputPartitions, &random))
        }
        for number in 0..<random.number(0...6) {
            let poison = PlannedRecord(poison: number, partitions: scenario.inputPartitions, &random)
            records.insert(poison, at: random.below(records.count + 1))
        }
        return records.flatMap { random.chance(0.03) ? [$0, $0] : [$0] }
    }
}
