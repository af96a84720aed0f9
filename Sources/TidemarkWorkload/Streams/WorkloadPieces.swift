internal import Foundation

/// The records of a sample stream, rendered ahead on threads of its own: the same records in the same order, however many threads there are.
///
/// One thread makes the events and puts them in order, others write them as records. What is ahead is bounded; it is enough for a
/// reader that takes records at a steady rate not to notice when the events of the next six hours are made.
public final class WorkloadPieces {
    private let exchange: PieceExchange

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - shape: as in ``WorkloadStream/next(into:shape:)``.
    ///   - threadCount: how many threads write records, 1 at least.
    public init(_ workload: Workload, shape: WireShape? = nil, threadCount: Int) {
        let exchange = PieceExchange(threadCount: threadCount, users: workload.options.users)
        self.exchange = exchange
        let stream = workload.stream()
        WorkloadPieces.start("load-events") { exchange.feed(stream) }
        for number in 0..<max(threadCount, 1) {
            WorkloadPieces.start("load-\(number)") { exchange.render(with: workload.writer, shape: shape) }
        }
    }

    deinit { exchange.cancel() }

    /// The next records, once they are there; `nil` after the last ones.
    public func next() -> WorkloadPiece? { exchange.next() }

    /// Takes a piece back whose records are no longer needed, so that it is used again.
    public func giveBack(_ piece: WorkloadPiece) { exchange.giveBack(piece) }

    private static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.stackSize = 8 << 20
        thread.start()
    }
}

/// Where the threads of ``WorkloadPieces`` and its reader meet.
///
/// Unchecked, because everything that changes is guarded by the condition.
private final class PieceExchange: @unchecked Sendable {
    private let condition = NSCondition()
    /// How many runs of events may wait to be written.
    private let runLimit: Int
    /// How many pieces may be on their way, one in each place of a ring.
    private let window: Int
    private var runs: [WorkloadRun] = []
    private var firstRun = 0
    /// How many runs were made, begun to be written, and read.
    private var made = 0
    private var begun = 0
    private var read = 0
    /// Pieces that are written, by their number modulo `window`.
    private var ring: [WorkloadPiece?]
    private var spares: [WorkloadPiece] = []
    private var isComplete = false
    private var isCancelled = false

    init(threadCount: Int, users: Int) {
        window = 4 * max(threadCount, 1) + 12
        // The events of six hours are made in some 0.3 µs a user: what 200,000 records a second take in the meantime.
        runLimit = 64 + users / 10_000
        ring = Array(repeating: nil, count: window)
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    func feed(_ stream: WorkloadStream) {
        var stream = stream
        while let run = stream.nextRun(atMost: WorkloadPiece.capacity) {
            let isOver = locked {
                while made - begun >= runLimit, !isCancelled { condition.wait() }
                runs.append(run)
                made += 1
                condition.broadcast()
                return isCancelled
            }
            if isOver { return }
        }
        locked {
            isComplete = true
            condition.broadcast()
        }
    }

    func render(with writer: RecordWriter, shape: WireShape?) {
        while let (number, run, piece) = nextRun() {
            piece.fill(run, writer: writer, shape: shape)
            locked {
                ring[number % window] = piece
                condition.broadcast()
            }
        }
    }

    /// The run that is to be written next and a piece for it; `nil` at the end.
    private func nextRun() -> (Int, WorkloadRun, WorkloadPiece)? {
        locked {
            while begun == made || begun >= read + window, !isCancelled {
                if isComplete, begun == made { return nil }
                condition.wait()
            }
            guard !isCancelled else { return nil }
            begun += 1
            condition.broadcast()
            return (begun - 1, takeRun(), spares.popLast() ?? WorkloadPiece())
        }
    }

    private func takeRun() -> WorkloadRun {
        let run = runs[firstRun]
        firstRun += 1
        // What is taken goes in one move, now and then.
        if firstRun >= runLimit {
            runs.removeFirst(firstRun)
            firstRun = 0
        }
        return run
    }

    func next() -> WorkloadPiece? {
        locked {
            while ring[read % window] == nil {
                if isComplete, read == made { return nil }
                condition.wait()
            }
            let piece = ring[read % window]
            ring[read % window] = nil
            read += 1
            condition.broadcast()
            return piece
        }
    }

    func giveBack(_ piece: WorkloadPiece) {
        locked { spares.append(piece) }
    }

    func cancel() {
        locked {
            isCancelled = true
            condition.broadcast()
        }
    }
}
