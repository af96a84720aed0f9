internal import Foundation
public import TidemarkAttribution
public import TidemarkEvents
public import TidemarkRegistry
public import TidemarkReports

/// A replay on several threads, for unlimited lateness: the report is that of `ReplayTask`, byte for byte.
///
/// Each thread decodes pieces, whichever comes next, and has a part of the users, by their hashes. The events of a piece go to the threads that
/// have their users, and each takes them in the order of the pieces: of an event that comes twice, the first one counts, as on one thread.
/// While a thread waits for its next events it decodes; memory is bounded by the pieces that may be on their way at once, and by what `memory`
/// allows for users: above that a thread writes them to a temporary file (`SpilledUsers`).
public final class ParallelReplay: ReplaySink {
    private let rules: AttributionRules
    private let settings: ReportSettings
    private let exchange: ReplayExchange
    private let shards: [ReplayShard]
    private let threads = DispatchGroup()

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - days: the table of `settings.timeZone`.
    ///   - threadCount: how many there are, 1 at least.
    ///   - schemas: writer schemas that values name by their fingerprints.
    ///   - registry: where writer schemas of ids come from, waited for; `nil` without one.
    ///   - memory: what users may take; `nil` is any amount.
    public init(
        rules: AttributionRules, settings: ReportSettings, days: DayTable, limits: DecoderLimits, threadCount: Int,
        schemas: [AvroSchema] = [], registry: SchemaFetcher? = nil, memory: ReplayMemory? = nil
    ) {
        precondition(rules.allowedLateness == nil, "where lateness is limited, events must be judged in their order")
        self.rules = rules
        self.settings = settings
        let exchange = ReplayExchange(shardCount: threadCount)
        self.exchange = exchange
        shards = (0..<threadCount).map { number in
            ReplayShard(
                number, exchange: exchange,
                decoder: ReplayDecoder(rules, limits: limits, schemas: schemas, registry: registry),
                state: ReplayTask.makeTask(rules, settings, days), limit: memory.map { $0.userBytes / threadCount },
                directory: memory?.directory ?? "")
        }
        for shard in shards {
            let thread = Thread { [threads] in
                shard.run()
                threads.leave()
            }
            threads.enter()
            thread.name = "replay-\(shard.number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    deinit { exchange.close(isCancelled: true) }

    /// Hands a piece to the next thread that is free; waits while too many are on their way.
    public func take(_ piece: RecordPiece) throws -> RecordPiece { try exchange.submit(piece) }

    /// How far it has come.
    public var figures: ReplayFigures { exchange.figures }

    /// Works everything out.
    public func finish(progress: () -> Void) throws -> Report {
        exchange.close(isCancelled: false)
        while threads.wait(timeout: .now() + .milliseconds(50)) == .timedOut { progress() }
        try exchange.checkFailure()
        return ReplayTask.report(of: shards.map(\.state), rules, settings)
    }
}

/// The part of the users that one thread has, and the thread's work.
///
/// Unchecked, because its state is used by its thread alone, and by whoever has waited for the end of that.
private final class ReplayShard: @unchecked Sendable {
    let number: Int
    let state: TaskState
    private let exchange: ReplayExchange
    private let decoder: ReplayDecoder
    /// Bytes that its users may take; `nil` is any amount.
    private let limit: Int?
    private let directory: String
    private var spilled: SpilledUsers?
    private var figures = ReplayExchange.ShardFigures()

    init(
        _ number: Int, exchange: ReplayExchange, decoder: ReplayDecoder, state: TaskState, limit: Int?,
        directory: String
    ) {
        self.number = number
        self.exchange = exchange
        self.decoder = decoder
        self.state = state
        self.limit = limit
        self.directory = directory
    }

    /// Works until all pieces are decoded and all events of its users are taken; then works those out.
    func run() {
        do throws(ReplayFailure) {
            while let work = exchange.next(for: number, presentFigures()) {
                switch work {
                case .decode(let piece, let place, let buffers):
                    let outcome = decoder.decode(piece, into: buffers)
                    exchange.decoded(piece, at: place, outcome, buffers)
                case .take(let events):
                    state.takeForwarded(events)
                    exchange.taken(events, by: number)
                    if let limit, state.byteCountInAll > limit { try spill() }
                }
            }
            if !exchange.isCancelled { try settle() }
        } catch {
            exchange.fail(error)
        }
    }

    private func presentFigures() -> ReplayExchange.ShardFigures {
        figures.counts = state.counts
        figures.userCount = state.userCount
        figures.spilledBytes = spilled?.byteCount ?? 0
        return figures
    }

    private func spill() throws(ReplayFailure) {
        if spilled == nil { spilled = try SpilledUsers(in: directory) }
        try spilled?.take(usersOf: state)
    }

    private func settle() throws(ReplayFailure) {
        guard spilled != nil else {
            state.settle(output: .rows)
            exchange.note(number, presentFigures())
            return
        }
        try spill()
        try settleSpilled()
    }

    private func settleSpilled() throws(ReplayFailure) {
        guard let spilled, let limit else { return }
        // What users took is for rows now.
        FreeMemory.giveBack()
        var noted: Int64 = 0
        try spilled.settle(by: state, output: .rows, memory: limit / 2) { users, bytes in
            guard bytes - noted >= ReplayShard.noteStep || bytes == spilled.byteCount else { return true }
            noted = bytes
            var present = presentFigures()
            present.userCount = users
            present.readBackBytes = bytes
            figures = present
            return exchange.note(number, present)
        }
    }

    /// After how many bytes read back the figures are told anew.
    private static let noteStep: Int64 = 4 << 20
}
