import Foundation
import TidemarkWorkload

extension WorkloadOptions {
    /// How many days after its last one a stream still has events, at most.
    static let aftermathDays = 4

    /// The stream that the options of a command line describe.
    init(_ arguments: ParsedArguments, namesTypeInRecord: Bool) throws(UsageError) {
        let days = try arguments.integer("days", in: 1...3_650, default: 7)
        let seed = try arguments.integer("seed", in: 0...Int.max, default: 1)
        self.init(
            users: try arguments.integer("users", in: 1...100_000_000, default: 1_000), days: days,
            campaigns: try arguments.integer("campaigns", in: 1...Self.maximumCampaigns, default: 40),
            seed: UInt64(seed), start: try Self.start(arguments, days: days), lateShare: try arguments.share("late"),
            turnover: try arguments.share("turnover"), hotCampaignShare: try arguments.share("hot-campaign"),
            namesTypeInRecord: namesTypeInRecord)
        guard usersEver <= 1 << 32 else {
            throw UsageError("`--turnover`: \(usersEver) users could come in \(days) days, more than 4294967296")
        }
    }

    private static func start(_ arguments: ParsedArguments, days: Int) throws(UsageError) -> Int {
        guard let text = arguments.value("start") else {
            // A midnight so long ago that nothing is ahead of the clock: what the days cause comes a few days later.
            let today = Int(Date().timeIntervalSince1970) / 86_400
            return max(0, today - days - aftermathDays) * 86_400
        }
        let start = Int(try TimeArgument.milliseconds(text, option: "start") / 1_000) / 86_400 * 86_400
        guard start + days * 86_400 < Int(Int32.max) else {
            throw UsageError("`--start`: the stream would end after 2038-01-19, where event times end")
        }
        return start
    }
}

extension ParsedArguments {
    /// The value of an option as a share of a whole, `0.05` or `5%`; 0 if it was not given.
    fileprivate func share(_ name: String) throws(UsageError) -> Double {
        guard let text = value(name) else { return 0 }
        let isPercentage = text.hasSuffix("%")
        if let number = Double(isPercentage ? text.dropLast() : text[...]) {
            let share = isPercentage ? number / 100 : number
            if (0...1).contains(share) { return share }
        }
        throw UsageError("`--\(name)` takes a share from 0 to 1 or from 0% to 100%, not `\(text)`")
    }
}
