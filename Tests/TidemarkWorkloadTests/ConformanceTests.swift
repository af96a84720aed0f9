import Foundation
import Testing
import TidemarkTestKit
import TidemarkWorkload

@Suite("The plain evaluation gives what the conformance vectors say")
struct ConformanceTests {
    @Test(
        "whatever the order of arrival",
        .enabled(if: ConformanceVector.folder != nil, "no folder shared/conformance above the tests"))
    func vectors() throws {
        let vectors = try ConformanceVector.names().map(ConformanceVector.init(named:))
        #expect(!vectors.isEmpty)
        var random = SplitMix64(seed: 20)
        for vector in vectors {
            try expect(vector, events: vector.events, order: "forwards")
            try expect(vector, events: vector.events.reversed(), order: "backwards")
            try expect(vector, events: vector.events.shuffled(using: &random), order: "shuffled")
        }
    }

    private func expect(_ vector: ConformanceVector, events: [SampleEvent], order: String) throws {
        var evaluation = try PlainEvaluation(settings: vector.settings, keepsOpens: true)
        evaluation.add(events)
        let rows = try evaluation.rows().map { try object(of: $0) }
        let label = Comment(rawValue: "\(vector.name), \(order)")
        #expect(rows.count == vector.rows.count, label)
        for (row, expected) in zip(rows, vector.rows) {
            #expect(row == expected, label)
        }
        for user in Set(events.map(\.userID)) {
            let opens = Set(evaluation.opens(of: user).map(object(of:)))
            #expect(opens == vector.opens[user] ?? [], label)
        }
    }

    /// A row as the vectors write it, without the attribution block.
    private func object(of row: PlainRow) throws -> NSDictionary {
        var object = try JSONSerialization.jsonObject(with: Data(row.record.utf8)) as? [String: Any] ?? [:]
        object["attribution"] = nil
        return NSDictionary(dictionary: object)
    }

    /// An open as the vectors write it.
    private func object(of open: PlainOpen) -> NSDictionary {
        guard open.kind == .influenced else {
            return ["kind": "direct", "id": open.id ?? "", "time": open.time]
        }
        return [
            "kind": "influenced", "send": open.sendEventID ?? "", "session_id": open.sessionID ?? "",
            "time": open.time, "window_seconds": open.windowSeconds ?? -1,
        ]
    }
}
