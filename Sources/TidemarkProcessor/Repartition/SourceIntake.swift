internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// What all source partitions of a process share: the decoder, and what they have come to since the last commit.
final class SourceIntake {
    let decoder: EventDecoder
    /// Gets schemas for the decoder; `nil` without a registry.
    let schemas: WriterSchemas?
    let control: RunControl
    let acceptance: Acceptance
    let epoch: Int
    let deadLetters: DeadLetterWriter
    /// Records for `<app>-by-user`.
    let batch = OutboundBatch()
    var event = Event()
    /// Records taken since the last commit.
    var recordCount = 0
    /// What became of their events, forwarded ones apart: those are the user tasks' to count.
    var counts = VerdictCounts()

    private let topic: String
    private let partitions: Int
    private let typeHeader: [CChar]
    private let stampHeader: [CChar]
    private var stamp: [UInt8] = []
    private var headers = HeaderBytes()

    init(_ context: RunContext) {
        decoder = context.makeDecoder()
        control = context.control
        schemas = context.registry.map { [decoder] in WriterSchemas($0, decoder, control: context.control) }
        acceptance = Acceptance(context.configuration.attribution)
        epoch = context.epoch
        deadLetters = DeadLetterWriter(
            topic: context.topics.deadLetters, limit: context.deadLetterLimit,
            rules: context.configuration.attribution)
        topic = context.topics.byUser
        partitions = context.inputPartitions
        typeHeader = Array(context.configuration.input.typeHeader.utf8CString)
        stampHeader = Array("\(SourceStamp.header)".utf8CString)
    }

    /// Bytes that wait for the next commit.
    var byteCount: Int { batch.byteCount + deadLetters.batch.byteCount }

    /// Gives the event at hand to its user's partition.
    ///
    /// - Parameter typeHeader: the type header of its record, which may be needed to decode it again.
    func forward(_ source: SourceStamp, typeHeader type: ByteView) {
        stamp.removeAll(keepingCapacity: true)
        source.write(to: &stamp)
        headers.removeAll()
        stamp.withUnsafeBytes { headers.append(stampHeader, $0) }
        if !type.isNull { headers.append(typeHeader, UnsafeRawBufferPointer(start: type.start, count: type.count)) }
        let key = UnsafeRawBufferPointer(start: event.userID.start, count: event.userID.count)
        let value = decoder.elementBytes()
        batch.append(
            topic: topic, partition: Murmur2.partition(of: key, count: partitions), key: key,
            value: UnsafeRawBufferPointer(start: value.start, count: value.count), packed: headers)
    }

    /// Forgets what was taken since the last commit.
    func removeAll() {
        batch.removeAll()
        deadLetters.batch.removeAll()
        recordCount = 0
        counts = VerdictCounts()
    }
}
