internal import CRdKafka
internal import Glibc

/// Identity of a consumer as a member of one generation of its group: what makes a commit by a member that has been
/// replaced fail. Take it in the assign callback and use it for all commits of that assignment.
public final class GroupMetadata {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { rd_kafka_consumer_group_metadata_destroy(pointer) }
}

extension KafkaConsumer {
    /// The membership as it is now; nil when there is no group.
    public func groupMetadata() -> GroupMetadata? {
        guard let handle = try? open() else { return nil }
        return rd_kafka_consumer_group_metadata(handle.pointer).map { GroupMetadata($0) }
    }

    /// Offsets committed by the group. Waits while a transaction that commits offsets is being decided (when reading
    /// committed records).
    /// - Returns: the next offset to read by partition; a partition without committed offset is absent.
    /// - Throws: the error of the request or of the first partition that has one.
    public func committed(
        _ partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let handle = try open()
        return try withPartitionList(partitions.map { PartitionOffset($0, offset: 0) }) { list throws(KafkaError) in
            try throwing(rd_kafka_committed(handle.pointer, list, timeoutMilliseconds), "committed offsets")
            return try list.checkedOffsets("committed offset").filter { $0.value >= 0 }
        }
    }

    /// First and next offset of several partitions, in two requests per leader.
    ///
    /// The isolation level of this consumer decides what `high` means: with `read_uncommitted` the end of the log, open
    /// transactions included; with `read_committed` the last stable offset, before the first open transaction.
    ///
    /// Asked as offsets for the special times "beginning" and "end", because librdkafka's own watermark query ignores its
    /// timeout in 2.0.2.
    public func watermarks(
        of partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicPartition: (low: Int64, high: Int64)] {
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        let low = try offsetsForTimes(
            partitions.map { PartitionOffset($0, offset: PartitionOffset.beginning) }, deadline, "watermark")
        let high = try offsetsForTimes(
            partitions.map { PartitionOffset($0, offset: PartitionOffset.end) }, deadline, "watermark")
        return low.reduce(into: [:]) { result, entry in
            if let end = high[entry.key] { result[entry.key] = (entry.value, end) }
        }
    }

    /// First and next offset of a partition as of the latest fetch, without asking a broker; nil before the first fetch.
    ///
    /// For lag figures only: `high` is the end of the log, open transactions included, whatever the isolation level.
    public func cachedWatermarks(of partition: TopicPartition) -> (low: Int64, high: Int64)? {
        guard let handle = try? open() else { return nil }
        var low: Int64 = 0
        var high: Int64 = 0
        let code = rd_kafka_get_watermark_offsets(
            handle.pointer, partition.topic, partition.partition, &low, &high)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0 else { return nil }
        return (max(0, low), high)
    }

    /// The first offset whose timestamp is at or after the given time, by partition; the end of the partition when there is
    /// none.
    public func offsets(
        at timesMilliseconds: [TopicPartition: Int64], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        // Negative times are special values in the protocol; no record is older than time 0.
        let times = timesMilliseconds.map { PartitionOffset($0.key, offset: max(0, $0.value)) }
        var found = try offsetsForTimes(times, deadline, "offset for time")
        let missing = found.filter { $0.value < 0 }.map { PartitionOffset($0.key, offset: PartitionOffset.end) }
        if !missing.isEmpty {
            found.merge(try offsetsForTimes(missing, deadline, "end")) { _, end in end }
        }
        return found
    }

    private func offsetsForTimes(
        _ times: [PartitionOffset], _ deadline: Deadline, _ what: String
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        while true {
            do throws(KafkaError) {
                return try offsetsForTimesOnce(times, deadline, what)
            } catch {
                // A new topic, or one whose leader has just changed: the client asks for the leader anew.
                let isPassing = error.code == .notLeader || error.code == .leaderNotAvailable
                guard isPassing, deadline.remaining > 200 else { throw error }
                usleep(100_000)
            }
        }
    }

    private func offsetsForTimesOnce(
        _ times: [PartitionOffset], _ deadline: Deadline, _ what: String
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let handle = try open()
        return try withPartitionList(times) { list throws(KafkaError) in
            try throwing(rd_kafka_offsets_for_times(handle.pointer, list, deadline.remaining), what)
            return try list.checkedOffsets(what)
        }
    }

    /// How many partitions a topic has; nil when it does not exist.
    public func partitionCount(
        of topic: String, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> Int32? {
        try open().partitionCount(of: topic, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Where reading stands: offset of the last record handed out + 1, or the offset of the last end-of-partition event when
    /// that came later; absent before the first of either.
    ///
    /// - Important: control records and records of aborted transactions move it only together with the record or event that
    ///   comes behind them. A position on a control record is a good place to start from.
    public func positions(_ partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        let handle = try open()
        return try withPartitionList(partitions.map { PartitionOffset($0, offset: 0) }) { list throws(KafkaError) in
            try throwing(rd_kafka_position(handle.pointer, list), "position")
            return try list.checkedOffsets("position").filter { $0.value >= 0 }
        }
    }
}
