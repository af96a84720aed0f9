internal import TidemarkConfiguration
internal import TidemarkProcessor

/// What the topics take that events are brought to.
struct TopicLimits: Sendable {
    /// What the record format, key and header add to an event.
    private static let overhead = 1 << 10

    /// The greatest record of the input topic, bytes.
    var event: Int
    /// The greatest record of the dead-letter topic, bytes.
    var deadLetter: Int

    /// Limits as they are known.
    init(event: Int, deadLetter: Int) { (self.event, self.deadLetter) = (event, deadLetter) }

    /// Asks the brokers what the topics take, and that they are there.
    init(_ configuration: Configuration) throws {
        let topic = try TopicLimits.topic(configuration)
        let observed = try TopicInspector(configuration).observe()
        for name in [topic, configuration.output.deadLetters] where observed[name] == nil {
            throw IngestFailure("there is no topic \(name); `tidemark topics create` makes what is missing")
        }
        func limit(_ name: String) -> Int { observed[name]?.maxMessageBytes ?? TopicPlan.defaultMaxMessageBytes }
        self.init(event: limit(topic), deadLetter: limit(configuration.output.deadLetters))
    }

    /// The largest event that can be brought in.
    func eventBytes(_ configuration: Configuration) -> Int {
        min(configuration.limits.recordBytes, event - TopicLimits.overhead)
    }

    /// The topic that events are brought to.
    static func topic(_ configuration: Configuration) throws(IngestFailure) -> String {
        guard let topic = configuration.ingestTopic else {
            throw IngestFailure(
                "there are several input.topics; name the one that gets the events, as in ingest.topic: "
                    + configuration.input.topics[0])
        }
        return topic
    }
}
