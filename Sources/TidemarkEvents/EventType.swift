/// The event types that the rules and reports name. All others are skipped and counted (`spec/attribution.md` section 2, rule 4).
///
/// The raw value is written into stored user states: append, never renumber.
public enum EventType: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    case pushSend
    case pushBounce
    case pushIosForeground
    case pushOpen
    case firstSession
    case sessionStart
    case pushAbort
    case pushRetry
    case inAppMessageImpression
    case inAppMessageClick
    case inAppMessageAbort
    case contentCardSend
    case contentCardImpression
    case contentCardClick
    case contentCardDismiss
    case contentCardAbort
    case bannerImpression
    case bannerClick
    case bannerDismiss
    case bannerAbort
    case featureFlagImpression
    case campaignConversion
    case campaignEnrollInControl
    case canvasConversion
    case canvasEntry

    /// Place among events of the same second (`spec/attribution.md` section 1, "order").
    @inlinable
    public var rank: UInt8 {
        switch self {
        case .pushSend: 0
        case .pushBounce: 1
        case .pushIosForeground: 2
        case .pushOpen: 3
        case .firstSession, .sessionStart: 4
        default: 5
        }
    }

    /// Whether the event says that an app was opened.
    @inlinable
    public var isSession: Bool { self == .firstSession || self == .sessionStart }

    /// Whether the rules of attribution look at the event as one of a push message.
    @inlinable
    public var isPush: Bool { rank < EventType.sessionStart.rank }

    /// The name of the type as it stands on the wire, for example `users.messages.pushnotification.Send`.
    public var wireName: String {
        switch self {
        case .pushSend: "users.messages.pushnotification.Send"
        case .pushBounce: "users.messages.pushnotification.Bounce"
        case .pushIosForeground: "users.messages.pushnotification.IosForeground"
        case .pushOpen: "users.messages.pushnotification.Open"
        case .firstSession: "users.behaviors.app.FirstSession"
        case .sessionStart: "users.behaviors.app.SessionStart"
        case .pushAbort: "users.messages.pushnotification.Abort"
        case .pushRetry: "users.messages.pushnotification.Retry"
        case .inAppMessageImpression: "users.messages.inappmessage.Impression"
        case .inAppMessageClick: "users.messages.inappmessage.Click"
        case .inAppMessageAbort: "users.messages.inappmessage.Abort"
        case .contentCardSend: "users.messages.contentcard.Send"
        case .contentCardImpression: "users.messages.contentcard.Impression"
        case .contentCardClick: "users.messages.contentcard.Click"
        case .contentCardDismiss: "users.messages.contentcard.Dismiss"
        case .contentCardAbort: "users.messages.contentcard.Abort"
        case .bannerImpression: "users.messages.banner.Impression"
        case .bannerClick: "users.messages.banner.Click"
        case .bannerDismiss: "users.messages.banner.Dismiss"
        case .bannerAbort: "users.messages.banner.Abort"
        case .featureFlagImpression: "users.messages.featureflag.Impression"
        case .campaignConversion: "users.campaigns.Conversion"
        case .campaignEnrollInControl: "users.campaigns.EnrollInControl"
        case .canvasConversion: "users.canvas.Conversion"
        case .canvasEntry: "users.canvas.Entry"
        }
    }
}
