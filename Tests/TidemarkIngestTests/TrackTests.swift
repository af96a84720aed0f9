import Foundation
import Testing
import TidemarkKafka
import TidemarkTestKit

@testable import TidemarkIngest

@Suite("Times as text")
struct EpochTimeTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("2026-01-01 00:00:00", 1_767_225_600),
            ("2026-01-01T01:30:00+01:30", 1_767_225_600), ("2025-12-31T19:00:00-0500", 1_767_225_600),
            ("2025-12-31t19:00:00-05", 1_767_225_600), ("2026-01-01T00:00:00.999Z", 1_767_225_600),
            ("2026-01-01T00:00:00:123+0000", 1_767_225_600), ("2024-02-29T12:34:56Z", 1_709_210_096),
            ("2000-02-29T00:00:00Z", 951_782_400), ("1969-12-31T23:59:59Z", -1),
            ("2038-01-19T03:14:07Z", 2_147_483_647),
        ] as [(String, Int64)])
    func timesAreRead(text: String, seconds: Int64) {
        #expect(EpochTime.seconds(Array(text.utf8)) == seconds)
    }

    @Test(arguments: [
        "", "2026-01-01", "2026-1-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00X", "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1",
        "2026-01-01T00:00:00+01:60", "1767225600", "2026-01-01T00:00Z",
    ])
    func whatIsNoTimeIsRefused(text: String) {
        #expect(EpochTime.seconds(Array(text.utf8)) == nil)
    }

    @Test func everyDayAgreesWithTheSystemsCalendar() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss'Z'"
        for day in stride(from: 0, to: 24_855, by: 13) {
            let seconds = Int64(day) * 86_400 + 3_661
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(EpochTime.seconds(Array(text.utf8)) == seconds, "\(text)")
        }
    }
}

@Suite("Posts in the shape of /users/track")
struct TrackConversionTests {
    private func convert(_ body: String, limit: Int = 1 << 20) throws -> (
        events: [[String: Any]], result: TrackConversion
    ) {
        let conversion = try Array(body.utf8).withUnsafeBytes { bytes throws(TrackConversion.Failure) in
            try TrackConversion(bytes, limit: limit)
        }
        let batch = try JSONSerialization.jsonObject(with: Data(conversion.batch)) as? [String: Any]
        return (batch?["events"] as? [[String: Any]] ?? [], conversion)
    }

    private let click =
        "{\"external_id\":\"cust-1\",\"app_id\":\"a-1\",\"name\":\"click \\u00e9\",\"time\":\"2026-01-01T00:00:00Z\","
        + "\"properties\":{\"n\":123456789012345678901234567890,\"x\":[1.50,\"}\"]}}"

    private func purchase(_ more: String = "") -> String {
        "{\"external_id\":\"cust-1\",\"product_id\":\"p-1\",\"currency\":\"EUR\",\"price\":3.10,\"time\":\"2026-01-01T00:00:01Z\"\(more)}"
    }

    @Test func anEventBecomesACustomEvent() throws {
        let (events, conversion) = try convert("{\"events\":[\(click)]}")
        #expect(conversion.result == TrackConversion.Result(events: 1))
        let event = try #require(events.first)
        #expect(event["event_type"] as? String == "users.behaviors.CustomEvent")
        #expect(event["time"] as? Int == 1_767_225_600)
        let user = event["user"] as? [String: String]
        #expect(user == ["user_id": "external:cust-1", "external_user_id": "cust-1"])
        let properties = try #require(event["properties"] as? [String: Any])
        #expect(properties["name"] as? String == "click é")
        #expect(properties["app_id"] as? String == "a-1")
        // As they were sent, to the digit.
        let text = String(decoding: conversion.batch, as: UTF8.self)
        #expect(text.contains("\"custom_properties\":{\"n\":123456789012345678901234567890,\"x\":[1.50,\"}\"]}"))
        let id = try #require(event["id"] as? String)
        #expect(
            id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil, "\(id)")
    }

    @Test func aPurchaseOfSeveralPiecesIsAsManyEvents() throws {
        let (events, conversion) = try convert(
            "{\"purchases\":[\(purchase(",\"quantity\":3,\"properties\":{\"k\":1}"))]}")
        #expect(conversion.result == TrackConversion.Result(purchases: 1))
        #expect(events.count == 3 && conversion.eventCount == 3)
        #expect(Set(events.compactMap { $0["id"] as? String }).count == 3)
        let properties = try #require(events[2]["properties"] as? [String: Any])
        #expect(properties["product_id"] as? String == "p-1")
        #expect(properties["price"] as? Double == 3.1)
        #expect(properties["currency"] as? String == "EUR")
        #expect((properties["purchase_properties"] as? [String: Int]) == ["k": 1])
    }

    @Test func usersAreNamedByWhatIsKnown() throws {
        let alias = "\"user_alias\":{\"alias_name\":\"n\",\"alias_label\":\"l\"}"
        let rest = "\"name\":\"x\",\"time\":\"2026-01-01T00:00:00Z\"}"
        let (events, _) = try convert(
            "{\"events\":[{\"braze_id\":\"b1\",\"external_id\":\"e\",\(rest),{\(alias),\(rest),{\"external_id\":\"e\",\(alias),\(rest)]}"
        )
        let users = events.compactMap { $0["user"] as? [String: String] }
        #expect(users.map { $0["user_id"] } == ["b1", "alias:l:n", "external:e"])
        #expect(users.map { $0["external_user_id"] } == ["e", nil, "e"])
    }

    @Test func aRepeatedPostGivesTheSameIdsAndARepeatedEntryDoesNot() throws {
        let body = "{\"events\":[\(click),\(click)],\"purchases\":[\(purchase()),\(purchase(",\"quantity\":1"))]}"
        func ids(_ body: String) throws -> [String] { try convert(body).events.compactMap { $0["id"] as? String } }
        let first = try ids(body)
        #expect(Set(first).count == 4)
        #expect(try ids(body) == first)
        #expect(try ids("{\"purchases\":[\(purchase())],\"events\":[\(click)]}") == [first[2], first[0]])
        // Whatever an entry says makes another one of it.
        let others = [
            "cust-1": "cust-2", "a-1": "a-2", "click": "clack", ":00Z": ":01Z", "1.50": "1.5", "\"}\"": "\"]\"",
        ]
        for (old, new) in others { #expect(try ids("{\"events\":[\(click.replacing(old, with: new))]}") != [first[0]]) }
    }

    @Test func whatIsWrongIsSaidOfEachEntry() throws {
        let bad = [
            "5", "{}", "{\"name\":\"x\",\"time\":\"2026-01-01T00:00:00Z\"}", "{\"external_id\":\"e\",\"name\":\"x\"}",
            "{\"external_id\":\"e\",\"name\":\"x\",\"time\":\"soon\"}",
            "{\"external_id\":5,\"name\":\"x\",\"time\":\"2026-01-01T00:00:00Z\"}",
            "{\"external_id\":\"e\",\"name\":\"x\",\"time\":\"1950-01-01T00:00:00Z\"}",
        ]
        let purchases = [
            purchase(",\"quantity\":0"), purchase(",\"quantity\":101"), purchase(",\"quantity\":1.5"),
            purchase(",\"price\":\"3\""),
            purchase(",\"currency\":\"EURO\""), purchase(",\"product_id\":\"\""),
        ]
        let (events, conversion) = try convert(
            "{\"events\":[\(click),\(bad.joined(separator: ","))],\"purchases\":[\(purchases.joined(separator: ","))],"
                + "\"attributes\":[{\"external_id\":\"e\",\"x\":1},{}],\"other\":[1]}")
        #expect(events.count == 1)
        #expect(conversion.result.events == 1 && conversion.result.purchases == 0 && conversion.result.attributes == 2)
        let problems = conversion.result.problems
        #expect(problems.prefix(7).map(\.index) == [1, 2, 3, 4, 5, 6, 7])
        #expect(problems.dropFirst(7).map(\.index) == [0, 1, 2, 3, 4, 5])
        #expect(
            problems.map(\.array) == [String](repeating: "events", count: 7)
                + [String](repeating: "purchases", count: 6))
        #expect(problems[1].message == "'name' is required")
        #expect(problems[2].message.hasPrefix("'external_id', 'braze_id' or 'user_alias'"))
        #expect(problems[3].message == "'time' is required")
        #expect(problems[9].message == "'quantity' must be a whole number from 1 to 100")
    }

    @Test(arguments: ["", "5", "[]", "{\"events\":[{]}", "{\"events\":[]} x", "{\"events\":[\"\u{1}\"]}"])
    func whatIsNoObjectIsUnreadable(body: String) {
        #expect(throws: TrackConversion.Failure.self) { try convert(body) }
    }

    @Test func manyPiecesDoNotMakeABomb() {
        let body = "{\"purchases\":[\((0..<50).map { _ in purchase(",\"quantity\":100") }.joined(separator: ","))]}"
        let failure = #expect(throws: TrackConversion.Failure.self) { try convert(body, limit: 100_000) }
        #expect(failure == .tooLarge)
    }

    @Test func theEndpointAnswersAsThatAPIDoes() throws {
        let endpoint = try TestEndpoint()
        let client = try endpoint.client()
        let good = client.post(
            "{\"events\":[\(click),{}],\"purchases\":[\(purchase())],\"attributes\":[{}]}", "/users/track")
        #expect(good?.status == 201)
        #expect(
            good?.body
                == "{\"message\":\"success\",\"events_processed\":1,\"purchases_processed\":1,\"attributes_skipped\":1,"
                + "\"errors\":[{\"type\":\"'name' is required\",\"input_array\":\"events\",\"index\":1}]}\n")
        #expect(endpoint.sink.sent.map(\.key) == ["external:cust-1", "external:cust-1"])
        #expect(endpoint.sink.sent.map(\.type) == ["users.behaviors.CustomEvent", "users.behaviors.Purchase"])
        #expect(endpoint.sink.sent.allSatisfy { $0.code == nil })
        let bad = client.post("{\"events\":[{}]}", "/users/track")
        #expect(bad?.status == 400)
        #expect(bad?.body.hasPrefix("{\"message\":\"'name' is required\",\"events_processed\":0,") == true)
        #expect(client.post("{\"attributes\":[{}]}", "/users/track")?.status == 201)
        #expect(client.post("[]", "/users/track")?.status == 400)
        let packed = client.post(
            gzip(Array("{\"events\":[\(click)]}".utf8)), "/users/track", "Content-Encoding: gzip\r\n")
        #expect(packed?.status == 201)
        #expect(endpoint.sink.sent.count == 3)
        endpoint.sink.fail(at: 3, .messageTimedOut)
        #expect(client.post("{\"events\":[\(click)]}", "/users/track")?.status == 503)
    }
}
