import Testing

@testable import TidemarkEvents

@Suite struct EventTypeTests {
    @Test(arguments: EventType.allCases)
    func everyWireNameLeadsBackToItsType(type: EventType) {
        #expect(TopicType.named(type.wireName) == .known(type))
        #expect(TopicType.of(topic: type.wireName) == .known(type))
        #expect(TopicType.of(topic: "braze.eu-01." + type.wireName) == .known(type))
        #expect(TopicType.named(type.wireName + "x") == .unknown)
        #expect(TopicType.named(type.wireName.lowercased()) == .unknown)
    }

    @Test(arguments: [
        ("currents.events", TopicType.none), ("users", .none), ("prod.users.events", .none), ("", .none),
        ("a.users.behaviors.Purchase", .unknown), ("users.UserOrphan", .unknown),
        ("users.users.canvas.Entry", .known(.canvasEntry)), ("myusers.canvas.Entry", .none),
        ("users.canvas.Entry.backup", .none), ("users.messages.email.Send", .unknown),
    ])
    func topicsTellTheType(topic: String, expected: TopicType) {
        #expect(TopicType.of(topic: topic) == expected)
    }

    @Test func rejectionCodesAreStable() {
        let texts = ["malformed", "missing_field", "bad_type", "unknown_schema", "too_large", "future_dated", "late"]
        #expect(RejectionCode.allCases.map(\.rawValue) == texts)
        #expect(RejectionCode.allCases.map(\.number) == [1, 2, 3, 4, 5, 6, 7])
        for code in RejectionCode.allCases { #expect(RejectionCode(number: code.number) == code) }
        #expect(RejectionCode(number: 0) == nil)
    }
}
