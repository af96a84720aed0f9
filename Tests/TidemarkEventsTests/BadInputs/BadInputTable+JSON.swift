import TidemarkEvents

/// Text, some bytes, text.
private func around(_ head: String, _ middle: [UInt8], _ tail: String) -> [UInt8] {
    Array(head.utf8) + middle + Array(tail.utf8)
}

/// What is no JSON, or not the JSON of a record.
extension BadInputTable {
    static let notJSON: [BadInputRow] = [
        BadInputRow(
            "nothing but space", "   \n", .malformed,
            "not valid JSON at byte 4 of 4: the JSON ends too soon; it may have been cut off"),
        BadInputRow(
            "no bytes", "", .malformed,
            "empty value: a record must hold a JSON object or array"),
        BadInputRow(
            "an open brace", "{", .malformed,
            "not valid JSON at byte 1 of 1: the JSON ends too soon; it may have been cut off"),
        BadInputRow(
            "an open bracket", "[", .malformed,
            "not valid JSON at byte 1 of 1: the JSON ends too soon; it may have been cut off"),
        BadInputRow(
            "a key without value", #"{"id":}"#, .malformed,
            "not valid JSON at byte 6 of 7: a value is expected here"),
        BadInputRow(
            "a comma too many in an object", #"{"id":1,}"#, .malformed,
            "not valid JSON at byte 8 of 9: a key in double quotes is expected here"),
        BadInputRow(
            "a comma too many in an array", "[1,]", .malformed,
            "not valid JSON at byte 3 of 4: a value is expected here"),
        BadInputRow(
            "no comma", "[1 2]", .malformed,
            "not valid JSON at byte 3 of 5: a comma or ] is expected here"),
        BadInputRow(
            "no colon", #"{"id" 1}"#, .malformed,
            "not valid JSON at byte 6 of 8: a colon is expected after the key"),
        BadInputRow(
            "keys without quotes", "{id:1}", .malformed,
            "not valid JSON at byte 1 of 6: a key in double quotes is expected here"),
        BadInputRow(
            "single quotes", "{'id':1}", .malformed,
            "not valid JSON at byte 1 of 8: a key in double quotes is expected here"),
        BadInputRow(
            "the wrong bracket", "[1}", .malformed,
            "not valid JSON at byte 2 of 3: a comma or ] is expected here"),
        BadInputRow(
            "two objects", "{} {}", .malformed,
            "not valid JSON at byte 3 of 5: nothing may follow the JSON; send one object or array per record"),
        BadInputRow(
            "text behind an object", "{}x", .malformed,
            "not valid JSON at byte 2 of 3: nothing may follow the JSON; send one object or array per record"),
        BadInputRow(
            "half a word", "nul", .malformed,
            "not valid JSON at byte 3 of 3: the JSON ends too soon; it may have been cut off"),
        BadInputRow(
            "a word in capitals", "[truE]", .malformed,
            "not valid JSON at byte 4 of 6: this is none of true, false and null"),
        BadInputRow(
            "NaN", "[NaN]", .malformed,
            "not valid JSON at byte 1 of 5: a value is expected here"),
        BadInputRow(
            "Infinity", "[-Infinity]", .malformed,
            "not valid JSON at byte 1 of 11: this is no number as JSON has them"),
        BadInputRow(
            "a leading zero", "[01]", .malformed,
            "not valid JSON at byte 1 of 4: this is no number as JSON has them"),
        BadInputRow(
            "no digit behind the point", "[1.]", .malformed,
            "not valid JSON at byte 3 of 4: this is no number as JSON has them"),
        BadInputRow(
            "no digit before the point", "[.5]", .malformed,
            "not valid JSON at byte 1 of 4: a value is expected here"),
        BadInputRow(
            "no digit in the exponent", "[1e]", .malformed,
            "not valid JSON at byte 3 of 4: this is no number as JSON has them"),
        BadInputRow(
            "a plus sign", "[+1]", .malformed,
            "not valid JSON at byte 1 of 4: a value is expected here"),
        BadInputRow(
            "a lone minus", "[-]", .malformed,
            "not valid JSON at byte 1 of 3: this is no number as JSON has them"),
        BadInputRow(
            "hexadecimal", "[0x10]", .malformed,
            "not valid JSON at byte 2 of 6: a comma or ] is expected here"),
        BadInputRow(
            "a comment", "// note", .malformed,
            "not valid JSON at byte 0 of 7: a value is expected here"),
        BadInputRow(
            "plain text", "not JSON at all", .malformed,
            "not valid JSON at byte 1 of 15: this is none of true, false and null"),
        BadInputRow(
            "a line of CSV", "users.canvas.Entry,e-1,u-7,1767225600", .malformed,
            "not valid JSON at byte 0 of 37: a value is expected here"),
        BadInputRow(
            "XML", #"<event id="e"/>"#, .malformed,
            "not valid JSON at byte 0 of 15: a value is expected here"),
        BadInputRow(
            "an unclosed text", #"{"id":"e"#, .malformed,
            "not valid JSON at byte 8 of 8: the JSON ends too soon; it may have been cut off"),
        BadInputRow(
            "an unknown escape", #"{"id":"\x41"}"#, .malformed,
            "not valid JSON at byte 7 of 13: there is no such escape in JSON"),
        BadInputRow(
            "an escape of three digits", #"{"id":"\u12G4"}"#, .malformed,
            "not valid JSON at byte 7 of 15: there is no such escape in JSON"),
        BadInputRow(
            "a high surrogate alone", #"{"id":"\ud800"}"#, .malformed,
            "not valid JSON at byte 7 of 15: this is half of a surrogate pair; both halves are needed, or UTF-8 instead"
        ),
        BadInputRow(
            "a low surrogate alone", #"{"id":"\udc00"}"#, .malformed,
            "not valid JSON at byte 7 of 15: this is half of a surrogate pair; both halves are needed, or UTF-8 instead"
        ),
        BadInputRow(
            "a high surrogate and no low one", #"{"id":"\ud800\u0041"}"#, .malformed,
            "not valid JSON at byte 7 of 21: this is half of a surrogate pair; both halves are needed, or UTF-8 instead"
        ),
        BadInputRow(
            "two high surrogates", #"{"id":"\ud83d\ud83d"}"#, .malformed,
            "not valid JSON at byte 7 of 21: this is half of a surrogate pair; both halves are needed, or UTF-8 instead"
        ),
        BadInputRow(
            "a line break in a text", "{\"id\":\"a\nb\"}", .malformed,
            #"not valid JSON at byte 8 of 12: control characters in a string have to be escaped, as in \n or \u0000"#),
        BadInputRow(
            "a NUL in a text", "{\"id\":\"a\u{0}b\"}", .malformed,
            #"not valid JSON at byte 8 of 12: control characters in a string have to be escaped, as in \n or \u0000"#),
        BadInputRow(
            "a NUL between tokens", "{\u{0}\"id\":1}", .malformed,
            "not valid JSON at byte 1 of 9: a key in double quotes is expected here"),
        BadInputRow(
            "a NUL at the end", "{}\u{0}", .malformed,
            "not valid JSON at byte 2 of 3: nothing may follow the JSON; send one object or array per record"),
        BadInputRow(
            "a byte order mark", "\u{FEFF}{}", .malformed,
            "not valid JSON at byte 0 of 5: leave out the byte order mark"),
    ]

    static let bytes: [BadInputRow] = [
        BadInputRow(
            "UTF-16, little endian", around("", [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00], ""), .malformed,
            "not valid JSON at byte 0 of 6: this looks like UTF-16; send UTF-8"),
        BadInputRow(
            "UTF-16, big endian", around("", [0xFE, 0xFF, 0x00, 0x7B, 0x00, 0x7D], ""), .malformed,
            "not valid JSON at byte 0 of 6: this looks like UTF-16; send UTF-8"),
        BadInputRow(
            "a byte that is never UTF-8", around(#"[""#, [0xFF], #""]"#), .malformed,
            "not valid JSON at byte 2 of 5: this is not UTF-8; send UTF-8"),
        BadInputRow(
            "Latin-1", around(#"["caf"#, [0xE9], #""]"#), .malformed,
            "not valid JSON at byte 5 of 8: this is not UTF-8; send UTF-8"),
        BadInputRow(
            "an overlong form", around(#"[""#, [0xC0, 0xAF], #""]"#), .malformed,
            "not valid JSON at byte 2 of 6: this is not UTF-8; send UTF-8"),
        BadInputRow(
            "a surrogate in UTF-8", around(#"[""#, [0xED, 0xA0, 0x80], #""]"#), .malformed,
            "not valid JSON at byte 2 of 7: this is not UTF-8; send UTF-8"),
        BadInputRow(
            "a character cut short", around(#"[""#, [0xE2, 0x82], #""]"#), .malformed,
            "not valid JSON at byte 2 of 6: this is not UTF-8; send UTF-8"),
        BadInputRow(
            "beyond Unicode", around(#"[""#, [0xF5, 0x80, 0x80, 0x80], #""]"#), .malformed,
            "not valid JSON at byte 2 of 8: this is not UTF-8; send UTF-8"),
        BadInputRow(
            "a character cut at the end", around(#"[""#, [0xE2, 0x82], ""), .malformed,
            "not valid JSON at byte 2 of 4: the JSON ends too soon; it may have been cut off"),
        BadInputRow(
            "Confluent framing", around("", [0x00, 0x00, 0x00, 0x00, 0x2A, 0x02], "a"), .unknownSchema,
            "schema id 42: no schema registry is configured to ask for it"),
        BadInputRow(
            "gzip", around("", [0x1F, 0x8B, 0x08, 0x00], ""), .malformed,
            "not valid JSON at byte 1 of 4: this is not UTF-8; send UTF-8"),
    ]

    static let nesting: [BadInputRow] = [
        BadInputRow(
            "nested 10,000 deep, arrays", String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000),
            .malformed,
            "not valid JSON at byte 1024 of 20000: objects and arrays are nested too deeply; 1,024 levels are read"),
        BadInputRow(
            "nested 10,000 deep, objects",
            String(repeating: "{\"a\":", count: 10_000) + "1" + String(repeating: "}", count: 10_000), .malformed,
            "not valid JSON at byte 5116 of 60001: objects and arrays are nested too deeply; 1,024 levels are read"),
        BadInputRow(
            "nested 10,000 deep and cut off", String(repeating: "[", count: 10_000), .malformed,
            "not valid JSON at byte 1024 of 10000: objects and arrays are nested too deeply; 1,024 levels are read"),
        BadInputRow(
            "5 MB", [UInt8](repeating: 0x20, count: 5_000_000), .tooLarge,
            "the record has 5000000 bytes, the limit is 4194304; send smaller batches or raise limits.record_bytes"),
    ]

    static let shapes: [BadInputRow] = [
        BadInputRow(
            "a number", "5", .badType,
            "the record is JSON, but neither an object nor an array of events; send an event as an object"),
        BadInputRow(
            "null", "null", .badType,
            "the record is JSON, but neither an object nor an array of events; send an event as an object"),
        BadInputRow(
            "true", "true", .badType,
            "the record is JSON, but neither an object nor an array of events; send an event as an object"),
        BadInputRow(
            "a text", "\"event\"", .badType,
            "the record is JSON, but neither an object nor an array of events; send an event as an object"),
        BadInputRow(
            "an empty object", "{}", .missingField,
            "event_type is missing; name the type in the record, in the type header, or by the topic"),
        BadInputRow(
            "events that are null", "{\"events\":null}", .missingField,
            "event_type is missing; name the type in the record, in the type header, or by the topic"),
        BadInputRow(
            "events that are no array", "{\"events\":{}}", .missingField,
            "event_type is missing; name the type in the record, in the type header, or by the topic"),
        BadInputRow(
            "a batch that holds a number", "{\"events\":[5]}", .badType,
            "an event must be a JSON object, found an integer"),
        BadInputRow(
            "an array that holds null", "[null]", .badType,
            "an event must be a JSON object, found null"),
        BadInputRow(
            "a batch in a batch", "{\"events\":[{\"events\":[]}]}", .badType,
            "a batch inside a batch: send its events in the outer one, or on their own"),
        BadInputRow(
            "an array in an array", "[[]]", .badType,
            "an event must be a JSON object, found an array"),
        BadInputRow(
            "an empty object with a type header", "{}", header: EventType.pushSend.wireName, .missingField,
            "id is missing; every event of this type must have it"),
        BadInputRow(
            "no type", flat(["event_type": nil]), .missingField,
            "event_type is missing; name the type in the record, in the type header, or by the topic"),
        BadInputRow(
            "a type that is null", flat(["event_type": "null"]), .missingField,
            "event_type is null; name the type in the record, in the type header, or by the topic"),
        BadInputRow(
            "a type that is empty", flat(["event_type": "\"\""]), .missingField,
            "event_type is empty; name the type in the record, in the type header, or by the topic"),
        BadInputRow(
            "a type that is a number", flat(["event_type": "5"]), .badType,
            "event_type must be a string or null, found an integer"),
        BadInputRow(
            "a type that is an object, and a header", flat(["event_type": "{}"]), header: "users.canvas.Entry",
            .badType,
            "event_type must be a string or null, found an object"),
        BadInputRow(
            "an HTTP event without user_id",
            #"{"event_type":"users.canvas.Entry","id":"e","time":1,"user":{"external_user_id":"x"},"properties":{}}"#,
            .missingField,
            "user_id is missing; every event of this type must have it"),
        BadInputRow(
            "an HTTP event with a number inside",
            #"{"event_type":"users.canvas.Entry","id":"e","time":1,"user":{"user_id":"u"},"properties":{"app_id":4}}"#,
            .badType,
            "app_id must be a string or null, found an integer"),
    ]
}
