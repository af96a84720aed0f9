internal import TidemarkAttribution

/// Hashes of one user that often come again, its devices or its dispatches: one of the latest few is written as how long ago it was new.
struct RecentValues: ~Copyable {
    private var values = Scratch<UInt64>()
    private var last: UInt64 = 0
    /// How many are looked through.
    private static let reach = 16

    deinit { values.deallocate() }

    mutating func removeAll() {
        values.removeAll()
        last = 0
    }

    /// Writes what a value needs beside the part that says how (`StateChunk.Parts`).
    ///
    /// - Returns: that part.
    @inline(__always)
    mutating func write(_ value: UInt64, to buffer: inout ChunkBuffer) -> UInt8 {
        if value == 0 { return StateChunk.Parts.none }
        if value == last { return StateChunk.Parts.same }
        last = value
        for back in 0..<min(values.count, RecentValues.reach) where values[values.count - 1 - back] == value {
            buffer.byte(UInt8(back))
            return StateChunk.Parts.known
        }
        values.append(value)
        buffer.fixed(value)
        return StateChunk.Parts.new
    }

    @inline(__always)
    mutating func read(_ part: UInt8, _ reader: inout BinaryReader) throws(BinaryReader.Damaged) -> UInt64 {
        switch part {
        case StateChunk.Parts.none: return 0
        case StateChunk.Parts.same: break
        case StateChunk.Parts.new:
            last = try reader.fixed()
            values.append(last)
        default:
            let back = Int(try reader.byte())
            guard back < values.count else { throw BinaryReader.Damaged() }
            last = values[values.count - 1 - back]
        }
        return last
    }
}
