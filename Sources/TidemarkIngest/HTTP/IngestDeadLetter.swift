internal import Foundation
internal import TidemarkEvents
internal import TidemarkKafka

/// The dead letter of an event that never became a record of the input topic: the same headers as those of `run`, with the stage `ingest`.
struct IngestDeadLetter {
    /// What is kept of an event that is too large for the dead-letter topic.
    private static let excerptSize = 4_096
    /// Room for headers and for what the record format adds.
    private static let overhead = 65_536

    /// Its value: the event, or its beginning.
    let value: UnsafeRawBufferPointer
    /// The user, where the event names one.
    let key: UnsafeRawBufferPointer?
    let headers: [KafkaHeader]

    /// - Parameters:
    ///   - topic: the topic that the event was meant for.
    ///   - typeHeader: the header that names its type.
    ///   - limit: the greatest record that the dead-letter topic takes, bytes.
    ///   - now: milliseconds since the epoch.
    init(
        _ event: PostedEvent, _ rejection: Rejection, index: Int?, topic: String, typeHeader: String, limit: Int,
        now: Int64
    ) {
        let whole = UnsafeRawBufferPointer(start: event.value.start, count: event.value.count)
        var headers: [KafkaHeader] = []
        if let type = event.type.text { headers.append(KafkaHeader(name: typeHeader, text: type)) }
        func add(_ name: String, _ text: String) {
            headers.append(KafkaHeader(name: "tidemark.error." + name, text: text))
        }
        add("code", rejection.code.rawValue)
        add("message", rejection.message)
        add("topic", topic)
        // It has no place in the topic.
        add("partition", "-1")
        add("offset", "-1")
        add("timestamp", String(now))
        add("stage", "ingest")
        if let index { add("index", String(index)) }
        let isTooLarge = whole.count + event.key.count > limit - IngestDeadLetter.overhead
        if isTooLarge {
            let (low, high) = event.value.hash128
            add("size", String(whole.count))
            add("xxh128", IngestDeadLetter.digits(high) + IngestDeadLetter.digits(low))
        }
        value = isTooLarge ? UnsafeRawBufferPointer(rebasing: whole.prefix(IngestDeadLetter.excerptSize)) : whole
        let isKeyed = !event.key.isNull && event.key.count <= IngestDeadLetter.excerptSize
        key = isKeyed ? UnsafeRawBufferPointer(start: event.key.start, count: event.key.count) : nil
        self.headers = headers
    }

    private static func digits(_ half: UInt64) -> String {
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The wall clock, milliseconds since the epoch.
    static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}
