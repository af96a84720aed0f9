import Testing
import TidemarkWorkload

@Suite("The plain evaluation")
struct PlainEvaluationTests {
    private let time = 1_796_000_000

    @Test("A row is printed as the report rules say")
    func record() throws {
        var evaluation = try PlainEvaluation(settings: PlainSettings())
        var open = event("o", .open, at: 60)
        open.buttonActionType = "URI"
        open.buttonString = "Say \"hi\"\\\u{1}\t"
        evaluation.add(user: [event("s", .send, at: 0), open])
        let rows = evaluation.rows()
        #expect(rows.map(\.kind) == ["message_day", "campaign_day", "campaign_total"])
        #expect(rows[0].recordKey == #"["message_day","push","c",null,null,null,null,"ios","2026-11-30"]"#)
        #expect(
            rows[0].record == #"{"row":"message_day","channel":"push","campaign_id":"c","message_variation_id":null,"#
                + #""canvas_id":null,"canvas_variation_id":null,"canvas_step_id":null,"platform":"ios","#
                + #""day":"2026-11-30","time_zone":"UTC","campaign_name":"Été","message_variation_name":null,"#
                + #""canvas_name":null,"canvas_variation_name":null,"canvas_step_name":null,"#
                + #""attribution":{"model":"last_push","window":"longer","rules":1},"#
                + #""metrics":{"sends":1,"bounces":0,"deliveries":1,"direct_opens":1,"influenced_opens":0,"#
                + #""total_opens":1,"body_clicks":0,"button_clicks":{"Say \"hi\"\\\u0001\t":1},"#
                + #""ios_foregrounds":0,"aborts":0,"retries":0,"unique_recipients":1,"unique_direct_opens":1,"#
                + #""unique_influenced_opens":0,"unique_opens":1,"bounces_by_send_time":0,"#
                + #""direct_opens_by_send_time":1,"influenced_opens_by_send_time":0}}"#)
        let total = try #require(rows.last)
        #expect(total.metric("direct_opens") == 1)
        #expect(total.metric("direct_opens_by_send_time") == nil)
        #expect(total.record.contains(#""platform":null,"day":null,"time_zone":null"#))
        let lines = rows.map { $0.record + "\n" }.joined()
        #expect(evaluation.truth() == Array(lines.utf8))
    }

    @Test("What is not accepted changes nothing")
    func notAccepted() throws {
        var evaluation = try PlainEvaluation(settings: PlainSettings())
        var renamed = event("s", .send, at: 0)
        renamed.campaignName = "never seen"
        var unknown = event("x", .send, at: 10)
        unknown.eventType = "users.messages.sms.Send"
        unknown.campaignName = "never seen"
        var wrong = event("w", .conversion, at: 10)
        wrong.conversionBehaviorIndex = 4
        let events = [event("s", .send, at: 0), renamed, unknown, wrong, event("n", .session, at: 20)]
        evaluation.add(user: events)
        #expect(evaluation.rows().count == 3)
        #expect(evaluation.rows().allSatisfy { $0.record.contains(#""campaign_name":"Été""#) })
        #expect(evaluation.influencedOpens == 0)
    }

    @Test("An open names the external id that was last known a span after it")
    func externalID() throws {
        var evaluation = try PlainEvaluation(settings: PlainSettings(), keepsOpens: true)
        let known = [0: "early", 60 + 86_400: "due", 60 + 86_401: "late"]
        var events = [event("o", .open, at: 60)]
        for (offset, name) in known {
            var send = event("s\(offset)", .send, at: offset)
            send.externalUserID = name
            send.dispatchID = "d\(offset)"
            events.append(send)
        }
        evaluation.add(user: events)
        #expect(evaluation.opens(of: "u").map(\.externalUserID) == ["due"])
    }

    @Test("In a total a user counts anew after a pause longer than the retention")
    func retention() throws {
        var settings = PlainSettings()
        settings.uniqueRetention = 100
        var evaluation = try PlainEvaluation(settings: settings)
        evaluation.add(user: [0, 100, 201, 250].map { event("s\($0)", .send, at: $0) })
        #expect(evaluation.rows().map { $0.metric("unique_recipients") } == [1, 1, 2])
    }

    @Test("Several Sends of one instance take up one place of the limit")
    func limit() throws {
        var settings = PlainSettings()
        settings.model = .allRecent
        settings.limit = 2
        var evaluation = try PlainEvaluation(settings: settings, keepsOpens: true)
        var earlier = event("s1", .send, at: 0)
        earlier.dispatchID = "other"
        var phone = event("s2", .send, at: 10)
        phone.deviceID = "phone"
        var tablet = event("s3", .send, at: 11)
        tablet.deviceID = "tablet"
        var session = event("n", .session, at: 20)
        session.sessionID = "n"
        evaluation.add(user: [earlier, phone, tablet, session])
        #expect(Set(evaluation.opens(of: "u").map(\.sendEventID)) == ["s1", "s3"])
    }

    @Test("Ids are equal only byte by byte")
    func bytes() throws {
        var evaluation = try PlainEvaluation(settings: PlainSettings())
        var composed = event("1", .send, at: 0)
        composed.campaignID = "é"
        var decomposed = event("2", .send, at: 0)
        decomposed.campaignID = "e\u{301}"
        evaluation.add(user: [composed, decomposed])
        #expect(evaluation.rows().count == 6)
    }

    @Test("An unknown zone or setting is refused")
    func refusals() {
        var settings = PlainSettings()
        settings.timeZone = "Mars/Olympus"
        let error = #expect(throws: UnknownTimeZone.self) { try PlainEvaluation(settings: settings) }
        #expect(error?.name == "Mars/Olympus")
        #expect(PlainSettings(vector: ["windows": 1]) == nil)
        #expect(PlainSettings(vector: ["fixed": "long"]) == nil)
        #expect(PlainSettings(vector: ["fixed": 60])?.fixed == 60)
    }

    private enum Kind: String {
        case send = "users.messages.pushnotification.Send"
        case open = "users.messages.pushnotification.Open"
        case session = "users.behaviors.app.SessionStart"
        case conversion = "users.campaigns.Conversion"
    }

    private func event(_ id: String, _ kind: Kind, at offset: Int) -> SampleEvent {
        var event = SampleEvent(id: id, eventType: kind.rawValue, userID: "u", time: time + offset)
        event.appID = "a"
        event.platform = "IOS"
        event.campaignID = "c"
        event.campaignName = "Été"
        event.dispatchID = "d"
        return event
    }
}
