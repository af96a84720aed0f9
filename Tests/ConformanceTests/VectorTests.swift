import Foundation
import Testing
import TidemarkTestKit
import TidemarkWorkload

@Suite(
    "Every conformance vector, in any order, incrementally",
    .enabled(if: ConformanceVector.folder != nil, "no folder shared/conformance above the tests"))
struct VectorTests {
    @Test("rows and opens are those of the vector", arguments: try ConformanceVector.names())
    func vector(_ name: String) throws {
        let vector = try ConformanceVector(named: name)
        var random = SplitMix64(seed: 7)
        let orders: [(String, [SampleEvent])] = [
            ("forwards", vector.events), ("backwards", vector.events.reversed()),
            ("shuffled", vector.events.shuffled(using: &random)),
            ("shuffled again", vector.events.shuffled(using: &random)),
        ]
        for (order, events) in orders {
            for batch in [1, 3, events.count + 1] {
                let driver = EngineDriver(vector.settings)
                driver.take(events, batch: batch)
                try expect(driver, vector, "\(vector.name), \(order), a commit every \(batch)")
            }
            let replay = EngineDriver(vector.settings, isIncremental: false)
            replay.take(events, batch: events.count + 1)
            try expect(replay, vector, "\(vector.name), \(order), as a replay")
        }
    }

    private func expect(_ driver: EngineDriver, _ vector: ConformanceVector, _ label: String) throws {
        let comment = Comment(rawValue: label)
        let rows = try driver.rows().split(separator: "\n").map { line in
            var row = try object(line)
            row["attribution"] = nil
            return NSDictionary(dictionary: row)
        }
        #expect(rows.count == vector.rows.count, comment)
        for (row, expected) in zip(rows, vector.rows) { #expect(row == expected, comment) }
        var opens: [String: Set<NSDictionary>] = [:]
        for record in driver.opens.values {
            let open = try object(record)
            opens[open["user_id"] as? String ?? "", default: []].insert(NSDictionary(dictionary: summary(open)))
        }
        #expect(opens == vector.opens.filter { !$0.value.isEmpty }, comment)
    }

    private func object(_ text: some StringProtocol) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    /// What a vector says of an open.
    private func summary(_ open: [String: Any]) -> [String: Any] {
        let fields: KeyValuePairs =
            open["kind"] as? String == "direct"
            ? ["kind": "kind", "id": "id", "time": "time"]
            : [
                "kind": "kind", "send": "send_event_id", "session_id": "session_id", "time": "time",
                "window_seconds": "window_seconds",
            ]
        return Dictionary(uniqueKeysWithValues: fields.map { ($0.key, open[$0.value] ?? NSNull()) })
    }
}
