internal import Foundation
internal import TidemarkConfiguration
internal import TidemarkKafka

/// Asks brokers now and then for the last stable offsets of the partitions that this process has, for display. A thread of its own with
/// a consumer of its own, so that a slow answer holds up nobody.
enum LagWatch {
    private static let interval = Duration.seconds(2)
    private static let callTimeout: Int32 = 5_000

    /// Watches until the process stops. What fails is left out: no figure is worth a failure.
    static func start(_ context: RunContext) {
        let thread = Thread {
            let properties = ClientProperties(context.configuration).reader(name: context.topics.taskGroup + "-reader")
            guard let consumer = try? KafkaConsumer(properties: properties) else { return }
            defer { consumer.close() }
            while !context.control.isStopping {
                context.control.publish(stableEnds: ends(context, consumer))
                context.control.sleep(interval)
            }
        }
        thread.name = "lag"
        thread.start()
    }

    private static func ends(_ context: RunContext, _ consumer: KafkaConsumer) -> [TopicPartition: Int64] {
        let loops = context.control.status.loops
        let partitions =
            loops.flatMap(\.tasks).flatMap { task in
                task.inputs.map { TopicPartition(topic: $0.topic, partition: task.partition) }
            } + loops.flatMap(\.sources).map { TopicPartition(topic: $0.input.topic, partition: $0.partition) }
        guard !partitions.isEmpty else { return [:] }
        let marks = try? consumer.watermarks(of: partitions, timeoutMilliseconds: callTimeout)
        return (marks ?? [:]).mapValues(\.high)
    }
}
