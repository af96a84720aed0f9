internal import TidemarkEvents
public import TidemarkKafka

/// A record that is to be fed again.
public struct RedriveRecord: Sendable {
    /// The header that says which dead letter a record was fed for.
    public static let header = "tidemark.redriven"

    /// Names the dead letter.
    public var id: String
    /// Where the record came from; gives topic and time, and the partition as long as the key is the same.
    public var origin: RecordOrigin
    /// The reason of the dead letter, and what was allowed then.
    public var code: String
    /// See `DeadLetter.allowed`.
    public var allowed: Int64?
    /// The key.
    public var key: [UInt8]?
    /// The value.
    public var value: [UInt8]?
    /// The headers, without the one that says so.
    public var headers: [KafkaHeader]

    /// The record of a dead letter as it came.
    init(_ letter: DeadLetter) {
        id = letter.id
        origin = letter.origin
        code = letter.code
        allowed = letter.allowed
        key = letter.key
        value = letter.value
        headers = letter.headers
    }

    /// A record for a dead letter.
    init(
        id: String, origin: RecordOrigin, code: String, allowed: Int64?, key: [UInt8]?, value: [UInt8]?,
        headers: [KafkaHeader]
    ) {
        self.id = id
        self.origin = origin
        self.code = code
        self.allowed = allowed
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// A record that was refused because its time was ahead of the clock is judged by the time at which it comes again.
    var keepsTime: Bool { code != RejectionCode.futureDated.rawValue }
}

/// Calls `body` with bytes that may be absent.
func withOptionalBytes<Result>(
    _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) throws -> Result
) rethrows -> Result {
    guard let bytes else { return try body(nil) }
    return try bytes.withUnsafeBytes { try body($0) }
}
