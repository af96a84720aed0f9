/// The settings of the attribution rules (`spec/attribution.md`); all durations are whole seconds.
public struct AttributionRules: Equatable, Sendable {
    /// Version of the rules that this module implements; published with every row.
    public static let version = 1

    /// How the attribution window of a Send follows from the fixed and the personal one (section 4).
    public enum WindowPolicy: String, CaseIterable, Sendable {
        /// The greater of the two; the documented Braze rule.
        case longer
        /// The smaller of the two.
        case shorter
        /// The fixed one alone.
        case fixed
    }

    /// Which of the Sends that reach an app open are credited (section 5, rule 3).
    public enum CreditModel: String, CaseIterable, Sendable {
        /// The latest one.
        case lastPush = "last_push"
        /// The latest ones, up to `creditLimit`.
        case allRecent = "all_recent"
    }

    /// `attribution.window.policy`.
    public var windowPolicy = WindowPolicy.longer
    /// `attribution.window.fixed`, seconds.
    public var fixedWindow: Int64 = 30 * 60
    /// `attribution.window.factor`: share of the mean gap between app opens that makes the personal window.
    public var windowFactor = 0.5
    /// `attribution.window.cap`, seconds: the longest personal window.
    public var windowCap: Int64 = 7 * 86_400
    /// `attribution.credit.model`.
    public var creditModel = CreditModel.lastPush
    /// `attribution.credit.limit`: how many instances one app open may touch under `all_recent`.
    public var creditLimit = 10
    /// `attribution.session_merge`, seconds: app opens closer than this count as one in session history.
    public var sessionMerge: Int64 = 60
    /// `attribution.direct_join`, seconds: an app open this close to a direct open is direct-born.
    public var directJoin: Int64 = 60
    /// `attribution.instance_span`, seconds: Sends this close to an instance's first Send belong to it.
    public var instanceSpan: Int64 = 86_400
    /// `attribution.history_months`: calendar months of session history behind a personal window, the Send's month included.
    public var historyMonths = 3
    /// `attribution.excluded_platforms`, lower case: Sends to these influence nothing.
    public var excludedPlatforms: Set<String> = ["web", "tvos", "roku"]
    /// `attribution.allowed_lateness`, seconds; `nil` is unlimited.
    public var allowedLateness: Int64? = 86_400
    /// `attribution.future_tolerance`, seconds; `nil` is unlimited.
    public var futureTolerance: Int64? = 3_600

    /// The defaults of `spec/attribution.md`.
    public init() {}

    /// How long after an instance's first Send an event can still belong to it, seconds (section 1, "reach").
    public var reach: Int64 { max(windowCap, fixedWindow) }

    /// How many instances one app open may touch (section 5, rule 3).
    public var touchLimit: Int { creditModel == .lastPush ? 1 : creditLimit }
}
