import Foundation
import Testing
import TidemarkWorkload

@Suite("Sample streams")
struct WorkloadStreamTests {
    private let workload = Workload(WorkloadOptions(users: 60, days: 5, campaigns: 12, seed: 7))

    @Test("Equal options give the same bytes, another seed gives others")
    func determinism() {
        let first = StreamRecords(workload)
        let second = StreamRecords(Workload(workload.options))
        #expect(first.lines == second.lines)
        #expect(!first.lines.isEmpty)
        var options = workload.options
        options.seed = 8
        #expect(StreamRecords(Workload(options)).lines != first.lines)
    }

    @Test("A stream is the merge of its users' events by arrival")
    func merge() throws {
        let records = StreamRecords(workload)
        #expect(zip(records.arrivals, records.arrivals.dropFirst()).allSatisfy { $0 <= $1 })
        let users = Dictionary(grouping: try records.events(), by: \.userID)
        var merged = 0
        for events in (0..<workload.options.users).flatMap(workload.events(ofPlace:)) {
            #expect(users[try #require(events.first).userID] == events)
            merged += events.count
        }
        #expect(merged == records.lines.count)
    }

    @Test("The truth is the evaluation of the stream's records", arguments: PlainSettings.Policy.allCases)
    func truth(policy: PlainSettings.Policy) throws {
        var settings = PlainSettings()
        settings.policy = policy
        settings.timeZone = "Europe/Berlin"
        let truth = try workload.truth(settings: settings)
        let records = StreamRecords(workload)
        var evaluation = try PlainEvaluation(settings: settings)
        evaluation.add(try records.events())
        #expect(truth.evaluation.truth() == evaluation.truth())
        #expect(truth.records == records.lines.count)
        #expect(truth.directOpens == evaluation.directOpens)
        #expect(truth.influencedOpens == evaluation.influencedOpens)
        #expect(truth.directOpens > 20)
        #expect(truth.influencedOpens > 10)
    }

    @Test("What comes repeated, late or out of order, and how long it is, is as documented")
    func shape() throws {
        let workload = Workload(WorkloadOptions(users: 400, days: 7, campaigns: 40, seed: 3))
        let records = StreamRecords(workload)
        let count = Double(records.lines.count)
        let perUser = count / 400
        #expect(perUser > 20 && perUser < 32, "\(perUser) records per user and week")
        let repeated = Double(count) - Double(Set(records.lines).count)
        #expect(abs(repeated / count - 0.02) < 0.006, "\(repeated / count) repeated")
        #expect(records.greatestDelay <= 20 * 3_600)
        let disorder = Double(records.outOfOrder) / count
        #expect(disorder > 0.07 && disorder < 0.14, "\(disorder) out of order")
        let bytes = Double(records.lines.reduce(0) { $0 + $1.utf8.count }) / count
        #expect(bytes > 580 && bytes < 800, "\(bytes) bytes a record")
        #expect(Set(records.types).count == 28)
    }

    @Test("A share of the records can come later than the default lateness lets in")
    func late() {
        let workload = Workload(WorkloadOptions(users: 200, days: 4, campaigns: 20, seed: 4, lateShare: 0.05))
        let records = StreamRecords(workload)
        let share = Double(records.late) / Double(records.lines.count)
        #expect(share > 0.02 && share < 0.07, "\(share) late")
    }

    @Test("A record names its type only if it is asked to")
    func typeInRecord() throws {
        var options = workload.options
        options.namesTypeInRecord = true
        let named = StreamRecords(Workload(options))
        let plain = StreamRecords(workload)
        #expect(named.lines.count == plain.lines.count)
        for (place, line) in named.lines.enumerated() {
            let expected = "{\"event_type\":\"\(named.types[place])\"," + plain.lines[place].dropFirst()
            #expect(line == expected)
        }
    }
}

/// All records of a sample stream and what can be seen in their order.
private struct StreamRecords {
    var lines: [String] = []
    var types: [String] = []
    var arrivals: [Int] = []
    /// The number of records that are more than a minute behind an earlier one.
    var outOfOrder = 0
    /// The number of records that are more than a day behind an earlier one.
    var late = 0
    /// The most that a record is behind an earlier one, in seconds.
    var greatestDelay = 0

    init(_ workload: Workload) {
        var stream = workload.stream()
        var record = WorkloadRecord()
        var greatest = 0
        while stream.next(into: &record) {
            lines.append(String(decoding: record.json, as: UTF8.self))
            types.append(record.eventType)
            arrivals.append(record.arrival)
            let delay = greatest - record.time
            greatestDelay = max(greatestDelay, delay)
            if delay > 60 { outOfOrder += 1 }
            if delay > 86_400 { late += 1 }
            greatest = max(greatest, record.time)
        }
    }

    func events() throws -> [SampleEvent] {
        try zip(lines, types).map { line, type in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            return try #require(SampleEvent(flat: object, eventType: type))
        }
    }
}
