/// The channels of the reports, in no particular order.
enum Channel: String, CaseIterable, Sendable {
    case push
    case inAppMessage = "in_app_message"
    case contentCard = "content_card"
    case banner
    case featureFlag = "feature_flag"
    case campaign
}

/// Every metric of every channel, by its name in a record.
enum Metric: String, Sendable {
    case sends, bounces, deliveries
    case directOpens = "direct_opens"
    case influencedOpens = "influenced_opens"
    case totalOpens = "total_opens"
    case bodyClicks = "body_clicks"
    case buttonClicks = "button_clicks"
    case firstButtonClicks = "first_button_clicks"
    case secondButtonClicks = "second_button_clicks"
    case iosForegrounds = "ios_foregrounds"
    case aborts, retries, impressions, clicks, dismissals
    case uniqueRecipients = "unique_recipients"
    case uniqueDirectOpens = "unique_direct_opens"
    case uniqueInfluencedOpens = "unique_influenced_opens"
    case uniqueOpens = "unique_opens"
    case uniqueImpressions = "unique_impressions"
    case uniqueClicks = "unique_clicks"
    case uniqueDismissals = "unique_dismissals"
    case uniqueConversions = "unique_conversions"
    case bouncesBySendTime = "bounces_by_send_time"
    case directOpensBySendTime = "direct_opens_by_send_time"
    case influencedOpensBySendTime = "influenced_opens_by_send_time"
    case conversions, conversions1, conversions2, conversions3, enrolled, entries

    /// Whether the metric counts on the day of the first Send, and so has no place in totals.
    var isBySendTime: Bool {
        self == .bouncesBySendTime || self == .directOpensBySendTime || self == .influencedOpensBySendTime
    }
}

extension Channel {
    /// The metrics of the channel in the order of its records.
    var metrics: [Metric] {
        switch self {
        case .push:
            [
                .sends, .bounces, .deliveries, .directOpens, .influencedOpens, .totalOpens, .bodyClicks, .buttonClicks,
                .iosForegrounds, .aborts, .retries, .uniqueRecipients, .uniqueDirectOpens, .uniqueInfluencedOpens,
                .uniqueOpens, .bouncesBySendTime, .directOpensBySendTime, .influencedOpensBySendTime,
            ]
        case .inAppMessage:
            [
                .impressions, .clicks, .bodyClicks, .firstButtonClicks, .secondButtonClicks, .buttonClicks, .aborts,
                .uniqueImpressions, .uniqueClicks,
            ]
        case .contentCard:
            [
                .sends, .impressions, .clicks, .dismissals, .aborts, .uniqueRecipients, .uniqueImpressions,
                .uniqueClicks, .uniqueDismissals,
            ]
        case .banner:
            [
                .impressions, .clicks, .bodyClicks, .buttonClicks, .dismissals, .aborts, .uniqueImpressions,
                .uniqueClicks, .uniqueDismissals,
            ]
        case .featureFlag: [.impressions, .uniqueImpressions]
        case .campaign:
            [.conversions, .conversions1, .conversions2, .conversions3, .enrolled, .entries, .uniqueConversions]
        }
    }
}
