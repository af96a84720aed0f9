/// The event types that the rules name.
enum PlainEventType: String, CaseIterable, Sendable {
    case pushSend = "users.messages.pushnotification.Send"
    case pushBounce = "users.messages.pushnotification.Bounce"
    case pushForeground = "users.messages.pushnotification.IosForeground"
    case pushOpen = "users.messages.pushnotification.Open"
    case pushAbort = "users.messages.pushnotification.Abort"
    case pushRetry = "users.messages.pushnotification.Retry"
    case firstSession = "users.behaviors.app.FirstSession"
    case sessionStart = "users.behaviors.app.SessionStart"
    case inAppImpression = "users.messages.inappmessage.Impression"
    case inAppClick = "users.messages.inappmessage.Click"
    case inAppAbort = "users.messages.inappmessage.Abort"
    case cardSend = "users.messages.contentcard.Send"
    case cardImpression = "users.messages.contentcard.Impression"
    case cardClick = "users.messages.contentcard.Click"
    case cardDismiss = "users.messages.contentcard.Dismiss"
    case cardAbort = "users.messages.contentcard.Abort"
    case bannerImpression = "users.messages.banner.Impression"
    case bannerClick = "users.messages.banner.Click"
    case bannerDismiss = "users.messages.banner.Dismiss"
    case bannerAbort = "users.messages.banner.Abort"
    case flagImpression = "users.messages.featureflag.Impression"
    case campaignConversion = "users.campaigns.Conversion"
    case campaignEnrolment = "users.campaigns.EnrollInControl"
    case canvasConversion = "users.canvas.Conversion"
    case canvasEntry = "users.canvas.Entry"

    /// The place of the type among events of one second.
    var rank: Int {
        switch self {
        case .pushSend: 0
        case .pushBounce: 1
        case .pushForeground: 2
        case .pushOpen: 3
        case .firstSession, .sessionStart: 4
        default: 5
        }
    }

    /// Whether the type begins a session.
    var isSession: Bool { self == .firstSession || self == .sessionStart }
}
