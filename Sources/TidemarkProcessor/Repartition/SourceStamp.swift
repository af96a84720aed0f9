internal import TidemarkKafka

/// The header of a record of `<app>-by-user`: where its event was first read, and how far that source had been read with it.
///
/// As text, so that Kafka's own tools show it: `epoch watermark partition offset timestamp index topic`, with `-` for the index of an event
/// that was not part of a batch.
struct SourceStamp {
    static let header: StaticString = "tidemark.source"

    /// See `Epoch`; records of another one are void.
    var epoch: Int
    /// The greatest accepted event time of the source, this event's included, seconds since the epoch.
    var watermark: UInt32
    /// Where the original record is.
    var partition: Int32
    var offset: Int64
    /// Kafka timestamp of the original record, milliseconds since the epoch.
    var timestamp: Int64
    /// The event's place in its batch, from 0; `nil` where there was no batch.
    var index: Int?
    /// Name of the source topic.
    var topic: UnsafeRawBufferPointer

    /// Writes it to the end of `bytes`.
    @inline(__always)
    func write(to bytes: inout [UInt8]) {
        for number in [Int64(epoch), Int64(watermark), Int64(partition), offset, timestamp] {
            SourceStamp.append(number, to: &bytes)
        }
        if let index {
            SourceStamp.append(Int64(index), to: &bytes)
        } else {
            bytes.append(UInt8(ascii: "-"))
            bytes.append(UInt8(ascii: " "))
        }
        bytes.append(contentsOf: topic)
    }

    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        let start = bytes.count
        var rest = number.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var (low, high) = (start, bytes.count - 1)
        while low < high {
            bytes.swapAt(low, high)
            low += 1
            high -= 1
        }
        bytes.append(UInt8(ascii: " "))
    }

    /// Reads a header; `nil` where it is none of ours. `topic` points into `bytes`.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = StampReader(bytes)
        guard let epoch = reader.number(), let watermark = reader.number().flatMap(UInt32.init(exactly:)),
            let partition = reader.number().flatMap(Int32.init(exactly:)), let offset = reader.number(),
            let timestamp = reader.number(), let index = reader.index(), !reader.rest.isEmpty
        else { return nil }
        self.epoch = Int(epoch)
        self.watermark = watermark
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.index = index < 0 ? nil : index
        topic = reader.rest
    }

    init(
        epoch: Int, watermark: UInt32, partition: Int32, offset: Int64, timestamp: Int64, index: Int?,
        topic: UnsafeRawBufferPointer
    ) {
        self.epoch = epoch
        self.watermark = watermark
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.index = index
        self.topic = topic
    }

    /// Name of the source topic as text.
    var topicName: String { String(decoding: topic, as: UTF8.self) }
}

/// Reads numbers that end with a space.
private struct StampReader {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[place...]) }

    mutating func number() -> Int64? {
        var isNegative = false
        if place < bytes.count, bytes[place] == UInt8(ascii: "-") {
            isNegative = true
            place += 1
        }
        var value: Int64 = 0
        let first = place
        while place < bytes.count, bytes[place] != UInt8(ascii: " ") {
            let digit = bytes[place] &- UInt8(ascii: "0")
            // 18 digits are below what 64 bits hold.
            guard digit < 10, place - first < 18 else { return nil }
            value = value * 10 + Int64(digit)
            place += 1
        }
        guard place > first, place < bytes.count else { return nil }
        place += 1
        return isNegative ? -value : value
    }

    /// A number that is not negative, or -1 for `-`.
    mutating func index() -> Int? {
        if place + 1 < bytes.count, bytes[place] == UInt8(ascii: "-"), bytes[place + 1] == UInt8(ascii: " ") {
            place += 2
            return -1
        }
        guard let number = number(), number >= 0 else { return nil }
        return Int(number)
    }
}
