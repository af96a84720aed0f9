internal import TidemarkAttribution
internal import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkReports

/// One partition of the report: its rows as they stand, from delta records to records of the report topic. One thread.
///
/// The state is its own output: a restart reads the rows back from the topic.
final class ReportPartition {
    let partition: Int32
    private let context: RunContext
    private let vocabulary = Vocabulary(excludedPlatforms: [])
    private let store: RowStore
    private let names: NameTable
    private let renderer: RowRenderer
    /// By row: whether the topic has a record of it.
    private var isPublished: [Bool] = []
    private var rowsOfID: [NamedRow: [Int32]] = [:]
    private var indexedRows = 0
    /// The next offset of the delta topic.
    private(set) var next: Int64 = 0
    /// The next offset of the names topic: the rows know all names before it.
    private var namesNext: Int64 = 0
    private var asOf: UInt32 = 0
    /// Delta records applied since the last commit.
    private(set) var pendingDeltas = 0
    /// Whether there is something to commit.
    private(set) var isDirty = false
    /// Whether reading went past markers of transactions since the last commit.
    private(set) var hasMoved = false

    init(context: RunContext, partition: Int32) {
        self.context = context
        self.partition = partition
        store = RowStore(vocabulary: vocabulary)
        names = NameTable(vocabulary: vocabulary)
        renderer = RowRenderer(
            vocabulary: vocabulary, rules: context.configuration.attribution, settings: context.configuration.report)
    }

    // MARK: Restoring

    /// Takes a record of the report topic.
    func restore(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?) throws(RunFailure) {
        do {
            if let value {
                let row = try PublishedRow.read(value, into: store)
                asOf = max(asOf, UInt32(clamping: row.asOf))
                setPublished(row.row, true)
                publishedNames[row.row] = row.names
            } else {
                let row = store.row(try PublishedRow.readKey(key, vocabulary: vocabulary))
                store.clear(row)
                setPublished(row, false)
                publishedNames[row] = nil
            }
        } catch {
            throw RunFailure(
                "\(context.topics.reports)[\(partition)] holds a record that is not a row of this program: \(error). Choose an output "
                    + "topic of its own for each application_id")
        }
    }

    private var publishedNames: [Int: PublishedRow.Names] = [:]

    /// Goes on from a position, after all rows and names were restored: rows whose names have changed meanwhile are published again.
    func begin(at next: Int64, asOf: UInt32) {
        self.next = next
        self.asOf = max(self.asOf, asOf)
        for (row, published) in publishedNames {
            let ids = renderer.ids(of: store.keys[row])
            for kind in NamedID.allCases where text(names.name(kind, of: ids[kind])) != published[kind] {
                store.markChanged(row)
                isDirty = true
            }
        }
        publishedNames = [:]
    }

    /// Whether there is any row.
    var isEmpty: Bool { !isPublished.contains(true) }

    private func text(_ number: UInt32) -> String? { vocabulary.strings[number].text }

    // MARK: Applying

    /// Takes a delta record.
    func apply(_ record: ConsumedRecord) throws(RunFailure) {
        guard record.offset >= next, let value = record.value else { return }
        do {
            let header = try DeltaRecord.header(of: value)
            if header.epoch == UInt32(context.epoch) {
                try DeltaRecord.apply(value, to: store)
                asOf = max(asOf, header.watermark)
            }
        } catch {
            throw RunFailure("\(context.topics.deltas)[\(partition)] at offset \(record.offset): \(error)")
        }
        next = record.offset + 1
        pendingDeltas += 1
        isDirty = true
    }

    /// Notes that the partition was read to its end, which may lie behind control records.
    ///
    /// When all changes before it have been removed by retention, only that end is still an offset to start from.
    func reachedEnd(_ offset: Int64) {
        guard offset > next else { return }
        next = offset
        hasMoved = true
    }

    /// Takes a record of the names topic; rows that carry an id with a new name are published again.
    func takeName(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(RunFailure) {
        let changed = try NameRecord.take(
            key: Array(key), value: Array(value), epoch: context.epoch, into: names, vocabulary: vocabulary)
        guard let (kind, id) = changed else { return }
        _ = names.takeChanges()
        indexRows()
        for row in rowsOfID[NamedRow(kind: kind, id: id)] ?? [] where store.exists(Int(row)) {
            store.markChanged(Int(row))
            isDirty = true
        }
    }

    /// Notes that all names before an offset of the names topic were taken.
    func passedNames(before offset: Int64) { namesNext = max(namesNext, offset) }

    /// Notes which ids the rows carry that came since the last call, so that a name costs its own rows only.
    private func indexRows() {
        while indexedRows < store.keys.count {
            let ids = renderer.ids(of: store.keys[indexedRows])
            for kind in NamedID.allCases where ids[kind] != 0 {
                rowsOfID[NamedRow(kind: kind, id: ids[kind]), default: []].append(Int32(indexedRows))
            }
            indexedRows += 1
        }
    }

    // MARK: Publishing

    /// Adds the rows that changed to a batch, with the position and offset that go with them.
    func prepareCommit(into batch: OutboundBatch) {
        var key = JSONWriter()
        var record = JSONWriter()
        for row in store.takeChanges() {
            let exists = store.exists(row)
            guard exists || isPublished(row) else { continue }
            key.removeAll()
            record.removeAll()
            renderer.writeKey(store.keys[row], to: &key)
            if exists {
                // Both offsets only grow, and whatever changes the row has moved one of them.
                renderer.writeRecord(
                    row, of: store, names: names, version: (next + namesNext, Int64(asOf)), to: &record)
            }
            batch.append(
                topic: context.topics.reports, partition: partition, key: key.bytes, value: exists ? record.bytes : nil)
            setPublished(row, exists)
        }
        let position = AggregatorPosition(
            epoch: context.epoch, next: next, asOf: asOf, fingerprint: context.fingerprint,
            reports: context.topics.reports)
        batch.append(
            topic: context.topics.checkpoint, partition: partition % Int32(context.inputPartitions),
            key: CheckpointRecord.aggregatorKey(partition), value: CheckpointRecord.encode(position))
        batch.append(PartitionOffset(topic: context.topics.deltas, partition: partition, offset: next))
    }

    /// Forgets what a commit has published.
    func finishCommit() {
        pendingDeltas = 0
        isDirty = false
        hasMoved = false
    }

    private func isPublished(_ row: Int) -> Bool { row < isPublished.count && isPublished[row] }

    private func setPublished(_ row: Int, _ value: Bool) {
        while isPublished.count <= row { isPublished.append(false) }
        isPublished[row] = value
    }
}

/// What a name belongs to.
private struct NamedRow: Hashable {
    var kind: NamedID
    var id: UInt32
}

extension MessageKey {
    /// The id of a kind.
    subscript(kind: NamedID) -> UInt32 {
        switch kind {
        case .campaign: campaign
        case .messageVariation: messageVariation
        case .canvas: canvas
        case .canvasVariation: canvasVariation
        case .canvasStep: canvasStep
        }
    }
}
