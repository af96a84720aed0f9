import Testing
import TidemarkWorkload

@testable import TidemarkProcessor

@Suite("Merging of input topics")
struct InputMergeTests {
    private struct Record: Equatable, CustomStringConvertible {
        var timestamp: Int64
        var topic: Int
        var number: Int

        var description: String { "\(topic)#\(number)@\(timestamp)" }
    }

    private static let open = InputMerge<Record>.Limits(records: .max, bytes: .max)

    /// Topics with records in order of time, with many ties.
    private func topics(_ random: inout SplitMix64) -> [[Record]] {
        (0..<Int.random(in: 2...5, using: &random)).map { topic in
            var time: Int64 = 0
            return (0..<Int.random(in: 0...60, using: &random)).map { number in
                time += Int64.random(in: 0...3, using: &random)
                return Record(timestamp: time, topic: topic, number: number)
            }
        }
    }

    private func ordered(_ topics: [[Record]]) -> [Record] {
        topics.flatMap { $0 }.sorted { ($0.timestamp, $0.topic, $0.number) < ($1.timestamp, $1.topic, $1.number) }
    }

    private func append(_ record: Record, to merge: inout InputMerge<Record>) {
        merge.append(record, timestamp: record.timestamp, size: 10, of: record.topic)
    }

    private func next(_ merge: inout InputMerge<Record>) -> Record? { merge.next()?.record }

    @Test("whatever the order of polling, the order is by time and then by topic", arguments: 1...300)
    func interleavings(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let topics = topics(&random)
        var merge = InputMerge<Record>(topics: topics.count, limits: InputMergeTests.open)
        var places = Array(repeating: 0, count: topics.count)
        var ended: Set<Int> = []
        var taken: [Record] = []
        while ended.count < topics.count {
            let topic = Int.random(in: topics.indices, using: &random)
            if places[topic] < topics[topic].count {
                let record = topics[topic][places[topic]]
                places[topic] += 1
                if merge.isNext(record.timestamp, of: topic) {
                    merge.pass(topic)
                    taken.append(record)
                } else {
                    append(record, to: &merge)
                }
            } else {
                merge.reachedEnd(of: topic, offset: Int64(places[topic]))
                ended.insert(topic)
            }
            while let (record, _) = merge.next() { taken.append(record) }
        }
        #expect(taken == ordered(topics), "seed \(seed)")
        #expect(merge.waitingCount == 0)
        for topic in topics.indices { #expect(merge.end(of: topic) == Int64(topics[topic].count)) }
    }

    @Test("with limits, a reader that stops and goes loses nothing and holds little", arguments: 1...100)
    func limits(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let topics = topics(&random)
        let limit = Int.random(in: 1...8, using: &random)
        let limits =
            seed % 2 == 0
            ? InputMerge<Record>.Limits(records: limit, bytes: .max) : .init(records: .max, bytes: limit * 10)
        var merge = InputMerge<Record>(topics: topics.count, limits: limits)
        var places = Array(repeating: 0, count: topics.count)
        var paused: Set<Int> = []
        var ended: Set<Int> = []
        var taken: [Record] = []
        while ended.count < topics.count {
            let readable = topics.indices.filter { !paused.contains($0) && !ended.contains($0) }
            guard let topic = readable.randomElement(using: &random) else {
                Issue.record("seed \(seed): everything waits for everything")
                return
            }
            if places[topic] < topics[topic].count {
                append(topics[topic][places[topic]], to: &merge)
                places[topic] += 1
            } else {
                merge.reachedEnd(of: topic, offset: Int64(places[topic]))
                ended.insert(topic)
            }
            while let (record, _) = merge.next() { taken.append(record) }
            while let change = merge.takeFlowChange() {
                if change.isPaused { paused.insert(change.topic) } else { paused.remove(change.topic) }
            }
            #expect(merge.waitingCount <= limit * topics.count, "seed \(seed)")
        }
        #expect(taken == ordered(topics), "seed \(seed)")
        #expect(paused.isEmpty)
    }

    @Test func aTopicThatMayHaveMoreHoldsTheOthersUp() {
        var merge = InputMerge<Record>(topics: 2, limits: InputMergeTests.open)
        let first = Record(timestamp: 5, topic: 0, number: 0)
        append(first, to: &merge)
        #expect(next(&merge) == nil)
        merge.reachedEnd(of: 1, offset: 7)
        #expect(merge.end(of: 1) == 7)
        #expect(next(&merge) == first)
        // The end that was reached holds until the next record.
        #expect(merge.isNext(9, of: 0))
        append(Record(timestamp: 8, topic: 1, number: 0), to: &merge)
        #expect(merge.end(of: 1) == nil)
        #expect(!merge.isNext(9, of: 0))
        #expect(merge.isNext(7, of: 0))
        #expect(merge.isNext(8, of: 0))
        #expect(next(&merge) == nil)
        append(Record(timestamp: 9, topic: 0, number: 1), to: &merge)
        #expect(next(&merge)?.topic == 1)
        #expect(next(&merge) == nil)
    }

    @Test func whatWaitsCanBeForgotten() {
        var merge = InputMerge<Record>(topics: 2, limits: .init(records: 2, bytes: .max))
        for number in 0..<3 { append(Record(timestamp: 1, topic: 1, number: number), to: &merge) }
        let change = merge.takeFlowChange()
        #expect(change == .init(topic: 1, isPaused: true))
        let paused = merge.removeAll()
        #expect(paused == [1])
        #expect(merge.waitingCount == 0)
        merge.reachedEnd(of: 0, offset: 0)
        #expect(next(&merge) == nil)
        let none = merge.takeFlowChange()
        #expect(none == nil)
    }
}
