internal import TidemarkConfiguration
internal import TidemarkKafka

/// Opens of another application would stand among ours for good: nobody would ever withdraw them.
enum OwnOpens {
    private static let callTimeout: Int32 = 15_000

    /// Refuses an open topic that has records while the application has not committed anything yet.
    ///
    /// Other processes of the application may be at work. Each of their commits writes to both topics, so this looks for committed opens
    /// first and then for any record of the checkpoint, committed or not.
    static func check(_ context: RunContext) throws {
        let topics = context.topics
        guard try holdsRecords(topics.opens, context.openPartitions, isolation: "read_committed", context),
            try !holdsRecords(topics.checkpoint, context.inputPartitions, isolation: "read_uncommitted", context)
        else { return }
        throw RunFailure(
            "\(topics.opens) already holds opens, and application `\(context.configuration.applicationID)` has not written them: choose "
                + "another output.opens, or the application_id that they belong to")
    }

    private static func holdsRecords(
        _ topic: String, _ partitions: Int, isolation: String, _ context: RunContext
    ) throws -> Bool {
        let properties = ClientProperties(context.configuration)
        let consumer = try KafkaConsumer(
            properties: properties.reader(name: context.topics.taskGroup + "-reader", isolation: isolation))
        defer { consumer.close() }
        let places = (0..<Int32(partitions)).map { TopicPartition(topic: topic, partition: $0) }
        return try consumer.watermarks(of: places, timeoutMilliseconds: callTimeout).values.contains { $0.high > 0 }
    }
}
