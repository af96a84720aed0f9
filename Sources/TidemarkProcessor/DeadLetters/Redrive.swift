public import TidemarkConfiguration
internal import Foundation
public import TidemarkKafka

/// Feeds dead letters to the input topics that they came from, each at most once.
///
/// What was fed is noted in `<app>-redriven`, in the transaction that feeds it (`RedriveSender`). So whatever is asked for, in whatever order and
/// however often it is interrupted, a dead letter is fed once; see `docs/guarantees.md`.
public final class Redrive {
    /// What is asked for.
    public struct Request: Sendable {
        /// Which dead letters.
        public var filter = DeadLetterFilter()
        /// Whether those are fed, too, that were fed before.
        public var isAgain = false
        /// Whether nothing is to be changed.
        public var isDryRun = false
        /// Records a second at most; `nil` is no limit.
        public var rate: Int?

        /// All dead letters that were not fed yet.
        public init() {}
    }

    /// What became, or would become, of a dead letter.
    public enum Outcome: Equatable, Sendable {
        /// It was fed to this partition; -1 where the client chooses one.
        case fed(TopicPartition)
        /// It was fed before, at this time in milliseconds since the epoch.
        case fedBefore(Int64)
        /// It was not fed: why, and what to do.
        case refused(String)
    }

    private let configuration: Configuration
    private let control: RunControl
    private let letters: DeadLetterReader
    private let targets: RedriveTargets
    private let originals: OriginalReader
    private let judge: RedriveJudge

    /// Looks at the topics, and changes nothing.
    ///
    /// - Throws: `RunFailure` where a topic is missing or cannot be read.
    public init(_ configuration: Configuration, control: RunControl) throws {
        self.configuration = configuration
        self.control = control
        letters = try DeadLetterReader(configuration, control: control)
        try letters.requireMarks()
        targets = try RedriveTargets(configuration)
        originals = try OriginalReader(configuration)
        let schemas: InputSchemas
        do { schemas = try InputSchemas(configuration.input) } catch { throw RunFailure("\(error)") }
        judge = RedriveJudge(
            configuration, targets: targets, watermarks: try CurrentWatermarks(configuration, letters.reader),
            schemas: schemas)
    }

    /// Ends the clients.
    public func close() {
        letters.close()
        originals.close()
    }

    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Feeds them.
    ///
    /// - Parameter report: told what became of each dead letter that is asked for; of one that is fed, once that is committed.
    /// - Throws: `RunFailure` where it cannot go on; what was fed until then is noted.
    public func perform(_ request: Request, report: @escaping (_ id: String, Outcome) -> Void) throws {
        let sender = try makeSender(request, command: "redrive", report)
        defer { sender?.close() }
        // After the take-over: nobody else can add marks any more.
        var marks = try letters.redriven()
        let begun = Redrive.now()
        var seen: Set<String> = []
        try letters.read(request.filter) { letter in
            // The same dead letter stands there twice after a reset.
            let fedAt = seen.contains(letter.id) ? begun : request.isAgain ? nil : marks.time(of: letter.id)
            if let fedAt { return report(letter.id, .fedBefore(fedAt)) }
            switch try resolve(letter) {
            case .failure(let refusal): report(letter.id, .refused(refusal.text))
            case .success(let item):
                seen.insert(letter.id)
                marks.insert(letter.id, at: begun)
                guard let sender else { return report(letter.id, .fed(item.target)) }
                try sender.add(item)
            }
        }
        try sender?.flush()
    }

    private struct Refusal: Error {
        let text: String
    }

    private func resolve(_ letter: DeadLetter) throws -> Result<RedriveSender.Item, Refusal> {
        guard let whole = try originals.whole(letter) else {
            return .failure(
                Refusal(
                    text:
                        "only the first bytes of it were kept, and \(letter.origin.topic)[\(letter.origin.partition)] does not have it "
                        + "any more at offset \(letter.origin.offset): its source has to send it again"))
        }
        let record = RedriveRecord(whole)
        let now = Redrive.now()
        if let problem = judge.problem(with: record, now: now) { return .failure(Refusal(text: problem)) }
        return .success(item(record, partition: targets.partition(ofUnchanged: record)))
    }

    // MARK: Repaired records

    /// What `run` would refuse of repaired records, line by line, under the settings and watermarks as they are. Those that were fed before are not
    /// looked at.
    public func problems(with file: DeadLetterFile, isAgain: Bool) throws -> [DeadLetterFile.Problem] {
        let marks = try letters.redriven()
        let now = Redrive.now()
        return file.lines.compactMap { number, line in
            guard isAgain || marks.time(of: line.id) == nil else { return nil }
            return judge.problem(with: line.record, isRepaired: true, now: now).map {
                DeadLetterFile.Problem(line: number, text: $0)
            }
        }
    }

    /// Feeds repaired records, each at most once, and not those whose dead letters were fed before.
    ///
    /// - Parameters:
    ///   - request: its filter does not apply.
    ///   - report: as for `perform(_:report:)`.
    /// - Throws: `RunFailure` where it cannot go on; what was fed until then is noted.
    public func perform(
        _ file: DeadLetterFile, _ request: Request, report: @escaping (_ id: String, Outcome) -> Void
    ) throws {
        let sender = try makeSender(request, command: "import", report)
        defer { sender?.close() }
        let marks = try letters.redriven()
        let placement = targets.placement(of: file.lines.map(\.line.record))
        for (_, line) in file.lines {
            if control.isStopping { throw RunFailure("stopped") }
            if !request.isAgain, let time = marks.time(of: line.id) {
                report(line.id, .fedBefore(time))
                continue
            }
            let item = item(line.record, partition: placement(line.record))
            guard let sender else {
                report(line.id, .fed(item.target))
                continue
            }
            try sender.add(item)
        }
        try sender?.flush()
    }

    private func item(_ record: RedriveRecord, partition: Int32) -> RedriveSender.Item {
        RedriveSender.Item(
            record: record, target: TopicPartition(topic: record.origin.topic, partition: partition),
            time: targets.sentTime(of: record, now: Redrive.now()))
    }

    /// - Returns: `nil` where nothing is to be changed.
    private func makeSender(
        _ request: Request, command: String, _ report: @escaping (String, Outcome) -> Void
    ) throws -> RedriveSender? {
        guard !request.isDryRun else { return nil }
        return try RedriveSender(
            configuration, command: command, rate: request.rate, control: control, now: Redrive.now
        ) { item, refusal in
            report(item.record.id, refusal.map(Outcome.refused) ?? .fed(item.target))
        }
    }
}
