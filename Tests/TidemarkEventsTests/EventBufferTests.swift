import Testing
import TidemarkEvents

/// Events that travel between threads.
@Suite("Event buffer")
struct EventBufferTests {
    /// Which fields each type takes is the decoder's matter: all types together have all fields.
    @Test("every field comes out as it went in, whichever are null and however long they are")
    func everyField() {
        var random = SeededGenerator(state: 11)
        let decoder = EventDecoder()
        let buffer = EventBuffer(capacity: 1)
        var event = Event()
        var seen: Set<String> = []
        for round in 0..<20 {
            var expected: [[String: String]] = []
            for type in EventType.allCases {
                let record = record(of: type, &random)
                Array(record.utf8).withUnsafeBytes {
                    decoder.begin(ByteView($0))
                    guard case .event? = decoder.next(into: &event) else { return }
                    expected.append(summary(of: event))
                    buffer.append(event, userHash: event.userID.hash64)
                }
            }
            #expect(buffer.userHashes.count == expected.count && !expected.isEmpty)
            var found: [[String: String]] = []
            buffer.forEach { found.append(summary(of: copy($0))) }
            #expect(found == expected, "round \(round)")
            for fields in expected { seen.formUnion(fields.keys) }
            buffer.removeAll()
        }
        #expect(textFields.map(\.0).filter { !seen.contains($0) } == [])
        #expect(seen.isSuperset(of: ["conversion_behavior_index", "in_control_group"]))
    }

    private func record(of type: EventType, _ random: inout SeededGenerator) -> String {
        var fields: [String: String?] = ["time": "\(UInt32.random(in: 1...4_000_000_000, using: &random))"]
        for (name, _) in textFields where name == "session_id" || Bool.random(using: &random) {
            let length = Int.random(in: 1...(Bool.random(using: &random) ? 40 : 400), using: &random)
            fields[name] = "\"\(name)-\(String(repeating: "é", count: length / 2))\""
        }
        // Enumerations that the decoder checks.
        fields["platform"] = Bool.random(using: &random) ? "\"ios\"" : nil
        if type == .campaignConversion || type == .canvasConversion { fields["conversion_behavior_index"] = "2" }
        if type == .canvasEntry { fields["in_control_group"] = "true" }
        return flat(fields, type: type)
    }

    private func copy(_ event: borrowing Event) -> Event { copy event }
}
