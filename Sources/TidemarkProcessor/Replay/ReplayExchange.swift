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
