/// The three kinds of rows, in the order of a report.
enum RowKind: String, CaseIterable, Sendable {
    case messageDay = "message_day"
    case campaignDay = "campaign_day"
    case campaignTotal = "campaign_total"

    /// The place of the kind in a report.
    var place: Int {
        switch self {
        case .messageDay: 0
        case .campaignDay: 1
        case .campaignTotal: 2
        }
    }
}

/// The key of a row.
struct RowKey: Hashable, Sendable {
    let kind: RowKind
    let channel: Channel
    let message: Message
    let platform: Text?
    /// The day in the report's zone, in days since the epoch.
    let day: Int?

    init(_ kind: RowKind, of fact: Fact, day: Int) {
        self.kind = kind
        channel = fact.channel
        message = kind == .messageDay ? fact.message : fact.message.campaignOnly
        platform = kind == .messageDay ? fact.platform : nil
        self.day = kind == .campaignTotal ? nil : day
    }
}

/// The counts of one row.
struct RowCounts: Sendable {
    private(set) var counts: [Metric: Int] = [:]
    private(set) var buttons: [Text: Int] = [:]

    mutating func add(_ number: Int, to metric: Metric) {
        counts[metric, default: 0] += number
    }

    mutating func addButton(_ name: Text) {
        buttons[name, default: 0] += 1
    }

    /// The value of a metric other than `button_clicks`.
    subscript(metric: Metric) -> Int {
        switch metric {
        case .deliveries: self[.sends] - self[.bounces]
        case .totalOpens: self[.directOpens] + self[.influencedOpens]
        default: counts[metric] ?? 0
        }
    }
}

/// The counts of all rows, summed up user by user.
struct RowTally {
    private struct UserMetric: Hashable {
        let key: RowKey
        let metric: Metric
    }

    private(set) var rows: [RowKey: RowCounts] = [:]
    private let retention: Int

    init(settings: PlainSettings) {
        retention = settings.uniqueRetention
    }

    /// Adds all facts of one user.
    mutating func add(user facts: [Fact], calendar: ReportCalendar) {
        var matches: [UserMetric: [Int]] = [:]
        for fact in facts {
            let day = calendar.day(of: fact.time)
            for kind in RowKind.allCases {
                let key = RowKey(kind, of: fact, day: day)
                count(fact, in: key)
                for metric in fact.users {
                    matches[UserMetric(key: key, metric: metric), default: []].append(fact.time)
                }
            }
        }
        for (user, times) in matches {
            rows[user.key, default: RowCounts()].add(countings(user.key.kind, times), to: user.metric)
        }
    }

    private mutating func count(_ fact: Fact, in key: RowKey) {
        let counts = key.kind == .campaignTotal ? fact.counts.filter { !$0.isBySendTime } : fact.counts
        if counts.isEmpty && fact.button == nil { return }
        for metric in counts {
            rows[key, default: RowCounts()].add(1, to: metric)
        }
        if let button = fact.button {
            rows[key, default: RowCounts()].addButton(button)
        }
    }

    /// How often a user with matching events at these times counts: once a day row, and in a total anew after each
    /// pause longer than the retention.
    private func countings(_ kind: RowKind, _ times: [Int]) -> Int {
        guard kind == .campaignTotal else { return 1 }
        let sorted = times.sorted()
        return 1 + zip(sorted, sorted.dropFirst()).count { $1 - $0 > retention }
    }
}
