/// Draws the events of an edge stream one by one.
struct EdgeEventMaker {
    private let settings: PlainSettings
    private let begin: Int
    private let end: Int
    /// The distances that rules turn on, in seconds.
    private let distances: [Int]
    /// What ids are drawn from: some streams have few that meet all the time, others many.
    private let apps: [String?]
    private let dispatches: [String?]
    private let sessionCount: Int
    private var random: SplitMix64
    /// The times so far, which later ones keep a distance to.
    private var times: [Int] = []
    /// The times of the Sends among them.
    private var sendTimes: [Int] = []
    /// The number of events of each user so far.
    private var userCounts: [Int]

    /// Moments with something special around them: ends of months and years, a leap day, clock changes.
    private static let moments = [
        1_709_251_200,  // 2024-03-01 00:00 UTC, after a leap day
        1_735_689_600,  // 2025-01-01 00:00 UTC
        1_741_503_600,  // 2025-03-09 07:00 UTC, clocks go forward in New York
        1_743_865_200,  // 2025-04-05 15:00 UTC, clocks go back by half an hour on Lord Howe
        1_754_006_400,  // 2025-08-01 00:00 UTC
        1_761_440_400,  // 2025-10-26 01:00 UTC, clocks go back in Berlin
    ]

    init(settings: PlainSettings, horizon: Int, random: SplitMix64) {
        self.settings = settings
        self.random = random
        let moment = self.random.pick(Self.moments)
        begin = moment - self.random.below(horizon + 1)
        end = begin + horizon
        userCounts = Array(repeating: 0, count: self.random.pick([1, 1, 2, 3]))
        let edges = [
            0, 60, 3_600, 86_400, settings.fixed, settings.cap, settings.reach, settings.span, settings.directJoin,
            settings.sessionMerge, settings.reach + settings.span, settings.uniqueRetention,
        ]
        distances = edges.flatMap { [$0 - 1, $0, $0, $0 + 1] }
        apps = self.random.pick([["A"], ["A", "A", "A", "B", nil, ""]])
        let many = (0..<30).map { Optional("p\($0)") }
        dispatches = self.random.pick([["p", "p", "q", "r", nil, ""], many + [nil, "", nil], many])
        sessionCount = self.random.pick([5, 14, 60])
        times.append(moment)
    }

    /// How often an event comes.
    mutating func copies() -> Int { random.chance(0.06) ? random.number(2...3) : 1 }

    /// How many seconds after its time a record comes.
    mutating func delay(atMost limit: Int) -> Int { random.chance(0.5) ? 0 : random.number(0...limit) }

    /// A place in an arbitrary order.
    mutating func place() -> Int { Int(random.next() >> 2) }

    mutating func next() -> SampleEvent {
        let type = random.pick(Self.types)
        let user = random.below(userCounts.count)
        userCounts[user] += 1
        // The first letter keeps the order of ids apart from the order of events; two users may share an id.
        let id = random.pick(["a", "m", "z", "Z", "é"]) + String(userCounts[user])
        var event = SampleEvent(id: id, eventType: type, userID: "u\(user)", time: time(of: type))
        event.externalUserID = random.pick([nil, nil, "", "x1", "x2"])
        event.appID = random.pick(apps)
        event.deviceID = random.pick(["d1", "d1", "d1", "d2", nil, ""])
        event.platform = random.pick([
            "ios", "ios", "ios", "iOS", "ANDROID", "android", "android", "web", "Roku", nil, "",
        ])
        if type.hasPrefix(Self.sessionTypes) {
            event.sessionID = "s\(random.below(sessionCount))"
        } else {
            addMessage(to: &event)
            addDetails(to: &event)
        }
        return event
    }

    /// Most times keep one of the distances to an earlier one, some sit around a midnight, the rest are anywhere.
    private mutating func time(of type: String) -> Int {
        let kind = random.below(10)
        var time = random.number(begin...end)
        if kind < 5, type.hasPrefix(Self.sessionTypes), !sendTimes.isEmpty {
            time = random.pick(sendTimes) + random.pick(distances)
        } else if kind < 7 {
            let distance = random.pick(distances)
            time = random.pick(times) + (random.chance(0.7) ? distance : -distance)
        } else if kind == 7 {
            time = time.floorDivided(by: 1_800) * 1_800 + random.number(-1...1)
        }
        if time < begin || time > end { time = random.pick(times) }
        time = min(max(time, begin), end)
        times.append(time)
        if type == PlainEventType.pushSend.rawValue { sendTimes.append(time) }
        return time
    }

    private mutating func addMessage(to event: inout SampleEvent) {
        let kind = random.below(20)
        if kind < 12 || kind == 19 {
            event.campaignID = random.pick(["c1", "c1", "c2", "c\"3\\"])
            event.messageVariationID = random.pick(["v1", "v1", "é", "e\u{301}", nil, ""])
        }
        if (12..<17).contains(kind) || kind == 19 {
            event.canvasID = random.pick(["n1", "n1", "n2"])
            event.canvasVariationID = random.pick(["x", "y", nil])
            event.canvasStepID = random.pick(["s", "t", nil, ""])
        }
        if kind == 18 {
            event.campaignID = ""
            event.messageVariationID = "v1"
            event.canvasStepID = "s"
        }
        for name in Self.names where random.chance(0.3) {
            event[keyPath: name] = random.pick(["old", "new", "Ümlaut", "tab\t\u{1}", "", nil])
        }
    }

    private mutating func addDetails(to event: inout SampleEvent) {
        event.dispatchID = random.pick(dispatches)
        switch event.eventType {
        case "users.messages.pushnotification.Open":
            event.buttonActionType = random.pick([nil, nil, nil, "", "close", "CLOSE", "Close", "uri", "none", "OPEN"])
            event.buttonString = random.pick([nil, "", "Yes", "no \"thanks\"", "\u{1F}"])
        case "users.messages.inappmessage.Click", "users.messages.banner.Click", "users.messages.banner.Dismiss":
            event.buttonID = random.pick([nil, "", "0", "1", "cta"])
        case "users.campaigns.Conversion", "users.canvas.Conversion":
            event.conversionBehaviorIndex = random.pick([nil, 0, 0, 1, 2, 3])
        case "users.canvas.Entry":
            event.inControlGroup = random.pick([nil, true, false])
        default: break
        }
    }

    private static let sessionTypes = "users.behaviors.app."

    private static let names: [any WritableKeyPath<SampleEvent, String?> & Sendable] = [
        \.campaignName, \.messageVariationName, \.canvasName, \.canvasVariationName, \.canvasStepName,
    ]

    /// The types by how often they come.
    private static let types: [String] = {
        let weights: [(PlainEventType, Int)] = [
            (.pushSend, 40), (.sessionStart, 34), (.firstSession, 6), (.pushOpen, 14), (.pushBounce, 4),
            (.pushForeground, 3), (.pushAbort, 2), (.pushRetry, 2),
        ]
        let often = weights.flatMap { Array(repeating: $0.rawValue, count: $1) }
        let seldom = PlainEventType.allCases.filter { type in !weights.contains { $0.0 == type } }.map(\.rawValue)
        return often + seldom + ["users.messages.email.Send", "users.behaviors.CustomEvent"]
    }()
}
