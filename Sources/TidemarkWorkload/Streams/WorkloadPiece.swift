/// Records of a sample stream that follow one another, written into one stretch of memory that is used again.
///
/// Unchecked, because it is with one thread at a time: who renders it hands it on.
public final class WorkloadPiece: @unchecked Sendable {
    /// How many records it holds at most.
    public static let capacity = 1_024
    /// Bytes of a user id, which is the key of a record.
    public static let keySize = 24

    private struct Entry {
        var start: Int
        var count: Int
        var type: WorkloadEventType
    }

    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
    private let keys = UnsafeMutableRawPointer.allocate(
        byteCount: WorkloadPiece.capacity * WorkloadPiece.keySize + ByteCursor.slack, alignment: 64)
    private var entries: [Entry] = []
    private var end = 0
    /// When the last record comes, in seconds since the epoch.
    public private(set) var lastArrival = 0

    /// An empty piece.
    public init() { entries.reserveCapacity(WorkloadPiece.capacity) }

    deinit {
        memory.deallocate()
        keys.deallocate()
    }

    /// How many records it holds.
    public var count: Int { entries.count }

    /// A record's value, its JSON object; valid until the piece is filled again.
    public func value(_ record: Int) -> UnsafeRawBufferPointer {
        let entry = entries[record]
        return UnsafeRawBufferPointer(rebasing: memory[entry.start..<entry.start + entry.count])
    }

    /// A record's key, the id of its user; valid until the piece is filled again.
    public func key(_ record: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: keys + record * WorkloadPiece.keySize, count: WorkloadPiece.keySize)
    }

    /// The dotted name of a record's type.
    public func eventType(_ record: Int) -> String { entries[record].type.name }

    /// Records as lines, each with a newline behind it; valid until the piece is filled again.
    public func lines(_ records: Range<Int>) -> UnsafeRawBufferPointer {
        guard let first = records.first, let last = records.last else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        let end = entries[last].start + entries[last].count + 1
        return UnsafeRawBufferPointer(rebasing: memory[entries[first].start..<end])
    }

    /// Fills it anew with the records of a run.
    func fill(_ run: WorkloadRun, writer: RecordWriter, shape: WireShape?) {
        end = 0
        entries.removeAll(keepingCapacity: true)
        var key = ByteCursor(at: keys)
        for event in run.events {
            let profile = UserProfile(Int(event.user), options: writer.options)
            profile.write(userID: &key)
            let start = end
            if let shape {
                append(SampleEventMaker(profile, writer: writer).sample(event).json(shape))
            } else {
                write(event, of: profile, with: writer)
            }
            entries.append(Entry(start: start, count: end - start - 1, type: event.type))
        }
        lastArrival = run.events.last.map { Int($0.arrival) } ?? 0
    }

    private func write(_ event: WorkloadEvent, of profile: UserProfile, with writer: RecordWriter) {
        reserve(writer.longestRecord)
        guard let base = memory.baseAddress else { return }
        var cursor = ByteCursor(at: base + end)
        writer.write(event, of: profile, to: &cursor)
        cursor.append("\n")
        end = cursor.end - base
    }

    private func append(_ record: [UInt8]) {
        reserve(record.count + 1)
        UnsafeMutableRawBufferPointer(rebasing: memory[end...]).copyBytes(from: record)
        end += record.count
        memory[end] = UInt8(ascii: "\n")
        end += 1
    }

    private func reserve(_ additional: Int) {
        guard end + additional > memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(end + additional, memory.count * 2), alignment: 64)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<end]))
        memory.deallocate()
        memory = larger
    }
}
