public import TidemarkAttribution
internal import TidemarkEvents
public import TidemarkReports

/// A record of the report topic, read back (`spec/reports.md` section 3).
public struct PublishedRow: Sendable {
    /// Why a record cannot be a row.
    public struct Malformed: Error, Equatable, CustomStringConvertible {
        /// What is wrong, with the field.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// Number of the row in the store.
    public let row: Int
    /// `revision`; 0 where the record has none, as in the output of a replay.
    public let revision: Int64
    /// `as_of`, seconds since the epoch; 0 where the record has none.
    public let asOf: Int64
    /// The names of the row's ids, by kind in the order of `NamedID`: numbers of the store's vocabulary, 0 where the record says null.
    public let names: InlineArray<5, UInt32>
    /// `attribution.model`, `attribution.window` and `time_zone`: numbers as well.
    private let made: (model: UInt32, window: UInt32, timeZone: UInt32)

    /// The settings that the row was made with; `nil` where the record has none that this version knows. No time zone in totals.
    public func settings(
        _ vocabulary: Vocabulary
    ) -> (model: AttributionRules.CreditModel, window: AttributionRules.WindowPolicy, timeZone: String?)? {
        guard let model = vocabulary.strings[made.model].text.flatMap(AttributionRules.CreditModel.init),
            let window = vocabulary.strings[made.window].text.flatMap(AttributionRules.WindowPolicy.init)
        else { return nil }
        return (model, window, vocabulary.strings[made.timeZone].text)
    }

    /// Reads the value of a record, JSON or Avro, and makes it the store's version of its row: every metric that it does not have is zero then.
    ///
    /// Ids, platform and buttons get numbers of the store's vocabulary. Metrics that this version does not know are ignored, those that
    /// follow from others are not read. Campaign rows have records of their own, so that nothing is added up here.
    ///
    /// - Throws: `Malformed`, with the store as it was but for numbers given out.
    public static func read(
        _ value: UnsafeRawBufferPointer, into store: RowStore
    ) throws(Malformed) -> PublishedRow {
        if AvroRecordReader.isFramed(value) {
            let (fields, key, metrics) = try PublishedFields.readAvro(value, store.vocabulary)
            return try take(fields, key, metrics, into: store)
        }
        return try JSONReader.read(value) { json throws(Malformed) in
            let fields = try PublishedFields(record: &json)
            let key = try fields.key(store.vocabulary)
            let metrics = try fields.metrics(of: key.channel, store.vocabulary, &json)
            return try take(fields, key, metrics, into: store)
        }
    }

    private static func take(
        _ fields: PublishedFields, _ key: RowKey, _ metrics: PublishedFields.Metrics, into store: RowStore
    ) throws(Malformed) -> PublishedRow {
        let vocabulary = store.vocabulary
        let names = try fields.names(vocabulary)
        let revision = try fields.revision.value("revision") ?? 0
        let asOf = try fields.asOf.value("as_of") ?? 0
        let timeZone = vocabulary.strings.intern(try fields.text(.timeZone) ?? .null)
        let made = (vocabulary.strings.intern(fields.model), vocabulary.strings.intern(fields.window), timeZone)
        // Nothing fails from here on.
        let row = store.row(key)
        store.clear(row)
        store.restore(row, counters: metrics.counters)
        for (button, count) in metrics.clicks { store.restore(row, button: button, to: count) }
        return PublishedRow(row: row, revision: revision, asOf: asOf, names: names, made: made)
    }

    /// Reads the key of a record: the JSON array of `spec/reports.md` section 1. What a tombstone withdraws.
    ///
    /// - Throws: `Malformed`.
    public static func readKey(
        _ bytes: UnsafeRawBufferPointer, vocabulary: Vocabulary
    ) throws(Malformed) -> RowKey {
        try JSONReader.read(bytes) { json throws(Malformed) in
            try PublishedFields(key: &json).key(vocabulary)
        }
    }
}
