import Foundation
import TidemarkKafka
import TidemarkProcessor
import TidemarkTestKit

/// Compares what a chaos run has published with what it should have.
final class ChaosVerdict {
    /// Everything that differs.
    private(set) var deviations: [String] = []

    private let application: TestApplication
    private let expected: ExpectedReport
    private let poison: [Poison]
    private let report: PublishedReport
    private let group: GroupReader

    init(_ application: TestApplication, _ expected: ExpectedReport, _ poison: [Poison]) throws {
        self.application = application
        self.expected = expected
        self.poison = poison
        report = try PublishedReport(application)
        group = try GroupReader(application)
    }

    /// Waits until everything is there, or no longer.
    func wait(within seconds: Double) throws {
        let rows = expected.rows.utf8.count { $0 == UInt8(ascii: "\n") }
        try? eventually(within: seconds, "") {
            Thread.sleep(forTimeInterval: 0.5)
            guard try group.committed() == group.end() else { return false }
            try report.update()
            return report.rows.latest.count == rows && report.lines == expected.rows
        }
    }

    /// Compares, when nothing is being processed any more.
    func judge() throws {
        try report.update()
        let lines = Set(report.lines.split(separator: "\n"))
        let truth = Set(expected.rows.split(separator: "\n"))
        deviations += lines.subtracting(truth).sorted().map { "published, and wrong: \($0)" }
        deviations += truth.subtracting(lines).sorted().map { "not published: \($0)" }
        deviations += report.revisionsThatFell.map { "a revision fell: \($0)" }

        let opens = report.opens.latest.values.map(OpenFields.init)
        let published = Set(opens)
        deviations += published.subtracting(expected.opens).map { "an open that is none: \($0)" }
        deviations += expected.opens.subtracting(published).map { "an open is missing: \($0)" }
        if opens.count != published.count {
            deviations.append("\(opens.count - published.count) opens stand twice")
        }
        try judgeDeadLetters()
        try judgeOffsets()
    }

    private func judgeDeadLetters() throws {
        // A producer that was cut off from its brokers may have sent a record twice: each copy is a record.
        let input = try TopicReader(application.input)
        try input.update()
        let kinds = Set(poison.map { $0.record.key ?? [] })
        var copies: [[UInt8]: Int] = [:]
        for record in input.records {
            guard let key = record.key, kinds.contains(key) else { continue }
            copies[key, default: 0] += 1
        }
        var letters: [[UInt8]: [TopicRecord]] = [:]
        for letter in report.deadLetters.records { letters[letter.key ?? [], default: []].append(letter) }
        for poison in poison {
            let found = letters.removeValue(forKey: poison.record.key ?? []) ?? []
            guard let code = poison.code else {
                if !found.isEmpty { deviations.append("\(poison.name) has \(found.count) dead letters") }
                continue
            }
            let count = copies[poison.record.key ?? []] ?? 0
            let isRight =
                count > 0 && found.count == count
                && found.allSatisfy {
                    $0.header("tidemark.error.code") == code && $0.value == poison.record.value
                }
            if !isRight {
                let codes = found.map { $0.header("tidemark.error.code") ?? "none" }
                deviations.append("dead letters of `\(poison.name)`: \(codes) instead of \(count) times \(code)")
            }
        }
        for rest in letters.values.joined() {
            let code = rest.header("tidemark.error.code") ?? ""
            deviations.append(
                "dead letter \(code) of a sound event: \(String(decoding: rest.value ?? [], as: UTF8.self))")
        }
    }

    /// All input is committed, and all changes are added up; markers of transactions may follow the last change.
    private func judgeOffsets() throws {
        let committed = try group.committed()
        let end = try group.end()
        if committed != end { deviations.append("offsets \(committed) of \(end) committed") }
        let deltas = try TopicReader(application.topics.deltas)
        try deltas.update()
        var ends: [Int32: Int64] = [:]
        for record in deltas.records { ends[record.partition] = record.offset + 1 }
        let consumer = try KafkaConsumer(properties: [
            "bootstrap.servers": Environment.servers ?? "", "group.id": application.topics.aggregatorGroup,
        ])
        defer { consumer.close() }
        let partitions = ends.keys.map { TopicPartition(topic: application.topics.deltas, partition: $0) }
        let offsets = try consumer.committed(partitions, timeoutMilliseconds: 20_000)
        for partition in partitions where (offsets[partition] ?? 0) < ends[partition.partition] ?? 0 {
            deviations.append(
                "\(partition): added up to \(offsets[partition] ?? 0), last change before \(ends[partition.partition] ?? 0)"
            )
        }
    }
}
