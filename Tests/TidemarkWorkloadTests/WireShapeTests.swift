import Foundation
import Testing
import TidemarkWorkload

@Suite("Wire shapes")
struct WireShapeTests {
    private let events = (0..<40).flatMap { EdgeStream(seed: $0, events: 25).events }

    @Test("An event survives every shape", arguments: WireShape.allCases)
    func survives(shape: WireShape) throws {
        for event in events {
            let object = try object(event.json(shape))
            let flat = shape == .http ? flattened(object) : object.mapValues(unwrapped)
            let decoded = SampleEvent(flat: flat, eventType: shape.namesType ? nil : event.eventType)
            #expect(decoded == event.withNulls)
        }
    }

    @Test("A batch holds the events in order")
    func batch() throws {
        let some = Array(events.prefix(7))
        let object = try object(SampleEvent.httpBatch(some))
        let decoded = try #require(object["events"] as? [[String: Any]]).map { SampleEvent(flat: flattened($0)) }
        #expect(decoded == some.map(\.withNulls))
        #expect(String(decoding: SampleEvent.httpBatch([]), as: UTF8.self) == #"{"events":[]}"#)
    }

    @Test("Each shape looks as documented")
    func looks() {
        var event = SampleEvent(id: "e", eventType: "T", userID: "u", time: 5)
        event.deviceID = "d"
        event.appID = "a"
        event.inControlGroup = true
        let http =
            #"{"event_type":"T","id":"e","time":5,"user":{"user_id":"u","device_id":"d"},"#
            + #""properties":{"app_id":"a","in_control_group":true}}"#
        #expect(String(decoding: event.json(.http), as: UTF8.self) == http)
        let avro = String(decoding: event.json(.avro), as: UTF8.self)
        #expect(avro.hasPrefix(#"{"id":"e","user_id":"u","time":5,"external_user_id":null,"app_id":{"string":"a"},"#))
        let flat = String(decoding: event.json(.flatWithType), as: UTF8.self)
        #expect(
            flat.hasPrefix(#"{"event_type":"T","id":"e","user_id":"u","time":5,"external_user_id":null,"app_id":"a""#))
    }

    private func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private func flattened(_ object: [String: Any]) -> [String: Any] {
        var flat = object
        for part in ["user", "properties"] {
            flat.merge(object[part] as? [String: Any] ?? [:]) { left, _ in left }
        }
        return flat
    }

    private func unwrapped(_ value: Any) -> Any {
        (value as? [String: Any])?.first?.value ?? value
    }
}

extension SampleEvent {
    /// The event with its empty strings as nulls, as it is read.
    fileprivate var withNulls: SampleEvent {
        var copy = self
        let paths: [WritableKeyPath<SampleEvent, String?>] = [
            \.externalUserID, \.appID, \.deviceID, \.dispatchID, \.platform, \.campaignID, \.messageVariationID,
            \.canvasID, \.canvasVariationID, \.canvasStepID, \.campaignName, \.messageVariationName, \.canvasName,
            \.canvasVariationName, \.canvasStepName, \.buttonActionType, \.buttonString, \.buttonID,
        ]
        for path in paths where self[keyPath: path]?.isEmpty == true {
            copy[keyPath: path] = nil
        }
        return copy
    }
}
