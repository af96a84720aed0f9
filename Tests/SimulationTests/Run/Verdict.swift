import Foundation
import TidemarkKafka
import TidemarkProcessor
import TidemarkTestKit

@testable import TidemarkWorkload

/// Compares what a simulation has published with the plain evaluation of what it was given.
struct Verdict {
    private struct Letter {
        var place: Feeder.Place
        var index: Int?
        var code: String
        var record: LogPartition.Entry
    }

    private let scenario: Scenario
    private let cluster: SimulatedCluster
    private let placed: [Feeder.Place: PlannedRecord]
    private let topics: ApplicationTopics

    init(_ scenario: Scenario, cluster: SimulatedCluster, placed: [Feeder.Place: PlannedRecord]) {
        self.scenario = scenario
        self.cluster = cluster
        self.placed = placed
        topics = ApplicationTopics(scenario.configuration)
    }

    func deviations() -> [String] {
        let letters = letters()
        var deviations = misplaced(letters)
        guard var truth = try? PlainEvaluation(settings: scenario.settings, keepsOpens: true) else {
            return ["no zone"]
        }
        truth.add(accepted(letters))
        deviations += rowDeviations(String(decoding: truth.truth(), as: UTF8.self))
        deviations += openDeviations(Set(truth.opens().map(OpenFields.init)))
        deviations += PublishedRows.revisionsThatFell(
            cluster.partitions(topics.reports).flatMap { $0.committed.map { ($0.key ?? [], $0.value) } }
        ).map { "a revision fell: \($0)" }
        return deviations
    }

    // MARK: Dead letters

    private func letters() -> [Letter] {
        cluster.partitions(topics.deadLetters).flatMap(\.committed).map { entry in
            func header(_ name: String) -> String {
                let value = entry.headers.last { $0.name == "tidemark.error." + name }?.value
                return String(decoding: value ?? [], as: UTF8.self)
            }
            let place = Feeder.Place(
                topic: header("topic"), partition: Int32(header("partition")) ?? -1,
                offset: Int64(header("offset")) ?? -1)
            return Letter(place: place, index: Int(header("index")), code: header("code"), record: entry)
        }
    }

    /// Poison without its dead letter, and dead letters of what is none.
    private func misplaced(_ letters: [Letter]) -> [String] {
        var deviations: [String] = []
        var codes: [Feeder.Place: [String]] = [:]
        var seen: Set<String> = []
        for letter in letters {
            codes[letter.place, default: []].append(letter.code)
            if !seen.insert("\(letter.place) \(letter.index ?? -1)").inserted {
                deviations.append("a second dead letter of \(letter.place)")
            }
            guard let record = placed[letter.place] else {
                deviations.append("a dead letter of \(letter.place), where no record is")
                continue
            }
            let isWhole = letter.index != nil || letter.record.value == record.value
            if letter.record.key != record.key || !isWhole {
                deviations.append("the dead letter of \(letter.place) is not what came")
            }
        }
        for (place, record) in placed {
            let expected = record.code.map { [$0] } ?? []
            let found = (codes[place] ?? []).filter { $0 != "late" || !scenario.isLatenessLimited }
            if found != expected { deviations.append("dead letters \(found) of \(place) instead of \(expected)") }
        }
        return deviations
    }

    /// The events that were not refused as late.
    private func accepted(_ letters: [Letter]) -> [SampleEvent] {
        let late = Set(letters.filter { $0.code == "late" }.map { "\($0.place) \($0.index ?? 0)" })
        return placed.flatMap { place, record in
            record.events.enumerated().filter { !late.contains("\(place) \($0.offset)") }.map(\.element)
        }
    }

    // MARK: Rows and opens

    private func latest(_ topic: String) -> [[UInt8]: [UInt8]] {
        var latest: [[UInt8]: [UInt8]] = [:]
        for entry in cluster.partitions(topic).flatMap(\.committed) { latest[entry.key ?? []] = entry.value }
        return latest
    }

    private func rowDeviations(_ truth: String) -> [String] {
        let lines = PublishedRows.lines(latest(topics.reports))
        if lines == truth { return [] }
        let (published, expected) = (Set(lines.split(separator: "\n")), Set(truth.split(separator: "\n")))
        return published.subtracting(expected).sorted().map { "published, and wrong: \($0)" }
            + expected.subtracting(published).sorted().map { "not published: \($0)" }
    }

    private func openDeviations(_ truth: Set<OpenFields>) -> [String] {
        let records = latest(topics.opens).values.map(OpenFields.init)
        let published = Set(records)
        return published.subtracting(truth).map { "an open that is none: \($0)" }
            + truth.subtracting(published).map { "an open is missing: \($0)" }
            + (records.count > published.count ? ["\(records.count - published.count) opens stand twice"] : [])
    }
}
