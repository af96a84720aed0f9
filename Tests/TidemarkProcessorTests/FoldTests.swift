import Testing
import TidemarkProcessor
import TidemarkTestKit
import TidemarkWorkload

/// Cases in which folding too early, or forgetting too much, would show.
@Suite("Folding")
struct FoldTests {
    private static let start = 1_790_000_000
    private static let day = 86_400

    private static func push(
        _ kind: String, _ id: String, day days: Double, campaign: String, device: String? = nil
    ) -> SampleEvent {
        var event = SampleEvent(
            id: id, eventType: "users.messages.pushnotification.\(kind)", userID: "u",
            time: start + Int(days * Double(day)))
        event.appID = "app"
        event.campaignID = campaign
        event.dispatchID = campaign
        event.deviceID = device
        event.platform = "ios"
        return event
    }

    private static func session(
        _ id: String, day days: Double, user: String = "u", device: String? = nil, session: String? = nil
    ) -> SampleEvent {
        var event = SampleEvent(
            id: id, eventType: "users.behaviors.app.SessionStart", userID: user,
            time: start + Int(days * Double(day)))
        event.appID = "app"
        event.sessionID = session ?? id
        event.deviceID = device
        return event
    }

    /// Events in order, a commit after each, no lateness: the engine folds as early as it ever may.
    private func check(_ events: [SampleEvent], _ settings: PlainSettings, influenced: Int) throws {
        let driver = EngineDriver(settings, lateness: 0)
        driver.take(events, batch: 1)
        #expect(driver.counts.accepted == events.count)
        var truth = try PlainEvaluation(settings: settings, keepsOpens: true)
        truth.add(events)
        #expect(driver.rows() == String(decoding: truth.truth(), as: UTF8.self))
        #expect(truth.influencedOpens == influenced)
        #expect(driver.opens.values.count { $0.contains("\"kind\":\"influenced\"") } == influenced)
    }

    private var wide: PlainSettings {
        var settings = PlainSettings()
        settings.policy = .fixed
        settings.fixed = 7 * FoldTests.day
        return settings
    }

    @Test("a bounce of the Send that took an app open frees it for one that was sent a reach before")
    func competitorBounces() throws {
        try check(
            [
                Self.push("Send", "a", day: 0, campaign: "A"),
                Self.push("Send", "b", day: 6.9, campaign: "B"),
                Self.session("s", day: 6.95),
                // Later than span, reach, join and lateness after A's Send.
                Self.session("other", day: 13.8, user: "v"),
                Self.push("Bounce", "c", day: 13.85, campaign: "B"),
            ], wide, influenced: 1)
    }

    @Test("the device of an app open may be known a span after it began")
    func deviceKnownLater() throws {
        var settings = wide
        settings.model = .allRecent
        try check(
            [
                Self.push("Send", "a", day: 0, campaign: "A", device: "phone"),
                Self.session("s", day: 6.9),
                Self.session("other", day: 7.85, user: "v"),
                Self.session("t", day: 7.88, device: "tablet", session: "s"),
            ], settings, influenced: 0)
    }

    @Test("a source partition that lags behind, or has had no event, holds folding back until it is told to be further")
    func sourcesHoldBack() throws {
        let driver = EngineDriver(PlainSettings(), lateness: 0, sources: 3)
        for user in 0..<100 {
            driver.take(Self.session("s\(user)", day: 0, user: "u\(user)"), source: 0, mark: Self.start)
        }
        func goOn(from day: Int) {
            for step in 0..<40 {
                let time = Self.start + (day + step) * Self.day
                driver.take(Self.session("t\(day)-\(step)", day: Double(day + step), user: "v"), source: 1, mark: time)
                driver.commit()
            }
        }
        goOn(from: 200)
        #expect(driver.userCount == 101)
        driver.raise(source: 0, to: Self.start + 300 * Self.day)
        goOn(from: 240)
        #expect(driver.userCount == 101)
        driver.raise(source: 2, to: Self.start + 300 * Self.day)
        goOn(from: 280)
        #expect(driver.userCount == 1)
    }

    @Test("users that have nothing left are dropped, and counted once still")
    func usersGo() throws {
        let settings = PlainSettings()
        let driver = EngineDriver(settings, lateness: 0)
        for user in 0..<500 { driver.take(Self.session("s\(user)", day: 0, user: "u\(user)")) }
        driver.commit()
        #expect(driver.userCount == 500)
        let perUser = driver.stateBytes / 500
        #expect(perUser >= 64)
        for day in 1...200 {
            driver.take(Self.session("t\(day)", day: Double(day), user: "v"))
            driver.commit()
        }
        // `v`, whose sessions of the last months are history, is all that is left.
        #expect(driver.userCount == 1)
        #expect(driver.stateBytes > 0 && driver.stateBytes < 20 * perUser)
    }
}
