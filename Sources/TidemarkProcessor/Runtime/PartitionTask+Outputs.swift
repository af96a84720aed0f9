internal import TidemarkKafka
internal import TidemarkReports

/// What a commit publishes beside the checkpoint.
extension PartitionTask {
    /// Rows in one delta record, so that it stays far below what a topic takes.
    private static let rowsPerDelta = 2_000

    func appendDeltas(to batch: OutboundBatch) {
        let deltas = state.pass.deltas
        let header = DeltaRecord.Header(
            epoch: UInt32(context.epoch), task: UInt32(partition), watermark: state.watermark)
        let changed = DeltaRecord.changedRows(
            deltas, vocabulary: state.vocabulary, partitions: context.reportPartitions)
        let key = Array(String(partition).utf8)
        for (target, rows) in changed.enumerated() where !rows.isEmpty {
            for start in stride(from: 0, to: rows.count, by: PartitionTask.rowsPerDelta) {
                let slice = Array(rows[start..<min(start + PartitionTask.rowsPerDelta, rows.count)])
                let record = DeltaRecord.encode(slice, of: deltas, vocabulary: state.vocabulary, header: header)
                batch.append(topic: context.topics.deltas, partition: Int32(target), key: key, value: record)
            }
        }
        deltas.removeAll()
    }

    func appendOpens(to batch: OutboundBatch) {
        let opens = state.pass.opens
        opens.bytes.withUnsafeBytes { bytes in
            for change in opens.changes {
                let user = UnsafeRawBufferPointer(rebasing: bytes[change.userID])
                batch.append(
                    topic: context.topics.opens, partition: Murmur2.partition(of: user, count: context.openPartitions),
                    key: UnsafeRawBufferPointer(rebasing: bytes[change.key]),
                    value: change.value.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: bytes[change.value]))
            }
        }
        opens.removeAll()
    }

    func appendNames(to batch: OutboundBatch) {
        for slot in state.pass.names.takeChanges() {
            let (key, value) = NameRecord.encode(
                slot, task: partition, epoch: context.epoch, vocabulary: state.vocabulary)
            batch.append(topic: context.topics.names, partition: 0, key: key, value: value)
        }
    }
}
