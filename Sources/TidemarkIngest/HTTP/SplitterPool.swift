internal import Synchronization

/// Splitters for as many threads as want one at a time: each has buffers that are worth keeping.
final class SplitterPool: Sendable {
    /// Unchecked: a splitter is in the pool, or in the hands of one thread.
    private struct Idle: @unchecked Sendable {
        let splitter: BatchSplitter
    }

    private let idle = Mutex<[Idle]>([])
    private let make: @Sendable () -> BatchSplitter

    init(_ make: @escaping @Sendable () -> BatchSplitter) { self.make = make }

    /// Calls `body` with a splitter that nobody else has.
    func with<Result>(_ body: (BatchSplitter) -> Result) -> Result {
        let idle = idle.withLock { $0.popLast() } ?? Idle(splitter: make())
        defer { self.idle.withLock { $0.append(idle) } }
        return body(idle.splitter)
    }
}
