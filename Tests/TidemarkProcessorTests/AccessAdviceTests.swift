import Testing
import TidemarkConfiguration
import TidemarkKafka

@testable import TidemarkProcessor

/// Errors that only a person can mend name what to do.
@Suite("Advice about access")
struct AccessAdviceTests {
    private func text(_ code: KafkaError.Code) -> String {
        AccessAdvice.failure(KafkaError(code: code), at: "worker-0", ApplicationTopics(Configuration())).description
    }

    @Test(arguments: [
        (KafkaError.Code.topicAuthorizationFailed, "Read on currents.events, Write on tidemark.reports"),
        (.groupAuthorizationFailed, "--operation Read --group tidemark --resource-pattern-type prefixed"),
        (.transactionalIDAuthorizationFailed, "Write and Describe on the transactional ids that begin with tidemark-"),
        (.clusterAuthorizationFailed, "IdempotentWrite on the cluster"),
        (.unknownTopicOrPartition, "The topic was deleted."), (.unknownTopic, "`tidemark topics create`"),
    ])
    func advice(_ code: KafkaError.Code, _ part: String) {
        #expect(text(code).hasPrefix("worker-0: "))
        #expect(text(code).contains(part), "\(text(code))")
    }

    @Test func otherErrorsStandForThemselves() {
        let error = KafkaError(code: .invalidArgument)
        #expect(text(.invalidArgument) == "worker-0: \(error)")
    }
}
