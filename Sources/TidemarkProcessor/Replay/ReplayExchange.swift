internal import Foundation
internal import TidemarkEvents

/// Where the reader and the threads of a parallel replay meet.
///
/// Unchecked, because everything that changes is guarded by the condition, and a piece or buffer is with one thread at a time.
final class ReplayExchange: @unchecked Sendable {
    /// What a thread does next.
    enum Work {
        case decode(RecordPiece, place: Int, buffers: [EventBuffer])
        case take(EventBuffer)
    }

    /// What a shard tells of itself.
    struct ShardFigures {
        var counts = VerdictCounts()
        var userCount = 0
        var spilledBytes: Int64 = 0
        var readBackBytes: Int64 = 0
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
    private var failure: ReplayFailure?
    private var sparePieces: [RecordPiece] = []
    private var spareBuffers: [EventBuffer] = []
    private var known = ReplayFigures()
    private var linesBefore = 0
    private var figuresOfShards: [ShardFigures]

    init(shardCount: Int) {
        self.shardCount = shardCount
        window = 2 * shardCount + 2
        ring = Array(repeating: nil, count: window)
        takenByShard = Array(repeating: 0, count: shardCount)
        figuresOfShards = Array(repeating: ShardFigures(), count: shardCount)
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    // MARK: The reader

    /// - Throws: what a shard has failed with.
    func submit(_ piece: RecordPiece) throws(ReplayFailure) -> RecordPiece {
        let next: RecordPiece? = locked {
            while !cancelled, submitted - (takenByShard.min() ?? 0) >= window { condition.wait() }
            guard !cancelled else { return nil }
            waiting.append((piece, submitted))
            submitted += 1
            condition.broadcast()
            return sparePieces.popLast() ?? RecordPiece()
        }
        try checkFailure()
        // Where it was given up, nobody looks at what is read on.
        return next ?? piece
    }

    /// Throws what a shard has failed with.
    func checkFailure() throws(ReplayFailure) {
        if let failure = locked({ failure }) { throw failure }
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
            for shard in figuresOfShards {
                figures.counts += shard.counts
                figures.userCount += shard.userCount
                figures.spilledBytes += shard.spilledBytes
                figures.readBackBytes += shard.readBackBytes
            }
            return figures
        }
    }

    // MARK: The threads

    var isCancelled: Bool { locked { cancelled } }

    /// What a shard does next, once there is something; `nil` at the end. Its own events come first: others may wait for the place.
    func next(for shard: Int, _ figures: ShardFigures) -> Work? {
        locked {
            figuresOfShards[shard] = figures
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

    /// Takes in how far a shard has come with its end.
    ///
    /// - Returns: whether it should go on.
    @discardableResult
    func note(_ shard: Int, _ figures: ShardFigures) -> Bool {
        locked {
            figuresOfShards[shard] = figures
            return !cancelled
        }
    }

    /// Ends everything because of a shard that cannot go on.
    func fail(_ failure: ReplayFailure) {
        locked {
            self.failure = self.failure ?? failure
            cancelled = true
            condition.broadcast()
        }
    }
}
