internal import TidemarkAttribution
internal import TidemarkKafka
internal import TidemarkReports

/// The names that ids have by all records of the names topic so far. All partitions of the report that a process has share them: each
/// record is read once. One thread.
final class ReportNames {
    /// What numbers ids and names, and all else in the rows of the partitions.
    let vocabulary = Vocabulary(excludedPlatforms: [])
    let table: NameTable
    private let epoch: Int
    /// The next offset of the names topic: all names before it are known.
    private(set) var next: Int64 = 0

    init(epoch: Int) {
        self.epoch = epoch
        table = NameTable(vocabulary: vocabulary)
    }

    /// Takes a record of the names topic.
    ///
    /// - Returns: the id whose name is another one now; `nil` where none is.
    func take(_ record: ConsumedRecord) throws(RunFailure) -> NamedNumber? {
        passed(before: record.offset + 1)
        guard let key = record.key, let value = record.value else { return nil }
        defer { _ = table.takeChanges() }
        return try NameRecord.take(key: key, value: value, epoch: epoch, into: table, vocabulary: vocabulary)
    }

    /// Reads on to the end that the topic has now, or beyond.
    ///
    /// No owner of a partition before can have known more: what it sent belongs to a generation of the group that has ended. So revisions do
    /// not fall behind theirs.
    ///
    /// - Parameter onChange: called with each id whose name is another one now.
    func catchUp(_ context: RunContext, _ reader: PartitionReader, onChange: (NamedNumber) -> Void) throws {
        let place = TopicPartition(topic: context.topics.names, partition: 0)
        let end = try reader.bounds(of: place).high
        var progress = RestoreProgress(context: context, of: place, to: end)
        try reader.read(place, from: next) { record in
            if let named = try take(record) { onChange(named) }
            progress.note(record)
        }
        passed(before: end)
    }

    /// Notes that all names before an offset of the names topic were taken.
    func passed(before offset: Int64) { next = max(next, offset) }
}
