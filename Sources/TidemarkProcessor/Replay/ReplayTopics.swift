public import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka

/// Reads topics into a replay: all partitions, from their beginning or a time on, up to their ends at the start of the replay or a time.
///
/// Reads committed records only and joins no group, so that a live application on the same topics is not disturbed.
public final class ReplayTopics {
    /// Why topics cannot be read.
    public struct Failure: Error, CustomStringConvertible {
        /// Which topic, and what is wrong.
        public let description: String
    }

    /// Which part of the topics is read, by the Kafka timestamps of records: milliseconds since the epoch.
    public struct Span: Sendable {
        /// The first time; `nil` is the beginning.
        public var from: Int64?
        /// The time before which reading ends; `nil` is the end of each partition when reading starts.
        public var to: Int64?

        /// Everything.
        public init(from: Int64? = nil, to: Int64? = nil) {
            self.from = from
            self.to = to
        }
    }

    /// How far reading has come.
    public struct Progress: Sendable {
        /// Offsets passed so far.
        public var offsetsRead: Int64 = 0
        /// Offsets between the starts and the ends of all partitions.
        public var offsetsInAll: Int64 = 0
        /// Bytes of the values read.
        public var bytesRead: Int64 = 0
        /// Partitions that have records to read.
        public var partitions = 0

        /// Nothing read yet.
        public init() {}
    }

    private struct Part {
        let name: TopicPartition
        let start: Int64
        let end: Int64
        let hint: TopicType
        var position: Int64
    }

    private static let metadataTimeout: Int32 = 10_000
    /// How long nothing may arrive before the replay gives up.
    private static let patience = Duration.seconds(15)

    private let configuration: Configuration
    private let consumer: KafkaConsumer
    private let typeHeader: [CChar]
    private let schemas: InputSchemas
    private var parts: [Part] = []
    private var places: [PartKey: Int] = [:]
    /// The partition of the last record: the next one is mostly of the same.
    private var last: (key: PartKey, place: Int)?
    private var unfinished = 0
    private var progress = Progress()
    private var piece = RecordPiece()
    private var failure: Failure?

    private struct PartKey: Hashable {
        let topic: TopicHandle
        let partition: Int32
    }

    /// Looks the topics up and decides from where to where each partition is read.
    ///
    /// - Parameter schemas: those that the configuration names.
    /// - Throws: `Failure` if a topic does not exist or no broker answers within some 15 seconds.
    public init(
        _ topics: [String], span: Span, configuration: Configuration, schemas: InputSchemas = InputSchemas()
    ) throws {
        self.configuration = configuration
        self.schemas = schemas
        typeHeader = Array(configuration.input.typeHeader.utf8CString)
        do {
            consumer = try KafkaConsumer(
                properties: ClientProperties(configuration).reader(name: configuration.applicationID + "-replay"))
        } catch { throw Failure(description: "\(error)") }
        for topic in topics { try addParts(of: topic, span) }
        unfinished = parts.count
        progress.partitions = parts.count
        progress.offsetsInAll = parts.reduce(0) { $0 + $1.end - $1.start }
    }

    /// Reads everything.
    ///
    /// - Parameter report: told now and then how far reading has come.
    /// - Throws: `Failure`, and what `report` throws.
    public func read(into sink: any ReplaySink, report: (Progress) throws -> Void = { _ in }) throws {
        guard unfinished > 0 else { return try report(progress) }
        let sources = parts.enumerated().map { place, part in
            RecordPiece.Source(
                name: "\(part.name)", type: part.hint,
                stream: configuration.input.repartition ? Int32(place) : part.name.partition,
                schema: schemas.ofTopics[part.name.topic])
        }
        piece.beginRecords(of: sources)
        do {
            try consumer.assign(parts.map { PartitionOffset($0.name, offset: $0.start) })
        } catch { throw Failure(description: "\(error)") }
        var lastArrival = ContinuousClock.now
        while unfinished > 0 {
            var refusal: (any Error)?
            let count = consumer.pollBatch(max: 1_000, timeoutMilliseconds: 200) { item in
                take(item)
                guard piece.isFull, refusal == nil else { return }
                do { try handOn(to: sink) } catch { refusal = error }
            }
            if let refusal { throw refusal }
            if let failure { throw failure }
            if count > 0 { lastArrival = .now }
            if lastArrival.duration(to: .now) > Self.patience { throw silence() }
            progress.offsetsRead = parts.reduce(0) { $0 + min($1.position, $1.end) - $1.start }
            try report(progress)
        }
        if !piece.isEmpty { try handOn(to: sink) }
        consumer.close()
    }

    private func addParts(of topic: String, _ span: Span) throws {
        do {
            guard let count = try consumer.partitionCount(of: topic, timeoutMilliseconds: Self.metadataTimeout),
                count > 0
            else {
                throw Failure(
                    description: "there is no topic \(topic) on \(configuration.bootstrapServers)")
            }
            let all = (0..<count).map { TopicPartition(topic: topic, partition: $0) }
            let marks = try consumer.watermarks(of: all, timeoutMilliseconds: Self.metadataTimeout)
            let starts = try offsets(of: all, at: span.from)
            let ends = try offsets(of: all, at: span.to)
            let hint = configuration.input.topicTypes[topic].map(TopicType.named) ?? TopicType.of(topic: topic)
            let handle = try consumer.topicHandle(topic)
            for name in all {
                guard let (low, high) = marks[name] else { continue }
                let start = max(low, starts?[name] ?? low)
                let end = min(high, ends?[name] ?? high)
                guard start < end else { continue }
                places[PartKey(topic: handle, partition: name.partition)] = parts.count
                parts.append(Part(name: name, start: start, end: end, hint: hint, position: start))
            }
        } catch let error as KafkaError {
            throw Failure(description: "cannot read topic \(topic): \(explained(error))")
        }
    }

    private func offsets(of parts: [TopicPartition], at time: Int64?) throws(KafkaError) -> [TopicPartition: Int64]? {
        guard let time else { return nil }
        return try consumer.offsets(
            at: Dictionary(uniqueKeysWithValues: parts.map { ($0, time) }), timeoutMilliseconds: Self.metadataTimeout)
    }

    private func handOn(to sink: any ReplaySink) throws {
        let sources = piece.sources
        piece = try sink.take(piece)
        piece.beginRecords(of: sources)
    }

    private func take(_ item: ConsumedItem) {
        switch item {
        case .record(let record):
            guard let place = place(of: record.topicHandle, record.partition) else { return }
            if record.offset < parts[place].end { take(record, place) }
            advance(place, to: record.offset + 1)
        case .endOfPartition(let topic, let partition, let offset):
            guard let place = place(of: topic, partition) else { return }
            advance(place, to: offset)
        case .failure(let error, let topic, let partition):
            guard error.isFatal || partition != nil else { return }
            let name = partition.map { "\(topic ?? "")[\($0)]" } ?? "the topics"
            failure = failure ?? Failure(description: "cannot read \(name): \(error)")
        }
    }

    private func place(of topic: TopicHandle, _ partition: Int32) -> Int? {
        let key = PartKey(topic: topic, partition: partition)
        if let last, last.key == key { return last.place }
        guard let place = places[key] else { return nil }
        last = (key, place)
        return place
    }

    private func take(_ record: ConsumedRecord, _ place: Int) {
        progress.bytesRead += Int64(record.value?.count ?? 0)
        piece.append(
            record.value, header: record.header(named: typeHeader), time: record.timestampMilliseconds,
            offset: record.offset, source: place)
    }

    /// Notes how far a partition is read; what lies behind its end is fetched no longer.
    private func advance(_ place: Int, to position: Int64) {
        let wasOpen = parts[place].position < parts[place].end
        parts[place].position = max(parts[place].position, position)
        guard wasOpen, parts[place].position >= parts[place].end else { return }
        unfinished -= 1
        // Its records behind the end are ignored all the same, so that a pause that fails costs time only. Nothing is ever resumed.
        try? consumer.pause([parts[place].name])
    }

    private func silence() -> Failure {
        let open = parts.filter { $0.position < $0.end }.map(\.name.description).joined(separator: ", ")
        let reason = consumer.lastError.map { ": \(explained($0))" } ?? ""
        return Failure(description: "nothing arrives any more from \(open)\(reason)")
    }

    /// An error with the brokers that were tried, where that is what is wrong.
    private func explained(_ error: KafkaError) -> String {
        // Serves the callback that notes what went wrong with the connections.
        _ = consumer.poll(max: 1, timeoutMilliseconds: 0) { _ in }
        let isConnection = [.transport, .timedOut, .allBrokersDown].contains(error.code)
        guard isConnection else { return "\(error)" }
        let last = consumer.lastError.map { ": \($0.message)" } ?? ""
        return "no broker of \(configuration.bootstrapServers) answers\(last)"
    }
}
