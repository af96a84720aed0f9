#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A run of users in a file, in the order of their hashes, read through a buffer of its own.
final class SpillRun {
    /// What is in front of what there is of a user.
    struct Head {
        static let size = 12
        var userHash: UInt64
        /// Bytes that follow.
        var size: UInt32

        init(userHash: UInt64, size: UInt32) {
            self.userHash = userHash
            self.size = size
        }

        init(at place: UnsafeRawPointer) {
            userHash = place.loadUnaligned(as: UInt64.self)
            size = place.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        }

        func store(to place: UnsafeMutableRawPointer) {
            place.storeBytes(of: userHash, as: UInt64.self)
            place.storeBytes(of: size, toByteOffset: 8, as: UInt32.self)
        }
    }

    private let file: SpillFile
    /// What was not read into the buffer yet.
    private var rest: Range<Int64>
    private var buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    /// The user that it stands at; `nil` behind the last.
    private(set) var head: Head?

    /// A run that stands at its first user.
    init(_ file: SpillFile, _ range: Range<Int64>, bufferSize: Int) throws(ReplayFailure) {
        self.file = file
        rest = range
        buffer = .allocate(byteCount: max(bufferSize, Head.size), alignment: 16)
        try readHead()
    }

    deinit { buffer.deallocate() }

    /// How large the buffers of runs are that share some memory, in bytes.
    static func bufferSize(memory: Int, runs: Int) -> Int { min(max(memory / max(runs, 1), 4 << 10), 256 << 10) }

    /// What there is of the user that it stands at; valid until `advance`.
    var piece: UnsafeRawBufferPointer {
        guard let head else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: buffer[start..<start + Int(head.size)])
    }

    /// Goes on to the next user.
    func advance() throws(ReplayFailure) {
        guard let head else { return }
        start += Int(head.size)
        try readHead()
    }

    private func readHead() throws(ReplayFailure) {
        guard end > start || !rest.isEmpty else { return head = nil }
        try provide(Head.size)
        guard let base = buffer.baseAddress else { return head = nil }
        let next = Head(at: base + start)
        start += Head.size
        try provide(Int(next.size))
        head = next
    }

    /// Reads on until there are `count` bytes at `start`.
    private func provide(_ count: Int) throws(ReplayFailure) {
        guard end - start < count else { return }
        let larger =
            count > buffer.count ? UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16) : buffer
        let kept = UnsafeRawBufferPointer(rebasing: buffer[start..<end])
        if let target = larger.baseAddress, let source = kept.baseAddress {
            memmove(target, source, kept.count)
        }
        if larger.baseAddress != buffer.baseAddress {
            buffer.deallocate()
            buffer = larger
        }
        (start, end) = (0, kept.count)
        let wanted = min(buffer.count - end, rest.count)
        try file.read(
            at: rest.lowerBound, into: UnsafeMutableRawBufferPointer(rebasing: buffer[end..<end + wanted]))
        rest = rest.lowerBound + Int64(wanted)..<rest.upperBound
        end += wanted
    }
}

/// Runs side by side, as one run in which a user may come several times in a row: a heap, by hash and then by the order of the runs.
struct SpillMerge {
    private let runs: [SpillRun]
    /// Places of runs that have users left.
    private var heap: [Int] = []

    init(_ runs: [SpillRun]) {
        self.runs = runs
        heap = runs.indices.filter { runs[$0].head != nil }
        for place in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(place) }
    }

    /// The hash of the next user; `nil` behind the last.
    var nextHash: UInt64? { heap.first.flatMap { runs[$0].head?.userHash } }

    /// What the next run has of it; valid until `advance`.
    var piece: UnsafeRawBufferPointer { runs[heap[0]].piece }

    /// Goes on behind `piece`.
    mutating func advance() throws(ReplayFailure) {
        try runs[heap[0]].advance()
        if runs[heap[0]].head == nil {
            heap[0] = heap[heap.count - 1]
            heap.removeLast()
        }
        sink(0)
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let (leftHash, rightHash) = (runs[left].head?.userHash ?? .max, runs[right].head?.userHash ?? .max)
        return leftHash == rightHash ? left < right : leftHash < rightHash
    }

    private mutating func sink(_ start: Int) {
        var place = start
        while true {
            var first = place
            var child = 2 * place + 1
            while child < min(2 * place + 3, heap.count) {
                if isBefore(heap[child], heap[first]) { first = child }
                child += 1
            }
            guard first != place else { return }
            heap.swapAt(place, first)
            place = first
        }
    }
}
