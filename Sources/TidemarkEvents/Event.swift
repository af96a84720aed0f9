/// The canonical event: just the fields that the rules need, whatever shape they came in.
///
/// Text fields are views into the decoder's buffers and are valid only while the event is being handled.
/// Required fields (`id`, `userID`, `time`, and `sessionID` of sessions) are never null once a decoder hands the event out.
public struct Event {
    /// What happened.
    public var type: EventType = .pushSend
    /// Event time: whole seconds since the epoch, UTC.
    public var time: UInt32 = 0
    /// `conversion_behavior_index`, 0 to 3; 0 where null.
    public var conversionIndex: UInt8 = 0
    /// `in_control_group` of a canvas Entry.
    public var isInControlGroup = false

    /// `id`: identifies the event among those of its user.
    public var id = ByteView.null
    /// `user_id`.
    public var userID = ByteView.null
    /// `external_user_id`.
    public var externalUserID = ByteView.null
    /// `app_id`.
    public var appID = ByteView.null
    /// `device_id`.
    public var deviceID = ByteView.null
    /// `dispatch_id`.
    public var dispatchID = ByteView.null
    /// `session_id`.
    public var sessionID = ByteView.null
    /// `platform`, in the case it came in.
    public var platform = ByteView.null
    /// `button_action_type` of a push Open, in the case it came in.
    public var buttonActionType = ByteView.null
    /// `button_string` of a push Open.
    public var buttonString = ByteView.null
    /// `button_id` of an in-app message or banner Click.
    public var buttonID = ByteView.null
    /// The five ids of a message, each with its name.
    public var labels = MessageLabels()

    /// An event with all fields null.
    @inlinable public init() {}
}

/// The ids that tell which message an event is about, and the names it gives them. Any of them may be null.
public struct MessageLabels {
    /// `campaign_id`.
    public var campaignID = ByteView.null
    /// `message_variation_id`.
    public var messageVariationID = ByteView.null
    /// `canvas_id`.
    public var canvasID = ByteView.null
    /// `canvas_variation_id`.
    public var canvasVariationID = ByteView.null
    /// `canvas_step_id`.
    public var canvasStepID = ByteView.null
    /// `campaign_name`.
    public var campaignName = ByteView.null
    /// `message_variation_name`.
    public var messageVariationName = ByteView.null
    /// `canvas_name`.
    public var canvasName = ByteView.null
    /// `canvas_variation_name`.
    public var canvasVariationName = ByteView.null
    /// `canvas_step_name`.
    public var canvasStepName = ByteView.null

    /// All null.
    @inlinable public init() {}
}
