import Testing
import TidemarkEvents

/// Every shape that a well-formed event may come in, with every field.
@Suite struct ShapeTests {
    static let texts = [
        "id": "5b0c-1", "user_id": "64a0f0", "external_user_id": "cust-42", "app_id": "app", "device_id": "D-1",
        "dispatch_id": "66f0", "session_id": "s-9", "platform": "iOS", "button_action_type": "Deep_Link",
        "button_string": "shop now", "button_id": "0", "campaign_id": "c0ff", "message_variation_id": "mv",
        "canvas_id": "cv", "canvas_variation_id": "cvv", "canvas_step_id": "cvs", "campaign_name": "Spring sale",
        "message_variation_name": "A", "canvas_name": "Welcome", "canvas_variation_name": "B",
        "canvas_step_name": "Day 1",
    ]

    static let all = texts.merging([
        "time": "1767229205", "conversion_behavior_index": "3", "in_control_group": "true",
        "event_type": EventType.canvasEntry.wireName,
    ]) { $1 }

    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}"
    }

    static var bareMembers: [(String, String)] {
        texts.sorted { $0.key < $1.key }.map { ($0.key, "\"\($0.value)\"") } + [
            ("time", "1767229205"), ("conversion_behavior_index", "3"), ("in_control_group", "true"),
            ("send_id", "null"), ("message_extras", "{\"id\": [1, {\"user_id\": 5}]}"),
        ]
    }

    static let typeMember = ("event_type", "\"\(EventType.canvasEntry.wireName)\"")

    @Test func flatRecordWithItsType() {
        #expect(decode(Self.object([Self.typeMember] + Self.bareMembers)) == [.event(Self.all)])
        #expect(decode(" \r\n\t" + Self.object(Self.bareMembers + [Self.typeMember]) + "\n ") == [.event(Self.all)])
    }

    @Test func flatRecordTypedByHeader() {
        let record = Self.object(Self.bareMembers)
        #expect(decode(record, header: EventType.canvasEntry.wireName) == [.event(Self.all)])
        #expect(decode(record, header: EventType.canvasEntry.wireName, topic: .unknown) == [.event(Self.all)])
    }

    @Test func flatRecordTypedByTopic() {
        let record = Self.object(Self.bareMembers)
        let topic = TopicType.of(topic: "braze.users.canvas.Entry")
        #expect(decode(record, topic: topic) == [.event(Self.all)])
        #expect(decode(record, topic: .named("users.canvas.Entry")) == [.event(Self.all)])
    }

    @Test func avroWrappedRecord() {
        let wrapped = Self.texts.sorted { $0.key < $1.key }.map { ($0.key, "{\"string\": \"\($0.value)\"}") }
        let record = Self.object(
            wrapped + [
                ("time", "{\"int\": 1767229205}"), ("conversion_behavior_index", "{\"int\": 3}"),
                ("in_control_group", "{\"boolean\": true}"), ("duration", "{\"float\": 12.5}"),
                ("tags", "{\"array\": [\"a\"]}"), ("properties", "{\"string\": \"{}\"}"),
            ])
        #expect(decode(record, header: EventType.canvasEntry.wireName) == [.event(Self.all)])
    }

    @Test func timeInALongBranch() {
        #expect(decode(flat(["time": "{\"long\": 1767225600}"])) == expected())
    }

    static var httpEvent: String {
        let inUser = ["user_id", "external_user_id", "device_id"]
        let user = bareMembers.filter { inUser.contains($0.0) } + [("timezone", "\"Europe/Paris\"")]
        let properties = bareMembers.filter { !inUser.contains($0.0) && $0.0 != "id" && $0.0 != "time" }
        let top = [typeMember, ("id", "\"5b0c-1\""), ("time", "1767229205")]
        return object(top + [("user", object(user)), ("properties", object(properties))])
    }

    @Test func httpEvent() {
        #expect(decode(Self.httpEvent) == [.event(Self.all)])
    }

    @Test func batchAndArray() {
        let flat = Self.object([Self.typeMember] + Self.bareMembers)
        let two: [Outcome] = [.event(Self.all), .event(Self.all)]
        #expect(decode("{\"events\":[\(Self.httpEvent),\(flat)]}") == two)
        #expect(decode("{\"version\":1,\"events\" : [ \(Self.httpEvent) , \(flat) ],\"more\":{}}") == two)
        #expect(decode("[\(Self.httpEvent),\(flat)]") == two)
        let untyped = Self.object(Self.bareMembers)
        #expect(decode("[\(untyped)]", header: EventType.canvasEntry.wireName) == [.event(Self.all)])
    }

    @Test func emptyBatchesHoldNothing() {
        for record in ["[]", "{\"events\":[]}", " { \"events\" : [ ] , \"n\" : 0 } "] { #expect(decode(record) == []) }
    }

    @Test func reusedEventKeepsNothingOfTheOneBefore() {
        let full = Self.object([Self.typeMember] + Self.bareMembers)
        #expect(decode("[\(full),\(flat()),\(full)]") == [.event(Self.all), expected()[0], .event(Self.all)])
    }

    @Test func typeOfTheRecordComesFirst() {
        let open = EventType.pushOpen.wireName
        #expect(decode(flat(), header: open, topic: .known(.pushAbort)) == expected())
        #expect(decode(flat(["event_type": nil]), header: open, topic: .unknown) == expected(type: .pushOpen))
        for void in ["null", "\"\""] {
            #expect(decode(flat(["event_type": void]), header: open) == expected(type: .pushOpen))
        }
    }

    @Test func unknownTypesAreSkippedUnread() {
        let broken: [String: String?] = ["id": nil, "user_id": "5", "time": "\"x\""]
        let named = broken.merging(["event_type": "\"users.behaviors.Purchase\""]) { $1 }
        #expect(decode(flat(named)) == [.skipped])
        let unnamed = broken.merging(["event_type": nil]) { $1 }
        #expect(decode(flat(unnamed), header: "users.behaviors.Purchase", topic: .known(.pushSend)) == [.skipped])
        #expect(decode(flat(unnamed), topic: .unknown) == [.skipped])
        #expect(decode("[\(flat(named)),\(flat())]") == [.skipped] + expected())
    }

    @Test func fieldsOfHTTPEventsCompleteEachOther() {
        let record = """
            {"event_type":"users.messages.pushnotification.Send","id":"","time":1767225600,"platform":"ios",
             "properties":{"id":"p","user_id":"p","platform":"web","app_id":"p","event_type":"x","events":[1]},
             "user":{"id":"e-1","user_id":"u-7","app_id":null}}
            """
        #expect(decode(record) == expected(["platform": "ios", "app_id": "p"]))
    }

    @Test func propertiesOfAFlatRecordAreNobodysBusiness() {
        let record = flat(["event_type": nil, "user": "{\"app_id\":\"no\"}", "properties": "{\"platform\":7}"])
        #expect(decode(record, topic: .known(.pushSend)) == expected())
    }

    @Test func duplicateKeysLastOneStands() {
        let record = "{\"id\":5,\"id\":\"x\",\"platform\":\"ios\"," + flat(["platform": "null"]).dropFirst()
        #expect(decode(record) == expected())
        let batch = "{\"events\":[1],\"events\":[\(flat())]}"
        #expect(decode(batch) == expected())
    }

    @Test func escapesAreResolved() {
        let record = flat(["platform": #""\u0041\n\"\\\/""#, "campaign_name": #""\ud83d\ude00 caf\u00e9 😀""#])
        #expect(decode(record) == expected(["platform": "A\n\"\\/", "campaign_name": "😀 café 😀"]))
        let escapedKey = flat(["platform": nil]).replacing("user_id", with: #"\u0075ser\u005fid"#)
        #expect(decode(escapedKey) == expected())
        #expect(decode(flat(["app_id": #""a\u0000b""#])) == expected(["app_id": "a\u{0}b"]))
    }

    @Test func edgesOfNumbers() {
        for time in ["0", "1", "2147483647", "-0"] {
            let text = time == "-0" ? "0" : time
            #expect(decode(flat(["time": time])) == expected(["time": text]))
        }
        for index in ["0", "null", "\"\""] { #expect(decode(flat(["conversion_behavior_index": index])) == expected()) }
        for index in ["1", "2", "3"] {
            let record = flat(["conversion_behavior_index": index])
            #expect(decode(record) == expected(["conversion_behavior_index": index]))
        }
        for flag in ["false", "null", "\"\""] { #expect(decode(flat(["in_control_group": flag])) == expected()) }
    }

    @Test func unknownFieldsMayHoldAnything() {
        let huge = "123456789012345678901234567890"
        for json in ["1e400", "-1E+999", huge, "[\(huge),{\"a\":-\(huge)}]", "18446744073709551615", "1.5", "{}"] {
            #expect(decode(flat(["custom": json])) == expected(), "\(json)")
            #expect(decode("{\"events\":[\(flat(["custom": json]))]}") == expected(), "\(json)")
        }
        #expect(decode(flat(["custom": "[\"\(huge)\", \"1e999 \\\" 5\", \(huge)]"])) == expected())
    }

    @Test func longFieldsUpToTheLimits() {
        let identifier = String(repeating: "x", count: 4096)
        let name = String(repeating: "n", count: 65535)
        let megabyte = String(repeating: "m", count: 1 << 20)
        let record = flat(["app_id": "\"\(identifier)\"", "button_string": "\"\(name)\"", "extras": "\"\(megabyte)\""])
        #expect(decode(record) == expected(["app_id": identifier, "button_string": name]))
    }

    @Test func paddedRecordsDecodeAlike() {
        let record = Array(Self.httpEvent.utf8)
        let padded = record + [UInt8](repeating: 0xFF, count: EventDecoder.padding)
        let decoder = EventDecoder()
        var event = Event()
        padded.withUnsafeBufferPointer { buffer in
            let value = ByteView(start: buffer.baseAddress, count: record.count)
            #expect(decoder.begin(value, padded: true) == .event)
            #expect(decoder.next(into: &event) == .event)
            #expect(summary(of: event) == Self.all)
            #expect(decoder.next(into: &event) == nil)
        }
    }
}
