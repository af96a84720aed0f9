/// A message as the reports name it: a canvas step's or a campaign's ids, or none.
struct Message: Hashable, Sendable {
    var campaign: Text?
    var variation: Text?
    var canvas: Text?
    var canvasVariation: Text?
    var canvasStep: Text?

    /// The canvas wins over the campaign; ids of the other kind are dropped.
    init(of event: SampleEvent) {
        if let canvas = Text(field: event.canvasID) {
            self.canvas = canvas
            canvasVariation = Text(field: event.canvasVariationID)
            canvasStep = Text(field: event.canvasStepID)
        } else if let campaign = Text(field: event.campaignID) {
            self.campaign = campaign
            variation = Text(field: event.messageVariationID)
        }
    }

    /// Whether the message has neither campaign nor canvas.
    var isNone: Bool { campaign == nil && canvas == nil }

    /// The message without what tells messages of one campaign apart.
    var campaignOnly: Message {
        var copy = self
        copy.variation = nil
        copy.canvasVariation = nil
        return copy
    }
}

/// The place of an event among the events of its user.
struct EventOrder: Hashable, Comparable, Sendable {
    let time: Int
    let rank: Int
    let id: Text

    static func < (left: EventOrder, right: EventOrder) -> Bool {
        if left.time != right.time { return left.time < right.time }
        if left.rank != right.rank { return left.rank < right.rank }
        return left.id < right.id
    }
}

/// An accepted event of a named type.
final class PlainEvent: Sendable {
    let type: PlainEventType
    let order: EventOrder
    let user: Text
    let externalUser: Text?
    let app: Text?
    let device: Text?
    let dispatch: Text?
    let session: Text?
    let platform: Text?
    let message: Message
    let buttonAction: Text?
    let buttonString: Text?
    let buttonID: Text?
    let conversionIndex: Int
    let inControlGroup: Bool

    var id: Text { order.id }
    var time: Int { order.time }

    /// - Returns: null if the type is not named by the rules or the record could not be decoded by them.
    init?(_ sample: SampleEvent) {
        guard let type = PlainEventType(rawValue: sample.eventType), let id = Text(field: sample.id),
            let user = Text(field: sample.userID)
        else { return nil }
        self.type = type
        self.user = user
        order = EventOrder(time: sample.time, rank: type.rank, id: id)
        externalUser = Text(field: sample.externalUserID)
        app = Text(field: sample.appID)
        device = Text(field: sample.deviceID)
        dispatch = Text(field: sample.dispatchID)
        session = Text(field: sample.sessionID)
        platform = Text(field: sample.platform)?.lowercased
        message = Message(of: sample)
        buttonAction = Text(field: sample.buttonActionType)?.lowercased
        buttonString = Text(field: sample.buttonString)
        buttonID = Text(field: sample.buttonID)
        conversionIndex = sample.conversionBehaviorIndex ?? 0
        inControlGroup = sample.inControlGroup ?? false
        if type.isSession && session == nil { return nil }
        if !(0...3).contains(conversionIndex) { return nil }
    }

    /// A push Open that opened the app.
    var isDirectOpen: Bool { type == .pushOpen && buttonAction?.string != "close" }
}

/// Whether two devices may be the same: equal, or one of them not known.
func compatible(_ left: Text?, _ right: Text?) -> Bool {
    left == nil || right == nil || left == right
}
