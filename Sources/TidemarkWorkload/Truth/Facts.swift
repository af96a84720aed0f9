/// Something that one event or influenced open adds to the rows of its message.
struct Fact {
    var channel: Channel
    var message: Message
    var platform: Text
    var time: Int
    /// The metrics that grow by one.
    var counts: [Metric]
    /// The button whose entry in `button_clicks` grows by one.
    var button: Text?
    /// The metrics of distinct users that the user counts in.
    var users: [Metric] = []
}

extension Text {
    /// What stands for a platform that nothing tells.
    static let unknown = Text("unknown")
}

/// The facts of one user (section 2 of the report rules).
struct Facts {
    private(set) var all: [Fact] = []
    private let outcomes: UserOutcomes

    init(of outcomes: UserOutcomes) {
        self.outcomes = outcomes
        for event in outcomes.events {
            add(event)
        }
        for influenced in outcomes.influenced {
            add(influenced)
        }
    }

    /// The platform of an event; what answers a Send borrows it from the Sends of its instance.
    static func platform(of event: PlainEvent, instances: Instances) -> Text {
        if let own = event.platform { return own }
        guard [.pushOpen, .pushBounce, .pushForeground].contains(event.type),
            let place = instances.place(of: event)
        else { return .unknown }
        return instances.all[place].sends.lazy.compactMap(\.platform).first ?? .unknown
    }

    private mutating func add(_ event: PlainEvent) {
        switch event.type {
        case .pushSend: add(event, .push, [.sends], users: [.uniqueRecipients])
        case .pushBounce:
            add(event, .push, [.bounces])
            addBySendTime(instances.place(of: event), .bouncesBySendTime)
        case .pushForeground: add(event, .push, [.iosForegrounds])
        case .pushOpen: addPushOpen(event)
        case .pushAbort: add(event, .push, [.aborts])
        case .pushRetry: add(event, .push, [.retries])
        case .firstSession, .sessionStart: break
        case .inAppImpression: add(event, .inAppMessage, [.impressions], users: [.uniqueImpressions])
        case .inAppClick: addClick(event, .inAppMessage)
        case .inAppAbort: add(event, .inAppMessage, [.aborts])
        case .cardSend: add(event, .contentCard, [.sends])
        case .cardImpression:
            add(event, .contentCard, [.impressions], users: [.uniqueRecipients, .uniqueImpressions])
        case .cardClick: add(event, .contentCard, [.clicks], users: [.uniqueClicks])
        case .cardDismiss: add(event, .contentCard, [.dismissals], users: [.uniqueDismissals])
        case .cardAbort: add(event, .contentCard, [.aborts])
        case .bannerImpression: add(event, .banner, [.impressions], users: [.uniqueImpressions])
        case .bannerClick: addClick(event, .banner)
        case .bannerDismiss: add(event, .banner, [.dismissals], users: [.uniqueDismissals])
        case .bannerAbort: add(event, .banner, [.aborts])
        case .flagImpression: add(event, .featureFlag, [.impressions], users: [.uniqueImpressions])
        case .campaignConversion, .canvasConversion: addConversion(event)
        case .campaignEnrolment: add(event, .campaign, [.enrolled])
        case .canvasEntry: add(event, .campaign, event.inControlGroup ? [.entries, .enrolled] : [.entries])
        }
    }

    private var instances: Instances { outcomes.instances }

    private mutating func add(
        _ event: PlainEvent, _ channel: Channel, _ counts: [Metric], button: Text? = nil, users: [Metric] = []
    ) {
        let platform = channel == .campaign ? .unknown : Self.platform(of: event, instances: instances)
        all.append(
            Fact(
                channel: channel, message: event.message, platform: platform, time: event.time, counts: counts,
                button: button, users: users))
    }

    private mutating func addPushOpen(_ event: PlainEvent) {
        var counts: [Metric] = []
        if event.buttonAction == nil { counts.append(.bodyClicks) }
        if event.isDirectOpen { counts.append(.directOpens) }
        let button = event.buttonAction.map { event.buttonString ?? $0 }
        add(
            event, .push, counts, button: button,
            users: event.isDirectOpen ? [.uniqueDirectOpens, .uniqueOpens] : [])
        if event.isDirectOpen { addBySendTime(instances.place(of: event), .directOpensBySendTime) }
    }

    private mutating func addClick(_ event: PlainEvent, _ channel: Channel) {
        var counts: [Metric] = [.clicks]
        if event.buttonID == nil { counts.append(.bodyClicks) }
        if channel == .inAppMessage && event.buttonID?.string == "0" { counts.append(.firstButtonClicks) }
        if channel == .inAppMessage && event.buttonID?.string == "1" { counts.append(.secondButtonClicks) }
        add(event, channel, counts, button: event.buttonID, users: [.uniqueClicks])
    }

    private mutating func addConversion(_ event: PlainEvent) {
        let metrics: [Metric] = [.conversions, .conversions1, .conversions2, .conversions3]
        let isPrimary = event.conversionIndex == 0
        add(event, .campaign, [metrics[event.conversionIndex]], users: isPrimary ? [.uniqueConversions] : [])
    }

    private mutating func add(_ influenced: InfluencedOpen) {
        let send = influenced.send
        all.append(
            Fact(
                channel: .push, message: send.message, platform: send.platform ?? .unknown,
                time: influenced.open.time, counts: [.influencedOpens],
                users: [.uniqueInfluencedOpens, .uniqueOpens]))
        addBySendTime(influenced.instance, .influencedOpensBySendTime)
    }

    /// Counts once more, on the day and in the row of the first Send of the instance.
    private mutating func addBySendTime(_ instance: Int?, _ metric: Metric) {
        guard let instance else { return }
        let first = instances.all[instance].first
        all.append(
            Fact(
                channel: .push, message: first.message, platform: first.platform ?? .unknown, time: first.time,
                counts: [metric]))
    }
}
