import TidemarkWorkload

/// What one user with very many events may do, so that everything depends on one thing that there is much of.
enum HotUserShape: String, CaseIterable {
    case sessionsAroundTheEndOfWindows
    case severalDevices
    case withoutDispatch
    case bouncesOfFewInstances
    case allWithinMinutes
    case instancesOfOneDispatch
    case severalRecentInstances
    case severalRecentWithShrinkingWindows
    case manyApps
    case manyMessagesADay
    case manyCampaigns
    case opensOverWeeks

    var settings: PlainSettings {
        var settings = PlainSettings()
        switch self {
        case .instancesOfOneDispatch:
            (settings.span, settings.cap, settings.fixed, settings.directJoin) = (10, 40, 20, 5)
        case .severalRecentInstances:
            (settings.model, settings.limit, settings.policy) = (.allRecent, 2, .fixed)
        case .severalRecentWithShrinkingWindows:
            (settings.model, settings.limit, settings.sessionMerge) = (.allRecent, 3, 0)
        case .sessionsAroundTheEndOfWindows, .severalDevices:
            settings.policy = .fixed
        case .manyCampaigns:
            (settings.span, settings.cap, settings.uniqueRetention) = (3_600, 7_200, 5 * 86_400)
        default: break
        }
        return settings
    }

    /// Seconds that the events spread over.
    private var horizon: Int {
        switch self {
        case .sessionsAroundTheEndOfWindows: 7_200
        case .severalDevices, .bouncesOfFewInstances, .severalRecentInstances: 20_000
        case .withoutDispatch: 10 * 86_400
        case .allWithinMinutes: 240
        case .instancesOfOneDispatch: 4_000
        case .severalRecentWithShrinkingWindows: 3 * 86_400
        case .manyApps: 40 * 86_400
        case .manyMessagesADay: 3 * 86_400
        case .manyCampaigns, .opensOverWeeks: 45 * 86_400
        }
    }

    /// Which events there are, by how often.
    private var types: [String] {
        switch self {
        case .sessionsAroundTheEndOfWindows, .severalDevices, .severalRecentInstances,
            .severalRecentWithShrinkingWindows:
            ["Send", "SessionStart"]
        case .withoutDispatch: ["Send", "Open", "Open", "Bounce", "SessionStart"]
        case .bouncesOfFewInstances: ["Send", "Send", "Bounce", "IosForeground", "SessionStart"]
        case .allWithinMinutes: ["Open", "Open", "SessionStart", "SessionStart", "Send"]
        case .instancesOfOneDispatch: ["Send", "Open", "Open", "Bounce", "SessionStart"]
        case .manyApps: ["Send", "SessionStart", "SessionStart", "Open"]
        case .manyMessagesADay, .manyCampaigns: ["Send", "Send", "Open", "SessionStart"]
        case .opensOverWeeks: ["Open", "Open", "Send", "SessionStart"]
        }
    }

    /// Events in order of time.
    func events(_ count: Int, seed: UInt64) -> [SampleEvent] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { number in
            let type = types.randomElement(using: &random)!
            let isSession = type == "SessionStart"
            let family = isSession ? "users.behaviors.app." : "users.messages.pushnotification."
            var event = SampleEvent(
                id: "e\(number)", eventType: family + type, userID: "hot",
                time: 1_790_000_000 + number * horizon / count)
            event.appID = "app"
            if isSession {
                event.sessionID = "s\(number)"
            } else {
                event.campaignID = "campaign"
                event.platform = ["ios", "android"].randomElement(using: &random)
            }
            vary(&event, number, &random)
            return event
        }
    }

    private func vary(_ event: inout SampleEvent, _ number: Int, _ random: inout SplitMix64) {
        let isSession = event.sessionID != nil
        func device(of count: Int) -> String? {
            let number = Int.random(in: 0...count, using: &random)
            return number == 0 ? nil : "device\(number)"
        }
        switch self {
        case .sessionsAroundTheEndOfWindows:
            if !isSession { event.dispatchID = "d\(number)" }
        case .severalDevices:
            event.deviceID = device(of: 3)
            if !isSession { event.dispatchID = "d\(number)" }
        case .withoutDispatch:
            event.deviceID = device(of: 3)
        case .bouncesOfFewInstances:
            // As many devices that only a Bounce names, and some that none does.
            event.deviceID = device(of: event.eventType.hasSuffix("Send") || isSession ? 400 : 200)
            if !isSession { event.dispatchID = "d\(number % 40)" }
            if !isSession, event.deviceID == nil, !event.eventType.hasSuffix("Send") { event.deviceID = "another" }
        case .allWithinMinutes:
            event.appID = "app\(Int.random(in: 0..<12, using: &random))"
            event.deviceID = device(of: 40)
            if !isSession { event.dispatchID = "\(event.eventType)-\(number % 50)" }
        case .instancesOfOneDispatch:
            event.dispatchID = isSession ? nil : "d\(Int.random(in: 0...1, using: &random))"
            // Now and then nothing is sent for longer than the reach.
            if event.eventType.hasSuffix("Send"), event.time % 400 > 200 { event.dispatchID = "other" }
        case .severalRecentInstances, .severalRecentWithShrinkingWindows:
            event.deviceID = device(of: 2)
            if !isSession { event.dispatchID = "d\(Int.random(in: 0...4, using: &random))" }
            if !isSession, number % 7 == 0 { event.dispatchID = "d\(number)" }
        case .manyApps:
            event.appID = "app\(Int.random(in: 0..<400, using: &random))"
        case .manyMessagesADay:
            if !isSession { event.messageVariationID = "variation\(Int.random(in: 0..<300, using: &random))" }
        case .manyCampaigns:
            if !isSession { event.campaignID = "campaign\(Int.random(in: 0..<300, using: &random))" }
        case .opensOverWeeks:
            if number % 97 == 0 { event.externalUserID = "external\(number)" }
        }
    }
}
