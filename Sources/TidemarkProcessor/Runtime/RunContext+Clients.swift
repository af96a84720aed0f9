internal import TidemarkConfiguration
internal import TidemarkKafka

/// What the threads that read input as members of a group have in common.
extension RunContext {
    /// A member of a group, whose errors go to the log.
    func consumer(group: String) throws(KafkaError) -> any ConsumerClient {
        let properties = ClientProperties(configuration).consumer(group: group)
        return try clients.consumer(properties) { [control, loop] line in
            if line.level <= 3 { control.log("kafka consumer: \(line.message)", level: .warning, loop: loop) }
        }
    }

    /// Ends or begins anew what cannot go on after an error of a consumer; one that passes by itself is logged.
    ///
    /// - Parameters:
    ///   - place: the topic that the error is about, or what is read.
    ///   - loss: what retention has removed where the next offset is gone, and what to do.
    func handle(_ error: KafkaError, reading place: String, _ partition: Int32?, loss: String) throws {
        switch error.code {
        case .offsetOutOfRange, .noOffsetToStartFrom:
            throw RunFailure("\(place)[\(partition ?? -1)] no longer has \(loss)")
        case .topicAuthorizationFailed, .groupAuthorizationFailed, .unknownTopic, .unknownTopicOrPartition:
            throw AccessAdvice.failure(error, at: "cannot read \(place)", topics)
        default:
            if error.isFatal || error.code == .maximumPollIntervalExceeded { throw Restart(description: "\(error)") }
            // The client reconnects by itself.
            log("kafka: \(error)", level: .warning)
        }
    }

    /// What to say when input is gone that was not read.
    static let inputLoss =
        "the offset that comes next: retention has removed events that were not yet read. Start under a new application_id and new "
        + "output topics to go on with what is left"
}
