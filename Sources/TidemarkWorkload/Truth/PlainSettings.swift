/// The settings that the attribution and report rules depend on.
public struct PlainSettings: Hashable, Sendable {
    /// How the fixed and the personal window make one.
    public enum Policy: String, CaseIterable, Sendable {
        /// The longer of the two.
        case longer
        /// The shorter of the two.
        case shorter
        /// The fixed one alone.
        case fixed
    }

    /// How many instances an app open may touch.
    public enum Model: String, CaseIterable, Sendable {
        /// One.
        case lastPush = "last_push"
        /// `limit`.
        case allRecent = "all_recent"
    }

    /// `window.policy`.
    public var policy: Policy = .longer
    /// `window.fixed` in seconds.
    public var fixed: Int = 1_800
    /// `window.factor`: the share of the mean gap that makes the personal window.
    public var factor: Double = 0.5
    /// `window.cap` in seconds: the longest personal window.
    public var cap: Int = 7 * 86_400
    /// `attribution.model`.
    public var model: Model = .lastPush
    /// `attribution.limit`, read by `allRecent` only.
    public var limit: Int = 10
    /// `session_merge` in seconds.
    public var sessionMerge: Int = 60
    /// `direct_join` in seconds.
    public var directJoin: Int = 60
    /// `attribution.instance_span` in seconds.
    public var span: Int = 86_400
    /// `attribution.history_months`.
    public var months: Int = 3
    /// Platforms whose Sends influence nothing, in lower case.
    public var excludedPlatforms: Set<String> = ["web", "tvos", "roku"]
    /// `report.time_zone`, an IANA name.
    public var timeZone: String = "UTC"
    /// `report.unique_retention` in seconds.
    public var uniqueRetention: Int = 90 * 86_400

    /// The documented defaults.
    public init() {}

    /// The defaults with the settings of a conformance vector laid over them.
    ///
    /// - Returns: null if a key is not known or a value is not of its type.
    public init?(vector: [String: Any]) {
        for (key, value) in vector where !set(key, to: value) {
            return nil
        }
    }

    /// The longest distance between a Send and anything that belongs to its instance, in seconds.
    public var reach: Int { max(cap, fixed) }

    /// How many instances an app open touches at most.
    var touchLimit: Int { model == .lastPush ? 1 : limit }

    private mutating func set(_ key: String, to value: Any) -> Bool {
        switch key {
        case "policy": return assign((value as? String).flatMap(Policy.init(rawValue:)), to: \.policy)
        case "model": return assign((value as? String).flatMap(Model.init(rawValue:)), to: \.model)
        case "fixed": return assign(value as? Int, to: \.fixed)
        case "factor": return assign(value as? Double, to: \.factor)
        case "cap": return assign(value as? Int, to: \.cap)
        case "limit": return assign(value as? Int, to: \.limit)
        case "session-merge": return assign(value as? Int, to: \.sessionMerge)
        case "direct-join": return assign(value as? Int, to: \.directJoin)
        case "span": return assign(value as? Int, to: \.span)
        case "months": return assign(value as? Int, to: \.months)
        case "excluded-platforms": return assign((value as? [String]).map { Set($0) }, to: \.excludedPlatforms)
        case "tz": return assign(value as? String, to: \.timeZone)
        case "unique-retention": return assign(value as? Int, to: \.uniqueRetention)
        default: return false
        }
    }

    private mutating func assign<Value>(_ value: Value?, to path: WritableKeyPath<PlainSettings, Value>) -> Bool {
        guard let value else { return false }
        self[keyPath: path] = value
        return true
    }
}
