internal import Foundation
public import TidemarkAttribution
public import TidemarkEvents
public import TidemarkReports

/// A replay on several threads, for unlimited lateness: the report is that of `ReplayTask`, byte for byte.
///
/// Each thread decodes pieces, whichever comes next, and has a part of the users, by their hashes. The events of a piece go to the threads that
/// have their users, and each takes them in the order of the pieces: of an event that comes twice, the first one counts, as on one thread.
/// While a thread waits for its next events it decodes; memory is bounded by the pieces that may be on their way at once.
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
    public init(
        rules: AttributionRules, settings: ReportSettings, days: DayTable, limits: DecoderLimits, threadCount: Int
    ) {
        precondition(rules.allowedLateness == nil, "where lateness is limited, events must be judged in their order")
        self.rules = rules
        self.settings = settings
        let exchange = ReplayExchange(shardCount: threadCount)
        self.exchange = exchange
        shards = (0..<threadCount).map { number in
            ReplayShard(
                number, exchange: exchange, decoder: ReplayDecoder(rules, limits: limits),
                state: ReplayTask.makeTask(rules, settings, days))
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
    public func take(_ piece: RecordPiece) -> RecordPiece { exchange.submit(piece) }

    /// How far it has come.
    public var figures: ReplayFigures { exchange.figures }

    /// Works everything out.
    public func finish() -> Report {
        exchange.close(isCancelled: false)
        threads.wait()
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

    init(_ number: Int, exchange: ReplayExchange, decoder: ReplayDecoder, state: TaskState) {
        self.number = number
        self.exchange = exchange
        self.decoder = decoder
        self.state = state
    }

    /// Works until all pieces are decoded and all events of its users are taken; then works those out.
    func run() {
        while let work = exchange.next(for: number, counts: state.counts, userCount: state.userCount) {
            switch work {
            case .decode(let piece, let place, let buffers):
                let outcome = decoder.decode(piece, into: buffers)
                exchange.decoded(piece, at: place, outcome, buffers)
            case .take(let events):
                state.takeForwarded(events)
                exchange.taken(events, by: number)
            }
        }
        guard !exchange.isCancelled else { return }
        state.settle(output: .rows)
        exchange.settled(number, counts: state.counts, userCount: state.userCount)
    }
}

/// Decodes pieces: events go to buffers by user, everything else is counted.
private final class ReplayDecoder {
    /// What became of a piece, beside its events.
    struct Outcome {
        var eventCount = 0
        var counts = VerdictCounts()
        var lineCount = 0
        /// The first refusals, with the numbers of their records.
        var refusals: [(number: Int, rejection: Rejection)] = []
    }

    private let acceptance: Acceptance
    private let decoder: EventDecoder
    private var event = Event()

    init(_ rules: AttributionRules, limits: DecoderLimits) {
        acceptance = Acceptance(rules)
        decoder = EventDecoder(limits: limits)
    }

    func decode(_ piece: RecordPiece, into buffers: [EventBuffer]) -> Outcome {
        var outcome = Outcome()
        outcome.lineCount = piece.forEach { record in
            guard let value = record.value else {
                outcome.eventCount += 1
                return outcome.counts.count(.skipped)
            }
            decoder.begin(value, hint: record.hint, padded: true)
            while let decoded = decoder.next(into: &event) {
                outcome.eventCount += 1
                switch decoded {
                case .event: hand(record, to: buffers, &outcome)
                case .skipped: outcome.counts.count(.skipped)
                case .rejected(let rejection): refuse(rejection, record, &outcome)
                }
            }
        }
        return outcome
    }

    private func hand(_ record: RecordPiece.Record, to buffers: [EventBuffer], _ outcome: inout Outcome) {
        // Nothing is late here, so that no watermark is needed.
        if let code = acceptance.refusal(event.time, recordTime: record.time, watermark: 0) {
            let message = AcceptanceMessage.text(code, event, watermark: 0)
            return refuse(Rejection(code: code, message: message), record, &outcome)
        }
        // Other bits than those that choose a user's place in its table.
        let hash = event.userID.hash64
        let share = (hash >> 32) & 0xFFFF
        buffers[Int(share) * buffers.count >> 16].append(event, userHash: hash)
    }

    private func refuse(_ rejection: Rejection, _ record: RecordPiece.Record, _ outcome: inout Outcome) {
        outcome.counts.count(.deadLetter(rejection.code))
        guard outcome.refusals.count < ReplayFigures.refusalLimit else { return }
        outcome.refusals.append((record.number, rejection))
    }
}

/// Where the reader and the threads of a parallel replay meet.
///
/// Unchecked, because everything that changes is guarded by the condition, and a piece or buffer is with one thread at a time.
private final class ReplayExchange: @unchecked Sendable {
    /// What a thread does next.
    enum Work {
        case decode(RecordPiece, place: Int, buffers: [EventBuffer])
        case take(EventBuffer)
    }

    /// A piece on its way: decoded by one thread, then taken by all.
    private struct Passage {
        var buffers: [EventBuffer?]
        var outcome: ReplayDecoder.Outcome
        var piece: RecordPiece
    }

    private let shardCount: Int
    /// How many pieces may be on their way, one in each place of a ring.
    private let window: Int
    private let condition = NSCondition()
    private var waiting: [(piece: RecordPiece, place: Int)] = []
    /// Pieces that were decoded, by their number modulo `window`.
    private var ring: [Passage?]
    /// How many pieces were submitted, accounted for in their order, and taken by each shard.
    private var submitted = 0
    private var accounted = 0
    private var takenByShard: [Int]
    private var isClosed = false
    private var cancelled = false
    private var sparePieces: [RecordPiece] = []
    private var spareBuffers: [EventBuffer] = []
    private var known = ReplayFigures()
    private var linesBefore = 0
    private var countsOfShards: [VerdictCounts]
    private var usersOfShards: [Int]

    init(shardCount: Int) {
        self.shardCount = shardCount
        window = 2 * shardCount + 2
        ring = Array(repeating: nil, count: window)
        takenByShard = Array(repeating: 0, count: shardCount)
        countsOfShards = Array(repeating: VerdictCounts(), count: shardCount)
        usersOfShards = Array(repeating: 0, count: shardCount)
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    // MARK: The reader

    func submit(_ piece: RecordPiece) -> RecordPiece {
        locked {
            while submitted - (takenByShard.min() ?? 0) >= window { condition.wait() }
            waiting.append((piece, submitted))
            submitted += 1
            condition.broadcast()
            return sparePieces.popLast() ?? RecordPiece()
        }
    }

    /// Tells the threads that there is no more.
    ///
    /// - Parameter isCancelled: whether they should leave what is there.
    func close(isCancelled: Bool) {
        locked {
            isClosed = true
            cancelled = cancelled || isCancelled
            condition.broadcast()
        }
    }

    var figures: ReplayFigures {
        locked {
            var figures = known
            for counts in countsOfShards { figures.counts += counts }
            figures.userCount = usersOfShards.reduce(0, +)
            return figures
        }
    }

    // MARK: The threads

    var isCancelled: Bool { locked { cancelled } }

    /// What a shard does next, once there is something; `nil` at the end. Its own events come first: others may wait for the place.
    func next(for shard: Int, counts: VerdictCounts, userCount: Int) -> Work? {
        locked {
            countsOfShards[shard] = counts
            usersOfShards[shard] = userCount
            while !cancelled {
                let place = takenByShard[shard]
                if place < accounted, let events = ring[place % window]?.buffers[shard] {
                    ring[place % window]?.buffers[shard] = nil
                    return .take(events)
                }
                if !waiting.isEmpty {
                    let (piece, place) = waiting.removeFirst()
                    let buffers = (0..<shardCount).map { _ in spareBuffers.popLast() ?? EventBuffer() }
                    return .decode(piece, place: place, buffers: buffers)
                }
                if isClosed, place == submitted { return nil }
                condition.wait()
            }
            return nil
        }
    }

    /// Takes in what came of a piece, and gives the shards their events as soon as all pieces before are there.
    func decoded(_ piece: RecordPiece, at place: Int, _ outcome: ReplayDecoder.Outcome, _ buffers: [EventBuffer]) {
        locked {
            ring[place % window] = Passage(buffers: buffers, outcome: outcome, piece: piece)
            while accounted < submitted, let passage = ring[accounted % window] {
                account(passage.piece, passage.outcome)
                accounted += 1
            }
            condition.broadcast()
        }
    }

    private func account(_ piece: RecordPiece, _ outcome: ReplayDecoder.Outcome) {
        if piece.isFirstOfFile { linesBefore = 0 }
        known.eventCount += outcome.eventCount
        known.counts += outcome.counts
        for (number, rejection) in outcome.refusals {
            known.refuse(rejection, piece.place(of: number, linesBefore: linesBefore))
        }
        linesBefore += outcome.lineCount
        sparePieces.append(piece)
    }

    /// Takes a buffer back whose events were taken.
    func taken(_ events: EventBuffer, by shard: Int) {
        events.removeAll()
        locked {
            spareBuffers.append(events)
            let place = takenByShard[shard]
            takenByShard[shard] += 1
            if takenByShard.allSatisfy({ $0 > place }) { ring[place % window] = nil }
            condition.broadcast()
        }
    }

    func settled(_ shard: Int, counts: VerdictCounts, userCount: Int) {
        locked {
            countsOfShards[shard] = counts
            usersOfShards[shard] = userCount
        }
    }
}
