import Testing
import TidemarkEvents

@testable import TidemarkIngest

@Suite("Splitting a body into events")
struct BatchSplitterTests {
    struct Split: Equatable {
        var value: String
        var key: String?
        var type: String?
        var code: RejectionCode?
        var index: Int?
    }

    private func split(_ body: String, eventBytes: Int = 10_000) -> (PostedBody, [Split]) {
        let splitter = BatchSplitter(bodyBytes: 1 << 20, eventBytes: eventBytes)
        return split(body, with: splitter)
    }

    private func split(_ body: String, with splitter: BatchSplitter) -> (PostedBody, [Split]) {
        let bytes = padded(body)
        return bytes.withUnsafeBytes { buffer in
            let view = ByteView(UnsafeRawBufferPointer(rebasing: buffer[..<body.utf8.count]))
            let shape = splitter.begin(view)
            guard shape == .events else { return (shape, []) }
            var splits: [Split] = []
            var event = PostedEvent()
            while let outcome = splitter.next(into: &event) {
                var split = Split(value: event.value.text ?? "", key: event.key.text, type: event.type.text)
                if case .refused(let rejection, let index) = outcome {
                    (split.code, split.index) = (rejection.code, index)
                }
                // In place: nothing of an event is copied.
                let start = UnsafeRawPointer(event.value.start!)
                #expect(start >= buffer.baseAddress! && start < buffer.baseAddress! + body.utf8.count)
                splits.append(split)
            }
            return (shape, splits)
        }
    }

    private static let session = "users.behaviors.app.SessionStart"

    @Test(arguments: ["", " \r\n\t", "{\"events\":[]}", "[]"])
    func aProbeHoldsNothing(body: String) {
        let (shape, splits) = split(body)
        #expect(splits.isEmpty)
        #expect(shape == (body.contains("[") ? .events : .nothing))
    }

    @Test func eventsKeepTheirOwnBytes() {
        let odd =
            " { \"event_type\" : \"\(Self.session)\" ,\"id\":\"\\u0065\", \"time\":1,\"user\" :{\"user_id\":\"ü\\n\"},"
            + "\"properties\":{\"session_id\":\"s\",\"x\":[1,{\"y\":\"]}\"}]}\n}"
        let (_, splits) = split(
            "{\"more\":{\"a\":[1]}, \"events\" : [\(event(1)) ,\(odd)\t,\n\(event(2, user: "u-8"))] }")
        #expect(
            splits == [
                Split(value: event(1), key: "u-7", type: Self.session),
                Split(value: String(odd.dropFirst()), key: "ü\n", type: Self.session),
                Split(value: event(2, user: "u-8"), key: "u-8", type: Self.session),
            ])
    }

    @Test func anArrayAndALoneEventAreTakenToo() {
        let one = Split(value: event(1), key: "u-7", type: Self.session)
        #expect(split("[\(event(1))]").1 == [one])
        #expect(split(event(1)).1 == [one])
        let flat = "{\"event_type\":\"\(Self.session)\",\"id\":\"e\",\"user_id\":\"u\",\"time\":1,\"session_id\":\"s\"}"
        #expect(split(flat).1 == [Split(value: flat, key: "u", type: Self.session)])
    }

    @Test func typesThatTheRulesDoNotKnowPass() {
        let email = event(1, type: "users.messages.email.Open")
        let anonymous = event(2, user: nil, type: "agentconsole.AgentExecuted")
        let (_, splits) = split(batch([email, anonymous]))
        #expect(
            splits == [
                Split(value: email, key: "u-7", type: "users.messages.email.Open"),
                Split(value: anonymous, key: nil, type: "agentconsole.AgentExecuted"),
            ])
    }

    @Test func badEventsAreRefusedAlone() {
        let bad = [
            "5", "null", "[]", event(3, user: nil), event(4, type: nil), "{\"event_type\":7}", "{\"events\":[]}",
        ]
        let codes: [RejectionCode] = [
            .badType, .badType, .badType, .missingField, .missingField, .badType, .badType,
        ]
        let (_, splits) = split(batch(bad.flatMap { [event(1), $0] }))
        #expect(splits.count == 14)
        for (place, text) in bad.enumerated() {
            #expect(splits[2 * place].code == nil)
            #expect(splits[2 * place + 1].value == text)
            #expect(splits[2 * place + 1].code == codes[place], "\(text)")
            #expect(splits[2 * place + 1].index == 2 * place + 1)
        }
        #expect(splits[7].type == Self.session)
        // Without a type, nobody knows where its fields are.
        #expect(splits[9].key == nil)
    }

    @Test func anEventThatIsTooLargeIsRefusedAlone() {
        let large = event(2, more: ",\"x\":\"\(String(repeating: "y", count: 500))\"")
        let (_, splits) = split(batch([event(1), large, event(3)]), eventBytes: large.utf8.count - 1)
        #expect(splits.map(\.code) == [nil, .tooLarge, nil])
        #expect(split(batch([large]), eventBytes: large.utf8.count).1.map(\.code) == [nil])
    }

    @Test(arguments: ["{}", "{\"foo\":[1]}", "5", "\"events\"", "null", "{\"events\":{}}"])
    func whatHoldsNoEventsIsUnreadable(body: String) {
        guard case .unreadable(let rejection) = split(body).0 else {
            Issue.record("\(body) was taken")
            return
        }
        #expect([.missingField, .badType].contains(rejection.code))
    }

    @Test(arguments: [
        "{", "{\"events\":[{]}", "[1,]", "{\"events\":[\"\u{1}\"]}", "[1] [2]", "\u{FEFF}[]", "\0\0\0\0\u{1}x",
        "Obj\u{1}x",
    ])
    func whatIsNoJSONIsUnreadable(body: String) {
        guard case .unreadable(let rejection) = split(body).0 else {
            Issue.record("\(body) was taken")
            return
        }
        #expect(rejection.code == .malformed)
    }

    @Test func aLoneEventThatIsBadIsRefusedAndNotUnreadable() {
        let bad = event(1, user: nil)
        #expect(split(bad).1 == [Split(value: bad, type: Self.session, code: .missingField)])
    }

    @Test func aSplitterForgetsTheBodyBefore() {
        let splitter = BatchSplitter(bodyBytes: 1 << 20, eventBytes: 10_000)
        #expect(split("{\"events\":[", with: splitter).1.isEmpty)
        #expect(split(batch([event(1), event(2)]), with: splitter).1.count == 2)
        #expect(split(event(3), with: splitter).1.map(\.value) == [event(3)])
        #expect(split(" ", with: splitter).0 == .nothing)
        #expect(split("[\(event(4))]", with: splitter).1.map(\.value) == [event(4)])
    }

    @Test func numbersBeyond64BitsDoNotMoveTheBytes() {
        let large = event(1, more: ",\"n\":123456789012345678901234567890,\"e\":1e400")
        let (_, splits) = split(batch([large, event(2)]))
        #expect(splits.map(\.value) == [large, event(2)])
        #expect(splits.map(\.code) == [nil, nil])
    }
}
