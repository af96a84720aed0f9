import TidemarkAttribution
import TidemarkConfiguration
import TidemarkReports
import TidemarkWorkload

extension PlainSettings {
    /// The settings of a configuration, in the terms of the evaluation that knows nothing of the engine.
    ///
    /// - Returns: `nil` where that evaluation does not know a policy or model.
    init?(_ configuration: Configuration) {
        let rules = configuration.attribution
        guard let policy = Policy(rawValue: rules.windowPolicy.rawValue),
            let model = Model(rawValue: rules.creditModel.rawValue)
        else { return nil }
        self.init()
        self.policy = policy
        fixed = Int(rules.fixedWindow)
        factor = rules.windowFactor
        cap = Int(rules.windowCap)
        self.model = model
        limit = rules.creditLimit
        sessionMerge = Int(rules.sessionMerge)
        directJoin = Int(rules.directJoin)
        span = Int(rules.instanceSpan)
        months = Int(rules.historyMonths)
        excludedPlatforms = rules.excludedPlatforms
        timeZone = configuration.report.timeZone
        uniqueRetention = Int(configuration.report.uniqueRetention)
    }
}
