import Foundation
import Testing
import TidemarkProcessor
import TidemarkTestKit
import TidemarkWorkload

/// What consumers of an application's outputs see.
final class PublishedReport {
    let rows: TopicReader
    let opens: TopicReader
    let deadLetters: TopicReader

    init(_ application: TestApplication) throws {
        rows = try TopicReader(application.topics.reports)
        opens = try TopicReader(application.topics.opens)
        deadLetters = try TopicReader(application.topics.deadLetters)
    }

    func update() throws {
        for reader in [rows, opens, deadLetters] { try reader.update() }
    }

    /// The rows as `replay` prints them: sorted by kind of row and key, without `revision` and `as_of`.
    var lines: String {
        PublishedRows.lines(Dictionary(uniqueKeysWithValues: rows.latest.map { (Array($0.key.utf8), $0.value) }))
    }

    /// Revisions must grow with each version of a row, through all restarts.
    var revisionsThatFell: [String] {
        PublishedRows.revisionsThatFell(rows.records.compactMap { record in record.key.map { ($0, record.value) } })
    }
}

/// What the outputs should be: a plain evaluation that shares nothing with the program.
struct ExpectedReport {
    let rows: String
    let opens: Set<OpenFields>
    let truth: Workload.Truth

    init(_ workload: Workload, settings: PlainSettings = PlainSettings()) throws {
        truth = try workload.truth(settings: settings, keepsOpens: true)
        rows = String(decoding: truth.evaluation.truth(), as: UTF8.self)
        opens = Set(truth.evaluation.opens().map(OpenFields.init))
        // A stream without anything to attribute would prove nothing.
        try #require(truth.directOpens > 0 && truth.influencedOpens > 0)
    }

    /// Waits until the published rows and opens are these; records what differs when they do not become so.
    func wait(for report: PublishedReport, within seconds: Double = 40) throws {
        try? eventually(within: seconds, "") {
            try report.update()
            return report.rows.latest.count == rows.utf8.count { $0 == UInt8(ascii: "\n") } && report.lines == rows
        }
        try check(report)
    }

    /// Compares rows byte by byte and opens field by field.
    func check(_ report: PublishedReport) throws {
        try report.update()
        let lines = report.lines
        if lines != rows {
            let difference = Set(lines.split(separator: "\n")).symmetricDifference(rows.split(separator: "\n"))
            Issue.record("\(difference.count) rows differ: \(difference.sorted().prefix(6).joined(separator: "\n"))")
        }
        let published = report.opens.latest.values.map(OpenFields.init)
        #expect(published.count == opens.count)
        let difference = Set(published).symmetricDifference(opens)
        if !difference.isEmpty { Issue.record("\(difference.count) opens differ: \(difference.prefix(6))") }
        #expect(report.revisionsThatFell.prefix(3) == [])
    }
}
