internal import Foundation

/// The rules of attribution and reports, evaluated straight from the set of a user's events.
///
/// It is written for clarity and shares nothing with the product's engine, which is tested against it. It knows
/// neither lateness nor future-dated events: what it is given counts as accepted, except for repeated ids, types that
/// the rules do not name, and records that lack a required field.
public struct PlainEvaluation: Sendable {
    /// The settings in force.
    public let settings: PlainSettings
    /// The number of direct opens so far.
    public private(set) var directOpens = 0
    /// The number of influenced opens so far.
    public private(set) var influencedOpens = 0
    private let calendar: ReportCalendar
    private let keepsOpens: Bool
    private var tally: RowTally
    private var names = Names()
    private var opensByUser: [String: [PlainOpen]] = [:]

    /// An evaluation without users.
    ///
    /// - Parameters:
    ///   - settings: the settings of the rules.
    ///   - keepsOpens: whether `opens(of:)` is wanted, which takes memory for every open.
    /// - Throws: `UnknownTimeZone` if the time zone is not known.
    public init(settings: PlainSettings, keepsOpens: Bool = false) throws {
        guard let calendar = ReportCalendar(timeZone: settings.timeZone) else {
            throw UnknownTimeZone(name: settings.timeZone)
        }
        self.settings = settings
        self.calendar = calendar
        self.keepsOpens = keepsOpens
        tally = RowTally(settings: settings)
    }

    /// Adds all events of one user, in order of arrival; of events with one id the first stands.
    public mutating func add(user events: [SampleEvent]) {
        var ids: Set<Text> = []
        var accepted: [PlainEvent] = []
        for sample in events {
            guard let event = PlainEvent(sample), ids.insert(event.id).inserted else { continue }
            accepted.append(event)
            names.add(sample, order: event.order)
        }
        guard let user = accepted.first?.user.string else { return }
        let outcomes = UserOutcomes(of: accepted, settings: settings)
        directOpens += accepted.count(where: \.isDirectOpen)
        influencedOpens += outcomes.influenced.count
        tally.add(user: Facts(of: outcomes).all, calendar: calendar)
        if keepsOpens {
            opensByUser[user] = PlainOpen.all(of: outcomes, settings: settings)
        }
    }

    /// Adds the events of many users, in order of arrival.
    public mutating func add(_ events: [SampleEvent]) {
        var users: [Text: [SampleEvent]] = [:]
        for event in events {
            users[Text(event.userID), default: []].append(event)
        }
        for user in users.keys.sorted() {
            add(user: users[user] ?? [])
        }
    }

    /// The rows of the report in its order.
    public func rows() -> [PlainRow] {
        tally.rows.map { key, counts in
            let row = PlainRow(
                key: key, counts: counts, timeZone: settings.timeZone, names: names(of: key.message),
                model: settings.model, policy: settings.policy)
            return (row.recordKey, row)
        }.sorted(by: Self.inReportOrder).map(\.1)
    }

    /// The opens of a user that stand, in order of time.
    public func opens(of user: String) -> [PlainOpen] {
        opensByUser[user] ?? []
    }

    /// All opens that stand, in order of their users' ids.
    public func opens() -> [PlainOpen] {
        opensByUser.keys.map(Text.init).sorted().flatMap { opens(of: $0.string) }
    }

    /// What `replay --format ndjson` prints for the events.
    public func truth() -> [UInt8] {
        var bytes: [UInt8] = []
        for row in rows() {
            bytes.append(contentsOf: row.record.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Writes `truth()` to a file.
    ///
    /// - Throws: what the file system throws.
    public func writeTruth(to path: String) throws {
        try Data(truth()).write(to: URL(fileURLWithPath: path))
    }

    private static func inReportOrder(_ left: (String, PlainRow), _ right: (String, PlainRow)) -> Bool {
        let (leftPlace, rightPlace) = (left.1.key.kind.place, right.1.key.kind.place)
        if leftPlace != rightPlace { return leftPlace < rightPlace }
        return left.0.utf8.lexicographicallyPrecedes(right.0.utf8)
    }

    private func names(of message: Message) -> [Names.Kind: Text] {
        let ids: [(Names.Kind, Text?)] = [
            (.campaign, message.campaign), (.messageVariation, message.variation), (.canvas, message.canvas),
            (.canvasVariation, message.canvasVariation), (.canvasStep, message.canvasStep),
        ]
        var found: [Names.Kind: Text] = [:]
        for (kind, id) in ids {
            found[kind] = names.name(kind, of: id)
        }
        return found
    }
}

/// A `report.time_zone` that the system's time zone data does not know.
public struct UnknownTimeZone: Error, Hashable, Sendable {
    /// The name that was asked for.
    public let name: String
}
