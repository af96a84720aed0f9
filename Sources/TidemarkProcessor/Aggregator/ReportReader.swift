internal import TidemarkAttribution
public import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka
public import TidemarkReports

/// Reads the report topic as any consumer does: committed records, the latest per key. One thread.
public final class ReportReader {
    private static let callTimeout: Int32 = 15_000

    /// The report as far as it was read.
    public let report: Report
    /// Records read so far, tombstones included.
    public private(set) var recordCount = 0

    private let consumer: KafkaConsumer
    private let topic: String
    private var next: [Int32: Int64] = [:]

    /// Starts at the beginning of the report topic of a configuration.
    ///
    /// - Throws: `RunFailure` where the topic cannot be found.
    public init(_ configuration: Configuration) throws {
        topic = configuration.output.reports
        let vocabulary = Vocabulary(excludedPlatforms: [])
        report = Report(
            store: RowStore(vocabulary: vocabulary), names: NameTable(vocabulary: vocabulary),
            rules: configuration.attribution, settings: configuration.report)
        let name = configuration.applicationID + "-reader"
        consumer = try KafkaConsumer(properties: ClientProperties(configuration).reader(name: name))
        guard let count = try consumer.partitionCount(of: topic, timeoutMilliseconds: ReportReader.callTimeout) else {
            throw RunFailure(
                "topic \(topic) does not exist: `tidemark topics create` makes it, `tidemark run` fills it")
        }
        for partition in 0..<count { next[partition] = 0 }
        try consumer.assign(
            next.keys.map { PartitionOffset(topic: topic, partition: $0, offset: PartitionOffset.beginning) })
    }

    /// Reads on to where the topic ends now.
    public func readToEnd() throws {
        let partitions = next.keys.map { TopicPartition(topic: topic, partition: $0) }
        let ends = try consumer.watermarks(of: partitions, timeoutMilliseconds: ReportReader.callTimeout)
        while ends.contains(where: { $0.value.high > max($0.value.low, next[$0.key.partition] ?? 0) }) {
            try poll(timeoutMilliseconds: 500)
        }
    }

    /// Reads what is there, waiting a while where nothing is.
    public func poll(timeoutMilliseconds: Int32) throws {
        _ = try consumer.poll(max: 10_000, timeoutMilliseconds: timeoutMilliseconds) { item in
            switch item {
            case .record(let record):
                next[record.partition] = record.offset + 1
                try take(record)
            case .endOfPartition(_, let partition, let offset):
                next[partition] = max(next[partition] ?? 0, offset)
            case .failure(let error, _, _):
                if error.isFatal || error.code == .topicAuthorizationFailed {
                    throw RunFailure("cannot read \(topic): \(error)")
                }
            }
        }
    }

    /// Stops reading.
    public func close() { consumer.close() }

    private func take(_ record: ConsumedRecord) throws {
        recordCount += 1
        let store = report.store
        do {
            guard let value = record.value else {
                guard let key = record.key else { return }
                return store.clear(store.row(try PublishedRow.readKey(key, vocabulary: store.vocabulary)))
            }
            let row = try PublishedRow.read(value, into: store)
            takeNames(row)
            if let made = row.settings(store.vocabulary) {
                report.describe(model: made.model, window: made.window, timeZone: made.timeZone)
            }
        } catch {
            throw RunFailure("\(topic)[\(record.partition)] at offset \(record.offset): \(error)")
        }
    }

    /// A later version of any row that carries an id knows its name better.
    private func takeNames(_ row: PublishedRow) {
        let ids = report.renderer.ids(of: report.store.keys[row.row])
        withUnsafeBytes(of: row.revision.bigEndian) { revision in
            for kind in NamedID.allCases where ids[kind] != 0 && row.names[Int(kind.rawValue)] != 0 {
                report.names.take(
                    kind: kind, id: ids[kind], name: row.names[Int(kind.rawValue)], time: UInt32(clamping: row.asOf),
                    rank: 0, eventID: ByteView(revision))
            }
        }
        _ = report.names.takeChanges()
    }
}
