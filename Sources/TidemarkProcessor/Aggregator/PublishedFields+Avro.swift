internal import TidemarkAttribution
internal import TidemarkEvents
internal import TidemarkReports

extension PublishedFields {
    /// Fields that are to be filled in.
    init() {}

    /// Reads the value of a record that is Avro of our own schema of rows, and its metrics.
    ///
    /// The id of the schema is not compared: there is one schema of rows so far, and a record of another would not end where this one does.
    static func readAvro(
        _ value: UnsafeRawBufferPointer, _ vocabulary: Vocabulary
    ) throws(PublishedRow.Malformed) -> (fields: PublishedFields, key: RowKey, metrics: Metrics) {
        var avro = AvroRecordReader(value)
        var fields = PublishedFields()
        let metrics: Int
        do throws(AvroRecordReader.Broken) {
            metrics = try fields.take(&avro)
        } catch {
            throw PublishedRow.Malformed("not Avro of the schema of report rows")
        }
        let key = try fields.key(vocabulary)
        avro.position = metrics
        do throws(AvroRecordReader.Broken) {
            return (fields, key, try PublishedFields.metrics(of: key.channel, vocabulary, &avro))
        } catch {
            preconditionFailure("what was skipped is valid")
        }
    }

    /// - Returns: where the metrics begin.
    private mutating func take(_ avro: inout AvroRecordReader) throws(AvroRecordReader.Broken) -> Int {
        try avro.begin()
        for text in Text.allCases {
            if text != .row, text != .channel, try !avro.isPresent() { continue }
            texts[text.rawValue] = .value(try avro.text())
        }
        model = try avro.text()
        window = try avro.text()
        _ = try avro.integer()
        let metrics = avro.position
        for isMap in AvroMetrics.isMap where try avro.isPresent() {
            if isMap { try avro.map { _, _ in } } else { _ = try avro.integer() }
        }
        revision = .value(try avro.integer())
        asOf = .value(try avro.integer())
        guard avro.isAtEnd else { throw AvroRecordReader.Broken() }
        return metrics
    }

    private static func metrics(
        of channel: Channel, _ vocabulary: Vocabulary, _ avro: inout AvroRecordReader
    ) throws(AvroRecordReader.Broken) -> Metrics {
        var result = Metrics()
        for (metric, isMap) in zip(AvroMetrics.all(of: channel), AvroMetrics.isMap) where try avro.isPresent() {
            if isMap {
                try avro.map { result.clicks.append((vocabulary.strings.intern($0), $1)) }
                continue
            }
            let value = try avro.integer()
            if case .counter(let counter) = metric?.source { result.counters[counter] = value }
        }
        return result
    }
}
