/// The types of events in a sample stream; the last three are of no interest to any report.
enum WorkloadEventType: UInt8, CaseIterable, Sendable {
    case pushSend, pushBounce, pushForeground, pushOpen, pushAbort, pushRetry
    case firstSession, sessionStart
    case inAppImpression, inAppClick, inAppAbort
    case cardSend, cardImpression, cardClick, cardDismiss, cardAbort
    case bannerImpression, bannerClick, bannerDismiss, bannerAbort
    case flagImpression
    case campaignConversion, campaignEnrolment, canvasConversion, canvasEntry
    case sessionEnd, customEvent, emailSend

    /// The dotted name of the type.
    var name: String { Self.names[Int(rawValue)] }

    /// Whether reports skip events of the type.
    var isUnknown: Bool { self == .sessionEnd || self == .customEvent || self == .emailSend }

    /// Whether the event is made on the user's device, and so waits there while the device is offline.
    var isMadeOnDevice: Bool {
        switch self {
        case .pushForeground, .pushOpen, .firstSession, .sessionStart, .inAppImpression, .inAppClick, .cardImpression,
            .cardClick, .cardDismiss, .bannerImpression, .bannerClick, .bannerDismiss, .flagImpression, .sessionEnd,
            .customEvent:
            true
        default: false
        }
    }

    private static let names = [
        "users.messages.pushnotification.Send", "users.messages.pushnotification.Bounce",
        "users.messages.pushnotification.IosForeground", "users.messages.pushnotification.Open",
        "users.messages.pushnotification.Abort", "users.messages.pushnotification.Retry",
        "users.behaviors.app.FirstSession", "users.behaviors.app.SessionStart",
        "users.messages.inappmessage.Impression", "users.messages.inappmessage.Click",
        "users.messages.inappmessage.Abort",
        "users.messages.contentcard.Send", "users.messages.contentcard.Impression",
        "users.messages.contentcard.Click", "users.messages.contentcard.Dismiss", "users.messages.contentcard.Abort",
        "users.messages.banner.Impression", "users.messages.banner.Click", "users.messages.banner.Dismiss",
        "users.messages.banner.Abort",
        "users.messages.featureflag.Impression",
        "users.campaigns.Conversion", "users.campaigns.EnrollInControl", "users.canvas.Conversion",
        "users.canvas.Entry",
        "users.behaviors.app.SessionEnd", "users.behaviors.CustomEvent", "users.messages.email.Send",
    ]
}

/// One event of a sample stream in the few bytes that it takes while it waits for its time of arrival.
///
/// Everything else in its record follows from the user, the device, the message and the numbers kept here.
struct WorkloadEvent: Sendable {
    /// What is special about an event.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8
        static let repeated = Traits(rawValue: 1)
        static let withoutDevice = Traits(rawValue: 2)
        static let withoutPlatform = Traits(rawValue: 4)
    }

    /// When it comes, in seconds since the epoch.
    var arrival: UInt32
    /// When it happened, in seconds since the epoch.
    var time: UInt32
    /// Which of the stream's users it belongs to.
    var user: UInt32
    /// Which of the catalog's messages it is about.
    var message: UInt16
    var type: WorkloadEventType
    /// Which of the user's devices it is about.
    var device: UInt8
    /// Which button, or which conversion.
    var detail: UInt8
    var traits: Traits
    /// What the event's id is made of.
    var identity: UInt64
    /// What the id of the dispatch, session or content card is made of; zero for none.
    var link: UInt64
}
