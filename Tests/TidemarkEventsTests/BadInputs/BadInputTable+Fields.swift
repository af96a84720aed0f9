import TidemarkEvents

/// A whole record with one more member.
private func repeating(_ member: String) -> String { String(flat().dropLast()) + "," + member + "}" }

/// JSON whose fields are not as they must be.
extension BadInputTable {
    static let fields: [BadInputRow] = [
        BadInputRow(
            "id: absent", flat(["id": nil]), .missingField,
            "id is missing; every event of this type must have it"),
        BadInputRow(
            "id: null", flat(["id": "null"]), .missingField,
            "id is null; every event of this type must have it"),
        BadInputRow(
            "id: empty", flat(["id": "\"\""]), .missingField,
            "id is empty; every event of this type must have it"),
        BadInputRow(
            "id: an empty text in a union", flat(["id": "{\"string\":\"\"}"]), .missingField,
            "id is empty; every event of this type must have it"),
        BadInputRow(
            "id: a boolean", flat(["id": "true"]), .badType,
            "id must be a string, found a boolean"),
        BadInputRow(
            "id: an array", flat(["id": "[]"]), .badType,
            "id must be a string, found an array"),
        BadInputRow(
            "id: an object", flat(["id": "{}"]), .badType,
            "id must be a string, found an object"),
        BadInputRow(
            "id: a fraction", flat(["id": "1.5"]), .badType,
            "id must be a string, found a number that is not written as an integer, or is beyond 64 bits"),
        BadInputRow(
            "id: another union", flat(["id": "{\"record\":\"x\"}"]), .badType,
            "id must be a string, found an object"),
        BadInputRow(
            "id: a union of two", flat(["id": "{\"string\":\"x\",\"int\":1}"]), .badType,
            "id must be a string, found an object"),
        BadInputRow(
            "id: an integer", flat(["id": "7"]), .badType,
            "id must be a string, found an integer"),
        BadInputRow(
            "user_id: absent", flat(["user_id": nil]), .missingField,
            "user_id is missing; every event of this type must have it"),
        BadInputRow(
            "user_id: null", flat(["user_id": "null"]), .missingField,
            "user_id is null; every event of this type must have it"),
        BadInputRow(
            "user_id: empty", flat(["user_id": "\"\""]), .missingField,
            "user_id is empty; every event of this type must have it"),
        BadInputRow(
            "user_id: an empty text in a union", flat(["user_id": "{\"string\":\"\"}"]), .missingField,
            "user_id is empty; every event of this type must have it"),
        BadInputRow(
            "user_id: a boolean", flat(["user_id": "true"]), .badType,
            "user_id must be a string, found a boolean"),
        BadInputRow(
            "user_id: an array", flat(["user_id": "[]"]), .badType,
            "user_id must be a string, found an array"),
        BadInputRow(
            "user_id: an object", flat(["user_id": "{}"]), .badType,
            "user_id must be a string, found an object"),
        BadInputRow(
            "user_id: a fraction", flat(["user_id": "1.5"]), .badType,
            "user_id must be a string, found a number that is not written as an integer, or is beyond 64 bits"),
        BadInputRow(
            "user_id: another union", flat(["user_id": "{\"record\":\"x\"}"]), .badType,
            "user_id must be a string, found an object"),
        BadInputRow(
            "user_id: a union of two", flat(["user_id": "{\"string\":\"x\",\"int\":1}"]), .badType,
            "user_id must be a string, found an object"),
        BadInputRow(
            "user_id: an integer", flat(["user_id": "7"]), .badType,
            "user_id must be a string, found an integer"),
        BadInputRow(
            "time: absent", flat(["time": nil]), .missingField,
            "time is missing; every event of this type must have it"),
        BadInputRow(
            "time: null", flat(["time": "null"]), .missingField,
            "time is null; every event of this type must have it"),
        BadInputRow(
            "time: empty", flat(["time": "\"\""]), .missingField,
            "time is empty; every event of this type must have it"),
        BadInputRow(
            "time: an empty text in a union", flat(["time": "{\"string\":\"\"}"]), .missingField,
            "time is empty; every event of this type must have it"),
        BadInputRow(
            "time: a boolean", flat(["time": "true"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a boolean"),
        BadInputRow(
            "time: an array", flat(["time": "[]"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found an array"),
        BadInputRow(
            "time: an object", flat(["time": "{}"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found an object"),
        BadInputRow(
            "time: a fraction", flat(["time": "1.5"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "time: another union", flat(["time": "{\"record\":\"x\"}"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found an object"),
        BadInputRow(
            "time: a union of two", flat(["time": "{\"string\":\"x\",\"int\":1}"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found an object"),
        BadInputRow(
            "time: a text", flat(["time": "\"1767225600\""]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a string"),
        BadInputRow(
            "session_id of firstSession: absent", flat(type: .firstSession), .missingField,
            "session_id is missing; every event of this type must have it"),
        BadInputRow(
            "session_id of firstSession: null", flat(["session_id": "null"], type: .firstSession), .missingField,
            "session_id is null; every event of this type must have it"),
        BadInputRow(
            "session_id of firstSession: empty", flat(["session_id": "\"\""], type: .firstSession), .missingField,
            "session_id is empty; every event of this type must have it"),
        BadInputRow(
            "session_id of firstSession: an integer", flat(["session_id": "7"], type: .firstSession), .badType,
            "session_id must be a string, found an integer"),
        BadInputRow(
            "session_id of sessionStart: absent", flat(type: .sessionStart), .missingField,
            "session_id is missing; every event of this type must have it"),
        BadInputRow(
            "session_id of sessionStart: null", flat(["session_id": "null"], type: .sessionStart), .missingField,
            "session_id is null; every event of this type must have it"),
        BadInputRow(
            "session_id of sessionStart: empty", flat(["session_id": "\"\""], type: .sessionStart), .missingField,
            "session_id is empty; every event of this type must have it"),
        BadInputRow(
            "session_id of sessionStart: an integer", flat(["session_id": "7"], type: .sessionStart), .badType,
            "session_id must be a string, found an integer"),
        BadInputRow(
            "external_user_id: an integer", flat(["external_user_id": "12"]), .badType,
            "external_user_id must be a string or null, found an integer"),
        BadInputRow(
            "external_user_id: an array", flat(["external_user_id": "[\"x\"]"]), .badType,
            "external_user_id must be a string or null, found an array"),
        BadInputRow(
            "app_id: an integer", flat(["app_id": "12"]), .badType,
            "app_id must be a string or null, found an integer"),
        BadInputRow(
            "app_id: an array", flat(["app_id": "[\"x\"]"]), .badType,
            "app_id must be a string or null, found an array"),
        BadInputRow(
            "device_id: an integer", flat(["device_id": "12"]), .badType,
            "device_id must be a string or null, found an integer"),
        BadInputRow(
            "device_id: an array", flat(["device_id": "[\"x\"]"]), .badType,
            "device_id must be a string or null, found an array"),
        BadInputRow(
            "dispatch_id: an integer", flat(["dispatch_id": "12"]), .badType,
            "dispatch_id must be a string or null, found an integer"),
        BadInputRow(
            "dispatch_id: an array", flat(["dispatch_id": "[\"x\"]"]), .badType,
            "dispatch_id must be a string or null, found an array"),
        BadInputRow(
            "platform: an integer", flat(["platform": "12"]), .badType,
            "platform must be a string or null, found an integer"),
        BadInputRow(
            "platform: an array", flat(["platform": "[\"x\"]"]), .badType,
            "platform must be a string or null, found an array"),
        BadInputRow(
            "button_action_type: an integer", flat(["button_action_type": "12"]), .badType,
            "button_action_type must be a string or null, found an integer"),
        BadInputRow(
            "button_action_type: an array", flat(["button_action_type": "[\"x\"]"]), .badType,
            "button_action_type must be a string or null, found an array"),
        BadInputRow(
            "button_string: an integer", flat(["button_string": "12"]), .badType,
            "button_string must be a string or null, found an integer"),
        BadInputRow(
            "button_string: an array", flat(["button_string": "[\"x\"]"]), .badType,
            "button_string must be a string or null, found an array"),
        BadInputRow(
            "button_id: an integer", flat(["button_id": "12"]), .badType,
            "button_id must be a string or null, found an integer"),
        BadInputRow(
            "button_id: an array", flat(["button_id": "[\"x\"]"]), .badType,
            "button_id must be a string or null, found an array"),
        BadInputRow(
            "campaign_id: an integer", flat(["campaign_id": "12"]), .badType,
            "campaign_id must be a string or null, found an integer"),
        BadInputRow(
            "campaign_id: an array", flat(["campaign_id": "[\"x\"]"]), .badType,
            "campaign_id must be a string or null, found an array"),
        BadInputRow(
            "message_variation_id: an integer", flat(["message_variation_id": "12"]), .badType,
            "message_variation_id must be a string or null, found an integer"),
        BadInputRow(
            "message_variation_id: an array", flat(["message_variation_id": "[\"x\"]"]), .badType,
            "message_variation_id must be a string or null, found an array"),
        BadInputRow(
            "canvas_id: an integer", flat(["canvas_id": "12"]), .badType,
            "canvas_id must be a string or null, found an integer"),
        BadInputRow(
            "canvas_id: an array", flat(["canvas_id": "[\"x\"]"]), .badType,
            "canvas_id must be a string or null, found an array"),
        BadInputRow(
            "canvas_variation_id: an integer", flat(["canvas_variation_id": "12"]), .badType,
            "canvas_variation_id must be a string or null, found an integer"),
        BadInputRow(
            "canvas_variation_id: an array", flat(["canvas_variation_id": "[\"x\"]"]), .badType,
            "canvas_variation_id must be a string or null, found an array"),
        BadInputRow(
            "canvas_step_id: an integer", flat(["canvas_step_id": "12"]), .badType,
            "canvas_step_id must be a string or null, found an integer"),
        BadInputRow(
            "canvas_step_id: an array", flat(["canvas_step_id": "[\"x\"]"]), .badType,
            "canvas_step_id must be a string or null, found an array"),
        BadInputRow(
            "campaign_name: an integer", flat(["campaign_name": "12"]), .badType,
            "campaign_name must be a string or null, found an integer"),
        BadInputRow(
            "campaign_name: an array", flat(["campaign_name": "[\"x\"]"]), .badType,
            "campaign_name must be a string or null, found an array"),
        BadInputRow(
            "message_variation_name: an integer", flat(["message_variation_name": "12"]), .badType,
            "message_variation_name must be a string or null, found an integer"),
        BadInputRow(
            "message_variation_name: an array", flat(["message_variation_name": "[\"x\"]"]), .badType,
            "message_variation_name must be a string or null, found an array"),
        BadInputRow(
            "canvas_name: an integer", flat(["canvas_name": "12"]), .badType,
            "canvas_name must be a string or null, found an integer"),
        BadInputRow(
            "canvas_name: an array", flat(["canvas_name": "[\"x\"]"]), .badType,
            "canvas_name must be a string or null, found an array"),
        BadInputRow(
            "canvas_variation_name: an integer", flat(["canvas_variation_name": "12"]), .badType,
            "canvas_variation_name must be a string or null, found an integer"),
        BadInputRow(
            "canvas_variation_name: an array", flat(["canvas_variation_name": "[\"x\"]"]), .badType,
            "canvas_variation_name must be a string or null, found an array"),
        BadInputRow(
            "canvas_step_name: an integer", flat(["canvas_step_name": "12"]), .badType,
            "canvas_step_name must be a string or null, found an integer"),
        BadInputRow(
            "canvas_step_name: an array", flat(["canvas_step_name": "[\"x\"]"]), .badType,
            "canvas_step_name must be a string or null, found an array"),
        BadInputRow(
            "in_control_group: an integer", flat(["in_control_group": "1"]), .badType,
            "in_control_group must be true, false or null, found an integer"),
        BadInputRow(
            "in_control_group: a text", flat(["in_control_group": "\"true\""]), .badType,
            "in_control_group must be true, false or null, found a string"),
    ]

    static let numbers: [BadInputRow] = [
        BadInputRow(
            "time: -1", flat(["time": "-1"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found -1"),
        BadInputRow(
            "time: 2147483648", flat(["time": "2147483648"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found 2147483648"),
        BadInputRow(
            "time: 4294967296", flat(["time": "4294967296"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found 4294967296"),
        BadInputRow(
            "time: 9223372036854775807", flat(["time": "9223372036854775807"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found 9223372036854775807 or more"),
        BadInputRow(
            "time: -9223372036854775808", flat(["time": "-9223372036854775808"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found -9223372036854775808"),
        BadInputRow(
            "time: 18446744073709551615", flat(["time": "18446744073709551615"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found 9223372036854775807 or more"),
        BadInputRow(
            "time: 123456789012345678901234567890", flat(["time": "123456789012345678901234567890"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "time: milliseconds", flat(["time": "1767225600000"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found 1767225600000; milliseconds have to be divided by 1,000"
        ),
        BadInputRow(
            "time: -0.0", flat(["time": "-0.0"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "time: 0.0", flat(["time": "0.0"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "time: 1767225600.0", flat(["time": "1767225600.0"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "time: 1e3", flat(["time": "1e3"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "time: 1e400", flat(["time": "1e400"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "time: -1e400", flat(["time": "-1e400"]), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "conversion_behavior_index: -1", flat(["conversion_behavior_index": "-1"]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found -1"),
        BadInputRow(
            "conversion_behavior_index: 4", flat(["conversion_behavior_index": "4"]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found 4"),
        BadInputRow(
            "conversion_behavior_index: 256", flat(["conversion_behavior_index": "256"]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found 256"),
        BadInputRow(
            "conversion_behavior_index: 4294967296", flat(["conversion_behavior_index": "4294967296"]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found 4294967296"),
        BadInputRow(
            "conversion_behavior_index: 1.0", flat(["conversion_behavior_index": "1.0"]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "conversion_behavior_index: 1e0", flat(["conversion_behavior_index": "1e0"]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found a number that is not written as an integer, or is beyond 64 bits"
        ),
        BadInputRow(
            "conversion_behavior_index: 9223372036854775807",
            flat(["conversion_behavior_index": "9223372036854775807"]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found 9223372036854775807 or more"),
        BadInputRow(
            "conversion_behavior_index: a text", flat(["conversion_behavior_index": "\"1\""]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found a string"),
        BadInputRow(
            "conversion_behavior_index: a boolean", flat(["conversion_behavior_index": "true"]), .badType,
            "conversion_behavior_index must be an integer 0 to 3, or null, found a boolean"),
    ]

    static let duplicates: [BadInputRow] = [
        BadInputRow(
            "id twice, then null", repeating(#""id":null"#), .missingField,
            "id is null; every event of this type must have it"),
        BadInputRow(
            "time twice, then a text", repeating(#""time":"now""#), .badType,
            "time must be an integer: seconds since the epoch, 0 to 2147483647, found a string"),
        BadInputRow(
            "user_id twice, then empty", repeating(#""user_id":"""#), .missingField,
            "user_id is empty; every event of this type must have it"),
    ]

    static let lengths: [BadInputRow] = [
        BadInputRow(
            "an id of 1 MB", flat(["id": "\"\(String(repeating: "i", count: 1 << 20))\""]), .tooLarge,
            "id has 1048576 bytes, the limit is 4096; shorten it"),
        BadInputRow(
            "an id of 4,097 bytes", flat(["id": "\"\(String(repeating: "i", count: 4_097))\""]), .tooLarge,
            "id has 4097 bytes, the limit is 4096; shorten it"),
        BadInputRow(
            "an id of 4,098 bytes in 2,049 characters", flat(["id": "\"\(String(repeating: "é", count: 2_049))\""]),
            .tooLarge,
            "id has 4098 bytes, the limit is 4096; shorten it"),
        BadInputRow(
            "an external_user_id of 1 MB", flat(["external_user_id": "\"\(String(repeating: "i", count: 1 << 20))\""]),
            .tooLarge,
            "external_user_id has 1048576 bytes, the limit is 4096; shorten it"),
        BadInputRow(
            "a campaign_name of 64 KiB", flat(["campaign_name": "\"\(String(repeating: "n", count: 65_536))\""]),
            .tooLarge,
            "campaign_name has 65536 bytes, the limit is 65535; shorten it"),
        BadInputRow(
            "a button_string of 1 MB", flat(["button_string": "\"\(String(repeating: "n", count: 1 << 20))\""]),
            .tooLarge,
            "button_string has 1048576 bytes, the limit is 65535; shorten it"),
    ]
}
