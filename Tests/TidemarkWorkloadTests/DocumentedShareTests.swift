import Foundation
import Testing
import TidemarkWorkload

/// The page on the sample stream against the stream.
@Suite("docs/load.md")
struct DocumentedShareTests {
    /// The shares of types in the page's table, in percent.
    private func documented() throws -> [String: Double] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: tests.appending(path: "../docs/load.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `users.") }
        return Dictionary(
            uniqueKeysWithValues: try rows.map { row in
                let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                return (cells[0].trimmingCharacters(in: ["`"]), try #require(Double(cells[1])))
            })
    }

    @Test("The table of types is what the stream holds")
    func types() throws {
        let documented = try documented()
        var stream = Workload(WorkloadOptions(users: 6_000, seed: 9)).stream()
        var record = WorkloadRecord()
        var counts: [String: Int] = [:]
        while stream.next(into: &record) { counts[record.eventType, default: 0] += 1 }
        let all = counts.values.reduce(0, +)
        #expect(Set(documented.keys) == Set(counts.keys))
        #expect(abs(documented.values.reduce(0, +) - 100) < 0.2)
        for (type, share) in documented {
            let measured = 100 * Double(counts[type] ?? 0) / Double(all)
            #expect(abs(measured - share) < 0.03 + share * 0.1, "\(type): \(measured)")
        }
        #expect(abs(Double(all) / 6_000 - 28.5) < 0.8)
    }
}
