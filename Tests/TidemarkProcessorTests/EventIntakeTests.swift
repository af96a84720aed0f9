import Testing
import TidemarkAttribution
import TidemarkConfiguration
import TidemarkEvents
import TidemarkKafka
import TidemarkReports
import TidemarkTestKit
import TidemarkWorkload

@testable import TidemarkProcessor

/// Events that wait to be added against events that are added one by one.
@Suite("Event intake")
struct EventIntakeTests {
    /// A state with all that a task writes of the records it takes.
    private final class Side {
        let state: TaskState
        let letters = DeadLetterWriter(topic: "dead", limit: 1_000_000, rules: AttributionRules())
        let decoder = EventDecoder()
        var log = VerdictLog()
        private var event = Event()
        private let store: RowStore
        private let report: Report
        private(set) var counts: [VerdictCounts] = []
        private(set) var seen: [String] = []

        init(_ rules: AttributionRules, _ check: UserPass.DuplicateCheck) {
            state = TaskState(rules: rules, settings: ReportSettings(), days: .utc, duplicateCheck: check)
            store = RowStore(vocabulary: state.vocabulary)
            report = Report(store: store, names: state.pass.names, rules: rules, settings: ReportSettings())
        }

        /// Takes a record, one event after the other.
        func take(_ record: ConsumedRecord, _ topic: InputTopic) {
            var codes: [UInt8] = []
            if let value = record.value {
                decoder.begin(ByteView(value), hint: topic.hint(record))
                while let outcome = decoder.next(into: &event) {
                    switch outcome {
                    case .event:
                        let verdict = state.take(event, recordTime: record.timestampMilliseconds)
                        codes.append(verdict.code)
                        guard case .deadLetter(let code) = verdict else { continue }
                        let text = AcceptanceMessage.text(code, event, watermark: state.watermark)
                        letters.append(
                            record, of: topic.name, decoder, Rejection(code: code, message: text), stage: "accept")
                    case .skipped:
                        codes.append(state.count(.skipped).code)
                    case .rejected(let rejection):
                        codes.append(state.count(.deadLetter(rejection.code)).code)
                        letters.append(record, of: topic.name, decoder, rejection, stage: "decode")
                    }
                }
            } else {
                codes.append(state.count(.skipped).code)
            }
            log.append(codes, offset: record.offset)
        }

        /// Notes what a commit would write.
        func commit() {
            state.settle(output: [.rows, .opens])
            counts.append(state.counts)
            seen.append("\(log.take()) \(state.watermark) \(state.takeLateness()) \(state.byteCount)")
            letters.batch.forEach { record, _, value in
                let headers = record.headers.map { "\($0.name)=\(String(decoding: $0.value ?? [], as: UTF8.self))" }
                seen.append("\(headers) \(value.map { String(decoding: $0, as: UTF8.self) } ?? "")")
            }
            letters.batch.removeAll()
            store.apply(state.pass.deltas)
            state.pass.deltas.removeAll()
            seen.append("\(state.pass.opens.bytes)")
            state.pass.opens.removeAll()
            for _ in 0..<state.chunkCount { seen.append("\(state.nextChunk(commit: 1).map(\.bytes))") }
            var json = JSONWriter()
            report.writeLines(to: &json)
            seen.append(String(decoding: json.bytes, as: UTF8.self))
        }
    }

    private static let minute = 60

    /// Values of records in the order of arrival, with their times: in bulk and one by one, with events that came before, some of them at
    /// another time, late ones, ones from the future, ones that cannot be read or are not ours, and tombstones.
    private func records(seed: UInt64, _ random: inout SplitMix64) -> [(value: [UInt8]?, time: Int)] {
        let stream = EdgeStream(seed: seed, events: 1_500, horizon: 86_400, settings: PlainSettings())
        var arrivals = stream.events.map { event in
            let isLate = Int.random(in: 0..<20, using: &random) == 0
            return (at: event.time + Int.random(in: 0..<(isLate ? 90 : 10), using: &random) * Self.minute, event: event)
        }
        for (at, event) in arrivals where Int.random(in: 0..<8, using: &random) == 0 {
            var copy = event
            if Bool.random(using: &random) { copy.time += Int.random(in: -90...90, using: &random) * Self.minute }
            if Int.random(in: 0..<4, using: &random) == 0 { copy.eventType = "users.behaviors.Unknown" }
            arrivals.append((at + Int.random(in: 0..<20, using: &random) * Self.minute, copy))
        }
        arrivals.sort { $0.at < $1.at }
        var records: [(value: [UInt8]?, time: Int)] = []
        var left = arrivals[...]
        while let (at, event) = left.first {
            let isEarly = Int.random(in: 0..<30, using: &random) == 0
            let time = at - (isEarly ? 30 * Self.minute : 0)
            switch Int.random(in: 0..<60, using: &random) {
            case 0: records.append((nil, time))
            case 1: records.append((Array("{\"id\": ".utf8), time))
            case 2: records.append((Array("{\"events\":[]}".utf8), time))
            case 3...8:
                let count = Int.random(in: 0..<40, using: &random) == 0 ? 200 : Int.random(in: 1..<9, using: &random)
                records.append((SampleEvent.httpBatch(left.prefix(count).map(\.event)), time))
                left = left.dropFirst(count)
            default:
                records.append((event.json(.flatWithType), time))
                left = left.dropFirst()
            }
        }
        return records
    }

    @Test("the same state, rows, verdicts and dead letters as of events taken one by one", arguments: 0..<24)
    func againstOneByOne(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var rules = AttributionRules(PlainSettings())
        let isUnlimited = seed % 4 == 3
        rules.allowedLateness = isUnlimited ? nil : Int64(20 * Self.minute)
        rules.futureTolerance = Int64(15 * Self.minute)
        let sides = (0..<2).map { _ in Side(rules, isUnlimited && seed % 8 == 3 ? .inPass : .onArrival) }
        let (plain, waiting) = (sides[0], sides[1])
        let topics = (0..<2).map { InputTopic("topic-\($0)", index: $0, Configuration().input) }
        let intake = EventIntake(
            state: waiting.state, decoder: waiting.decoder, deadLetters: waiting.letters, keyCheck: nil, topics: 2)
        func finish() {
            intake.finish { codes, topic, offset in
                #expect(topic == Int(offset) % 2)
                waiting.log.append(codes, offset: offset)
            }
        }
        for (offset, record) in records(seed: UInt64(seed), &random).enumerated() {
            let topic = topics[offset % 2]
            let copy = CopiedRecord(
                topic: TopicHandle(simulated: 1), partition: 0, offset: Int64(offset),
                timestampMilliseconds: Int64(record.time) * 1_000, key: nil, value: record.value, headers: [])
            plain.take(copy.record, topic)
            try intake.take(copy.record, topic)
            let pause = Int.random(in: 0..<400, using: &random)
            if intake.isFull || pause < 5 { finish() }
            guard pause == 0 else { continue }
            for side in sides { side.commit() }
        }
        finish()
        for side in sides { side.commit() }
        let counts = plain.state.counts
        #expect(counts.accepted > 500 && counts.skipped > 0 && counts.duplicates > 0, "seed \(seed)")
        #expect((counts.deadLetters[.late] ?? 0 > 0) != isUnlimited, "seed \(seed)")
        #expect(counts.deadLetters[.futureDated] ?? 0 > 0 && counts.deadLetters[.malformed] ?? 0 > 0, "seed \(seed)")
        #expect(plain.counts == waiting.counts && plain.seen.count == waiting.seen.count, "seed \(seed)")
        for (one, other) in zip(plain.seen, waiting.seen) where one != other {
            Issue.record("seed \(seed): \(one.prefix(400))\nbecame \(other.prefix(400))")
        }
    }
}
