public import TidemarkEvents

/// Where a message is shown (`spec/reports.md` section 1).
///
/// The raw value is written into deltas and stored user states: append, never renumber.
public enum Channel: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    case push, inAppMessage, contentCard, banner, featureFlag, campaign

    /// The name in rows.
    public var name: StaticString {
        switch self {
        case .push: "push"
        case .inAppMessage: "in_app_message"
        case .contentCard: "content_card"
        case .banner: "banner"
        case .featureFlag: "feature_flag"
        case .campaign: "campaign"
        }
    }

    /// The channel of a name in rows.
    public init?(name: String) {
        var name = name
        guard let known = name.withUTF8({ Channel(name: ByteView(UnsafeRawBufferPointer($0))) }) else { return nil }
        self = known
    }

    /// The channel of a name in rows.
    public init?(name: ByteView) {
        for channel in Channel.allCases where name.holds(channel.name) {
            self = channel
            return
        }
        return nil
    }

    /// The channel whose rows count an event; `nil` for sessions, which count nowhere by themselves.
    public static func of(_ type: EventType) -> Channel? {
        switch type {
        case .pushSend, .pushBounce, .pushIosForeground, .pushOpen, .pushAbort, .pushRetry: .push
        case .firstSession, .sessionStart: nil
        case .inAppMessageImpression, .inAppMessageClick, .inAppMessageAbort: .inAppMessage
        case .contentCardSend, .contentCardImpression, .contentCardClick, .contentCardDismiss, .contentCardAbort:
            .contentCard
        case .bannerImpression, .bannerClick, .bannerDismiss, .bannerAbort: .banner
        case .featureFlagImpression: .featureFlag
        case .campaignConversion, .campaignEnrollInControl, .canvasConversion, .canvasEntry: .campaign
        }
    }
}

/// The kinds of row, in the order of `spec/reports.md` section 1. The raw value is written into deltas.
public enum RowKind: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    case messageDay, campaignDay, campaignTotal

    /// The name in rows.
    public var name: StaticString {
        switch self {
        case .messageDay: "message_day"
        case .campaignDay: "campaign_day"
        case .campaignTotal: "campaign_total"
        }
    }

    /// The kind of a name in rows.
    public init?(name: ByteView) {
        for kind in RowKind.allCases where name.holds(kind.name) {
            self = kind
            return
        }
        return nil
    }
}
