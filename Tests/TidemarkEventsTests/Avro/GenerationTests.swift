import Foundation
import Testing

@testable import TidemarkEvents

/// Writer schemas as they were over the years, and those of this repository.
@Suite struct GenerationTests {
    private static let nullable = #"["null","string"]"#
    /// As the schemas of 2021 spell a primitive.
    private static let wrapped = #"{"type":"string","connect.doc":"…"}"#
    private static let wrappedNullable = #"["null",{"type":"string","connect.doc":"…"}]"#
    private static let none = Datum.union(0, .null)

    private static func some(_ text: String) -> Datum { .union(1, .text(text)) }

    /// What a conversion was written by: its fields with a value each.
    private static let conversions: [[(String, String, Datum)]] = [
        // 2021: primitives as objects, and the workspace as a plain id.
        [
            ("id", wrapped, .text("e-1")), ("user_id", wrapped, .text("u-7")),
            ("external_user_id", wrappedNullable, some("x-1")), ("app_id", wrappedNullable, some("a-1")),
            ("time", #"{"type":"int","connect.doc":"…"}"#, .long(1_767_225_600)), ("timezone", wrappedNullable, none),
            ("app_group_id", wrapped, .text("5f0")), ("campaign_id", wrapped, .text("c-1")),
            ("campaign_name", wrappedNullable, some("Spring")), ("message_variation_id", wrappedNullable, some("v-1")),
            ("conversion_behavior_index", #"["null",{"type":"int","connect.doc":"…"}]"#, .union(1, .long(2))),
            ("conversion_behavior", wrappedNullable, none),
        ],
        // Until 2024: no workspace.
        [
            ("id", "\"string\"", .text("e-1")), ("user_id", "\"string\"", .text("u-7")),
            ("external_user_id", nullable, some("x-1")), ("app_id", nullable, some("a-1")),
            ("time", "\"int\"", .long(1_767_225_600)), ("campaign_id", "\"string\"", .text("c-1")),
            ("campaign_name", nullable, some("Spring")), ("message_variation_id", nullable, some("v-1")),
            ("send_id", nullable, none), ("conversion_behavior_index", #"["null","int"]"#, .union(1, .long(2))),
            ("conversion_behavior", nullable, some("{}")),
        ],
        // 2026: the workspace is back, variations have names, and the order is another.
        [
            ("id", "\"string\"", .text("e-1")), ("user_id", "\"string\"", .text("u-7")),
            ("external_user_id", nullable, some("x-1")), ("time", "\"int\"", .long(1_767_225_600)),
            ("app_group_id", nullable, some("w-1")), ("app_id", nullable, some("a-1")), ("timezone", nullable, none),
            ("campaign_id", "\"string\"", .text("c-1")), ("campaign_name", nullable, some("Spring")),
            ("message_variation_id", nullable, some("v-1")), ("message_variation_name", nullable, none),
            ("send_id", nullable, none), ("conversion_behavior_index", #"["null","int"]"#, .union(1, .long(2))),
            ("conversion_behavior", nullable, none),
        ],
    ]

    @Test(arguments: conversions.indices) func aConversionOfEveryYear(generation: Int) throws {
        let fields = Self.conversions[generation]
        let schema = recordSchema(fields.map { ($0.0, $0.1) }, name: EventType.campaignConversion.wireName)
        let event = expected(
            [
                "external_user_id": "x-1", "app_id": "a-1", "campaign_id": "c-1", "campaign_name": "Spring",
                "message_variation_id": "v-1", "conversion_behavior_index": "2",
            ], type: .campaignConversion)
        #expect(try decodeAvro(Datum.record(fields.map(\.2)).encoded, schema) == event)
    }

    /// `dispatch_id` came in 2024 and went in 2025; while it was there it is read.
    @Test func aFieldThatCameAndWent() throws {
        var fields = Self.conversions[2]
        fields.insert(("dispatch_id", Self.nullable, Self.some("d-1")), at: 5)
        let schema = recordSchema(fields.map { ($0.0, $0.1) }, name: EventType.campaignConversion.wireName)
        let outcomes = try decodeAvro(Datum.record(fields.map(\.2)).encoded, schema)
        #expect(outcomes[0].fields?["dispatch_id"] == "d-1")
        #expect(outcomes[0].fields?["campaign_id"] == "c-1")
    }

    @Test func everySchemaOfTheRepository() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../schemas/avro/events").standardized
        for type in EventType.allCases {
            let file = folder.appendingPathComponent("\(type.wireName).avsc")
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(try AvroSchema(json: text).eventType == .known(type), "\(type)")
            let json = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let fields = try #require(json["fields"] as? [[String: Any]])
            var event: [String: String] = [:]
            let values = try fields.map { field -> Datum in
                let name = try #require(field["name"] as? String)
                return Self.value(name, field["type"] as Any, &event)
            }
            #expect(
                try decodeAvro(Datum.record(values).encoded, text) == expected(event, type: type), "\(type)")
        }
    }

    /// A value of a field, and what should be read of it.
    private static func value(_ name: String, _ type: Any, _ event: inout [String: String]) -> Datum {
        if let union = type as? [String] { return .union(1, value(name, union[1], &event)) }
        switch (name, type as? String) {
        case ("id", _): return .text("e-1")
        case ("user_id", _): return .text("u-7")
        case ("time", _): return .long(1_767_225_600)
        case (_, "string"):
            if EventField.allCases.contains(where: { $0.name == name && $0.isChecked }) { event[name] = "of \(name)" }
            return .text("of \(name)")
        case (_, "boolean"):
            if name == "in_control_group" { event[name] = "true" }
            return .boolean(true)
        case (_, "int"):
            if name == "conversion_behavior_index" { event[name] = "3" }
            return .long(3)
        default:
            return .long(0)
        }
    }
}
