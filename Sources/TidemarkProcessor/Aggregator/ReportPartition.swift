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
    private let names: ReportNames
    private let store: RowStore
    private let renderer: RowRenderer
    /// By row: whether the topic has a record of it.
    private var isPublished: [Bool] = []
    /// By row: whether its record has another name than is known by now. Until `begin`.
    private var hasOldNames: [Bool] = []
    private var rowsOfID: [NamedNumber: [Int32]] = [:]
    private var indexedRows = 0
    /// The next offset of the delta topic.
    private(set) var next: Int64 = 0
    private var asOf: UInt32 = 0
    /// What the last commit has left in `<app>-positions`; `nil` before the first.
    private(set) var committed: AggregatorPosition?
    /// What the commit that is being prepared will leave there.
    private var prepared: AggregatorPosition?
    /// Delta records applied since the last commit.
    private(set) var pendingDeltas = 0
    /// Whether there is something to commit.
    private(set) var isDirty = false
    /// Whether reading went past markers of transactions since the last commit.
    private(set) var hasMoved = false

    /// - Parameter names: all names that were known when the partition was assigned.
    init(context: RunContext, partition: Int32, names: ReportNames) {
        self.context = context
        self.partition = partition
        self.names = names
        store = RowStore(vocabulary: names.vocabulary)
        renderer = RowRenderer(
            vocabulary: names.vocabulary, rules: context.configuration.attribution,
            settings: context.configuration.report)
    }

    // MARK: Restoring

    /// Takes a record of the report topic.
    func restore(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?) throws(RunFailure) {
        do {
            if let value {
                let row = try PublishedRow.read(value, into: store)
                asOf = max(asOf, UInt32(clamping: row.asOf))
                setRestored(row.row, isPublished: true, hasOldNames: isOutdated(row))
            } else {
                let row = store.row(try PublishedRow.readKey(key, vocabulary: names.vocabulary))
                store.clear(row)
                setRestored(row, isPublished: false, hasOldNames: false)
            }
        } catch {
            throw RunFailure(
                "\(context.topics.reports)[\(partition)] holds a record that is not a row of this program: \(error). Choose an output "
                    + "topic of its own for each application_id")
        }
    }

    private func setRestored(_ row: Int, isPublished: Bool, hasOldNames isOutdated: Bool) {
        setPublished(row, isPublished)
        while hasOldNames.count <= row { hasOldNames.append(false) }
        hasOldNames[row] = isOutdated
    }

    private func isOutdated(_ row: PublishedRow) -> Bool {
        let ids = renderer.ids(of: store.keys[row.row])
        return NamedID.allCases.contains { names.table.name($0, of: ids[$0]) != row.names[Int($0.rawValue)] }
    }

    /// Goes on from a position, after all rows were restored: those whose names have changed meanwhile are published again.
    ///
    /// - Parameters:
    ///   - next: the delta to go on with.
    ///   - committed: the position that the rows were restored at.
    func begin(at next: Int64, _ committed: AggregatorPosition?) {
        self.next = next
        self.committed = committed
        asOf = max(asOf, committed?.asOf ?? 0)
        for row in hasOldNames.indices where hasOldNames[row] {
            store.markChanged(row)
            isDirty = true
        }
        hasOldNames = []
    }

    /// How many rows were ever touched.
    var rowCount: Int { store.keys.count }

    /// Whether there is any row.
    var isEmpty: Bool { !isPublished.contains(true) }

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

    /// Has the rows that carry an id with a new name published again.
    func renamed(_ named: NamedNumber) {
        indexRows()
        for row in rowsOfID[named] ?? [] where store.exists(Int(row)) {
            store.markChanged(Int(row))
            isDirty = true
        }
    }

    /// Notes which ids the rows carry that came since the last call, so that a name costs its own rows only.
    private func indexRows() {
        while indexedRows < store.keys.count {
            let ids = renderer.ids(of: store.keys[indexedRows])
            for kind in NamedID.allCases where ids[kind] != 0 {
                rowsOfID[NamedNumber(kind: kind, id: ids[kind]), default: []].append(Int32(indexedRows))
            }
            indexedRows += 1
        }
    }

    // MARK: Publishing

    /// Adds the rows that changed to a batch, with the position and offset that go with them.
    func prepareCommit(into batch: OutboundBatch) {
        var key = JSONWriter()
        var record = RowRecord(encoding: context.encodings.rows)
        for row in store.takeChanges() {
            let exists = store.exists(row)
            guard exists || isPublished(row) else { continue }
            key.removeAll()
            renderer.writeKey(store.keys[row], to: &key)
            // Both offsets only grow, and whatever changes the row has moved one of them.
            let version = (next + names.next, Int64(asOf))
            batch.append(
                topic: context.topics.reports, partition: partition, key: key.bytes,
                value: exists ? record.write(row, of: store, renderer, names.table, version) : nil)
            setPublished(row, exists)
        }
        let position = AggregatorPosition(
            epoch: context.epoch, commit: (committed?.commit ?? 0) + 1, next: next, asOf: asOf,
            fingerprint: context.fingerprint, reports: context.topics.reports)
        batch.append(
            topic: context.topics.positions, partition: partition, key: PositionKey.aggregator(partition),
            value: JSONRecord.encode(position))
        prepared = position
        batch.append(PartitionOffset(topic: context.topics.deltas, partition: partition, offset: next))
    }

    /// Forgets what a commit has published.
    func finishCommit() {
        committed = prepared
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
