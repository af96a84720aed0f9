/// One open that stands, with the fields of its record (section 4 of the report rules).
public struct PlainOpen: Hashable, Sendable {
    /// How the app was opened.
    public enum Kind: String, Sendable {
        /// By a press on the push.
        case direct
        /// By the user's own hand, within the window of a push.
        case influenced
    }

    /// Direct or influenced.
    public var kind: Kind
    /// The Open's id; null for influenced opens, whose ids are the product's to choose.
    public var id: String?
    /// The dotted type of the record.
    public var eventType: String
    /// The user.
    public var userID: String
    /// The last external id of the user in the events from 90 days before to a span after the open.
    public var externalUserID: String?
    /// The ids of the message, of its kind only.
    public var campaignID: String?
    /// See `campaignID`.
    public var messageVariationID: String?
    /// See `campaignID`.
    public var canvasID: String?
    /// See `campaignID`.
    public var canvasVariationID: String?
    /// See `campaignID`.
    public var canvasStepID: String?
    /// The app of the Open or of the credited Send.
    public var appID: String?
    /// The platform that the open counts under.
    public var platform: String
    /// The time of the open.
    public var time: Int
    /// The time of the first Send of a direct open's instance, or of the credited Send.
    public var sendTime: Int?
    /// The id of that Send.
    public var sendEventID: String?
    /// The session of an influenced open.
    public var sessionID: String?
    /// W of the credited Send of an influenced open, in seconds.
    public var windowSeconds: Double?
    /// The credit model of an influenced open.
    public var model: String?
}

extension PlainOpen {
    /// The opens of one user in order of time: first the direct ones of a second, then the influenced ones.
    static func all(of outcomes: UserOutcomes, settings: PlainSettings) -> [PlainOpen] {
        let direct = outcomes.events.filter(\.isDirectOpen).map { PlainOpen(direct: $0, outcomes) }
        let influenced = outcomes.influenced.map { PlainOpen(influenced: $0, model: settings.model) }
        var opens = (direct + influenced).enumerated().sorted { left, right in
            (left.element.time, left.offset) < (right.element.time, right.offset)
        }.map(\.element)
        for place in opens.indices {
            opens[place].externalUserID = externalUser(
                in: outcomes, from: opens[place].time - 90 * 86_400, to: opens[place].time + settings.span)
        }
        return opens
    }

    /// The last external id in the events of a period, both ends included.
    private static func externalUser(in outcomes: UserOutcomes, from first: Int, to time: Int) -> String? {
        let end = outcomes.events.firstPlace { $0.time > time }
        return outcomes.events[..<end].last { $0.externalUser != nil && $0.time >= first }?.externalUser?.string
    }

    private init(direct open: PlainEvent, _ outcomes: UserOutcomes) {
        let platform = Facts.platform(of: open, instances: outcomes.instances)
        self.init(.direct, user: open.user, message: open.message, app: open.app, platform: platform, time: open.time)
        id = open.id.string
        let first = outcomes.instances.place(of: open).map { outcomes.instances.all[$0].first }
        sendTime = first?.time
        sendEventID = first?.id.string
    }

    private init(influenced: InfluencedOpen, model: PlainSettings.Model) {
        let send = influenced.send
        self.init(
            .influenced, user: send.user, message: send.message, app: send.app, platform: send.platform ?? .unknown,
            time: influenced.open.time)
        sendTime = send.time
        sendEventID = send.id.string
        sessionID = influenced.open.first.session?.string
        windowSeconds = influenced.window
        self.model = model.rawValue
    }

    private init(_ kind: Kind, user: Text, message: Message, app: Text?, platform: Text, time: Int) {
        self.kind = kind
        eventType = "users.messages.pushnotification.\(kind == .direct ? "Open" : "InfluencedOpen")"
        userID = user.string
        campaignID = message.campaign?.string
        messageVariationID = message.variation?.string
        canvasID = message.canvas?.string
        canvasVariationID = message.canvasVariation?.string
        canvasStepID = message.canvasStep?.string
        appID = app?.string
        self.platform = platform.string
        self.time = time
    }
}
