public import TidemarkConfiguration
internal import TidemarkKafka

/// Reads the dead letters of an application, and which of them were fed again. Joins no consumer group.
public final class DeadLetterReader {
    /// Records of the dead-letter topic that no process of Tidemark has written, so far.
    public private(set) var foreignCount = 0

    let topics: ApplicationTopics
    let reader: PartitionReader
    private let partitions: Int32
    private let hasMarks: Bool

    /// Looks the topics up.
    ///
    /// - Parameter control: its wish to stop ends reading.
    /// - Throws: `RunFailure` where the topic cannot be found or read.
    public init(_ configuration: Configuration, control: RunControl) throws {
        topics = ApplicationTopics(configuration)
        let admin = try KafkaAdmin(properties: configuration.kafka)
        defer { admin.close() }
        let counts: [String: Int]
        do {
            counts = try admin.describeTopics([topics.deadLetters, topics.redriven])
        } catch {
            throw RunFailure("no Kafka broker answers at \(configuration.bootstrapServers): \(error)")
        }
        guard let count = counts[topics.deadLetters] else {
            throw RunFailure(
                "topic \(topics.deadLetters) (output.dead_letters) does not exist: check the configuration; `tidemark topics create` makes it"
            )
        }
        partitions = Int32(count)
        hasMarks = counts[topics.redriven] != nil
        reader = try PartitionReader(configuration, control: control)
    }

    /// Ends reading.
    public func close() { reader.close() }

    /// Calls `body` for each dead letter that is wanted, partition by partition, up to where the topic ends now.
    public func read(_ filter: DeadLetterFilter, _ body: (DeadLetter) throws -> Void) throws {
        let wanted = filter.partition.map { [$0] } ?? Array(0..<partitions)
        for number in wanted {
            guard number < partitions else {
                throw RunFailure(
                    "topic \(topics.deadLetters) has \(partitions) partitions: there is no partition \(number)")
            }
            let partition = TopicPartition(topic: topics.deadLetters, partition: number)
            do {
                try reader.read(partition, from: filter.offsets?.lowerBound ?? 0) { record in
                    guard let letter = DeadLetter(record) else { return foreignCount += 1 }
                    if filter.matches(letter) { try body(letter) }
                }
            } catch is Stopped {
                throw RunFailure("stopped")
            } catch let error as Restart {
                throw RunFailure(error.description)
            } catch let error as KafkaError {
                throw RunFailure("cannot read \(partition): \(error)")
            }
        }
    }

    /// Which dead letters were fed again.
    public func redriven() throws -> RedriveMarks {
        guard hasMarks else { return RedriveMarks() }
        return try RedriveMarks(topic: topics.redriven, reader)
    }

    /// Whether there is a topic to note what is fed again.
    func requireMarks() throws(RunFailure) {
        guard !hasMarks else { return }
        throw RunFailure(
            "topic \(topics.redriven) does not exist, which notes what was fed again: `tidemark topics create` makes it"
        )
    }
}
