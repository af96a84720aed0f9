internal import TidemarkKafka

/// What to do about errors that stay until somebody changes settings, permissions or topics.
enum AccessAdvice {
    /// A failure that says what is wrong, where, and what to do.
    ///
    /// - Parameters:
    ///   - place: who met the error, or the topic that it is about.
    ///   - topics: the names of the application.
    static func failure(_ error: KafkaError, at place: String, _ topics: ApplicationTopics) -> RunFailure {
        guard let advice = advice(error.code, topics) else { return RunFailure("\(place): \(error)") }
        return RunFailure("\(place): \(error). \(advice)")
    }

    private static func advice(_ code: KafkaError.Code, _ topics: ApplicationTopics) -> String? {
        let outputs = [topics.reports, topics.opens, topics.deadLetters].joined(separator: ", ")
        let own = [topics.deltas, topics.names, topics.checkpoint, topics.positions].joined(separator: ", ")
        return switch code {
        case .topicAuthorizationFailed:
            "The user of the `kafka` settings needs Read on \(topics.inputs.joined(separator: ", ")), Write on \(outputs), and Read and "
                + "Write on \(own) and \(topics.reports) (`kafka-acls --add`)"
        case .groupAuthorizationFailed:
            "The user of the `kafka` settings needs Read on the groups that begin with \(topics.taskGroup) (`kafka-acls --add "
                + "--operation Read --group \(topics.taskGroup) --resource-pattern-type prefixed`)"
        case .transactionalIDAuthorizationFailed:
            "The user of the `kafka` settings needs Write and Describe on the transactional ids that begin with \(topics.taskGroup)- "
                + "(`kafka-acls --add --operation Write --transactional-id \(topics.taskGroup)- --resource-pattern-type prefixed`)"
        case .clusterAuthorizationFailed:
            "The user of the `kafka` settings needs IdempotentWrite on the cluster, or Write on any topic (`kafka-acls --add`)"
        case .unknownTopic, .unknownTopicOrPartition:
            "The topic was deleted. `tidemark topics create` makes missing topics; where the input or one of the application's own topics is "
                + "gone, start under a new application_id and new output topics, or begin anew with `tidemark reset`"
        default: nil
        }
    }
}
