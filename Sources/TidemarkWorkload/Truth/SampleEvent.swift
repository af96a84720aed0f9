/// One Currents event with every field that the attribution and report rules read.
///
/// A null and an empty string mean the same everywhere. Fields that no rule reads are not kept.
public struct SampleEvent: Hashable, Sendable {
    /// The globally unique id of the event.
    public var id: String
    /// The dotted name of the event's type, such as `users.messages.pushnotification.Send`.
    public var eventType: String
    /// The profile that the event belongs to.
    public var userID: String
    /// The customer's own id of the user.
    public var externalUserID: String?
    /// When it happened: whole seconds since the epoch, UTC.
    public var time: Int
    /// The app or site.
    public var appID: String?
    /// The device.
    public var deviceID: String?
    /// The transmission that a push belongs to.
    public var dispatchID: String?
    /// The session, of session events.
    public var sessionID: String?
    /// The platform in any case, such as `ios`.
    public var platform: String?
    /// The campaign.
    public var campaignID: String?
    /// The variation of the campaign.
    public var messageVariationID: String?
    /// The canvas.
    public var canvasID: String?
    /// The variation of the canvas.
    public var canvasVariationID: String?
    /// The step of the canvas.
    public var canvasStepID: String?
    /// The name of `campaignID` at that time.
    public var campaignName: String?
    /// The name of `messageVariationID` at that time.
    public var messageVariationName: String?
    /// The name of `canvasID` at that time.
    public var canvasName: String?
    /// The name of `canvasVariationID` at that time.
    public var canvasVariationName: String?
    /// The name of `canvasStepID` at that time.
    public var canvasStepName: String?
    /// What the pressed button of a push does; null for a press on the body.
    public var buttonActionType: String?
    /// The author's name of the pressed button of a push.
    public var buttonString: String?
    /// The pressed button of an in-app message or banner.
    public var buttonID: String?
    /// Which of a campaign's conversion events it was, 0 to 3.
    public var conversionBehaviorIndex: Int?
    /// Whether a canvas was entered in its control group.
    public var inControlGroup: Bool?

    /// An event whose optional fields are all null.
    public init(id: String, eventType: String, userID: String, time: Int) {
        self.id = id
        self.eventType = eventType
        self.userID = userID
        self.time = time
    }
}

extension SampleEvent {
    /// A text field: its name in JSON and where it is kept.
    typealias TextField = (name: String, path: any WritableKeyPath<SampleEvent, String?> & Sendable)

    /// The optional text fields.
    static let textFields: [TextField] = [
        ("external_user_id", \.externalUserID),
        ("app_id", \.appID),
        ("device_id", \.deviceID),
        ("dispatch_id", \.dispatchID),
        ("session_id", \.sessionID),
        ("platform", \.platform),
        ("campaign_id", \.campaignID),
        ("message_variation_id", \.messageVariationID),
        ("canvas_id", \.canvasID),
        ("canvas_variation_id", \.canvasVariationID),
        ("canvas_step_id", \.canvasStepID),
        ("campaign_name", \.campaignName),
        ("message_variation_name", \.messageVariationName),
        ("canvas_name", \.canvasName),
        ("canvas_variation_name", \.canvasVariationName),
        ("canvas_step_name", \.canvasStepName),
        ("button_action_type", \.buttonActionType),
        ("button_string", \.buttonString),
        ("button_id", \.buttonID),
    ]

    /// Reads a flat object as `JSONSerialization` gives it; the type is in the object or comes from outside.
    ///
    /// - Returns: null if the object lacks an id, user, time or type.
    public init?(flat object: [String: Any], eventType outside: String? = nil) {
        guard let id = object["id"] as? String, let user = object["user_id"] as? String,
            let time = object["time"] as? Int, let type = object["event_type"] as? String ?? outside
        else { return nil }
        self.init(id: id, eventType: type, userID: user, time: time)
        for field in Self.textFields {
            if let value = object[field.name] as? String, !value.isEmpty {
                self[keyPath: field.path] = value
            }
        }
        conversionBehaviorIndex = object["conversion_behavior_index"] as? Int
        inControlGroup = object["in_control_group"] as? Bool
    }
}
