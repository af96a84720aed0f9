internal import TidemarkKafka

/// A record of `<app>-by-user` without an event: how far sources have been read, for partitions that got none of their events.
struct WatermarkNotice: Codable, Equatable {
    static let header: StaticString = "tidemark.watermarks"

    /// See `Epoch`; notices of another one are void.
    var epoch: Int
    /// The greatest accepted event time, seconds since the epoch, by topic and partition.
    var watermarks: [String: [Int32: UInt32]]

    /// Adds a notice for each of `partitions` partitions.
    static func append(
        _ marks: [(source: TopicPartition, mark: UInt32)], epoch: Int, topic: String, partitions: Int,
        to batch: OutboundBatch
    ) {
        var notice = WatermarkNotice(epoch: epoch, watermarks: [:])
        for (source, mark) in marks { notice.watermarks[source.topic, default: [:]][source.partition] = mark }
        let headers = [KafkaHeader(name: "\(WatermarkNotice.header)", text: String(marks.count))]
        let value = JSONRecord.encode(notice)
        value.withUnsafeBytes { value in
            for partition in 0..<Int32(partitions) {
                batch.append(topic: topic, partition: partition, key: nil, value: value, headers: headers)
            }
        }
    }
}
