internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// Fetches records from where they came first, of which the dead-letter topic has only the beginning.
final class OriginalReader {
    private static let timeout = Duration.seconds(30)

    private let consumer: KafkaConsumer
    private let decoder: EventDecoder

    init(_ configuration: Configuration) throws {
        let name = configuration.applicationID + "-reader"
        consumer = try KafkaConsumer(properties: ClientProperties(configuration).reader(name: name))
        // It has to be found in its batch, not to be counted: no limit.
        decoder = EventDecoder(limits: DecoderLimits(maxRecordBytes: .max))
    }

    func close() { consumer.close() }

    /// The dead letter with all of its record; `nil` where that is there no longer, or is another one.
    func whole(_ letter: DeadLetter) throws -> DeadLetter? {
        guard let excerpt = letter.excerpt else { return letter }
        let origin = letter.origin
        let partition = TopicPartition(topic: origin.topic, partition: origin.partition)
        guard
            let count = try consumer.partitionCount(of: origin.topic, timeoutMilliseconds: PartitionReader.callTimeout),
            (0..<count).contains(origin.partition),
            let bounds = try consumer.watermarks(of: [partition], timeoutMilliseconds: PartitionReader.callTimeout)[
                partition],
            (bounds.low..<bounds.high).contains(origin.offset)
        else { return nil }
        try consumer.assign([PartitionOffset(partition, offset: origin.offset)])
        defer { try? consumer.assign([]) }
        let deadline = ContinuousClock.now + OriginalReader.timeout
        var found: DeadLetter?
        var isDone = false
        while !isDone {
            guard ContinuousClock.now < deadline else { throw RunFailure("\(partition) does not answer") }
            _ = try consumer.poll(max: 1, timeoutMilliseconds: 200) { item in
                switch item {
                case .record(let record):
                    isDone = true
                    if record.offset == origin.offset { found = complete(letter, by: record, excerpt) }
                case .endOfPartition: isDone = true
                case .failure(let error, _, _):
                    if error.isFatal || error.isLasting || error.code == .offsetOutOfRange { throw error }
                }
            }
        }
        return found
    }

    /// - Returns: `nil` where the record is not the one that the dead letter was made of.
    private func complete(
        _ letter: DeadLetter, by record: ConsumedRecord, _ excerpt: DeadLetter.Excerpt
    ) -> DeadLetter? {
        guard let value = record.value else { return nil }
        var view = ByteView(value)
        if let index = letter.origin.index {
            var event = Event()
            decoder.begin(view)
            while decoder.next(into: &event) != nil, decoder.elementIndex != index {}
            guard decoder.elementIndex == index else { return nil }
            view = decoder.elementBytes()
        }
        guard view.count == excerpt.size, DeadLetterWriter.hashText(of: view) == excerpt.hash else { return nil }
        var whole = letter
        whole.excerpt = nil
        whole.value = Array(UnsafeBufferPointer(start: view.start, count: view.count))
        whole.key = record.key.map(Array.init)
        whole.headers = record.headers()
        return whole
    }
}
