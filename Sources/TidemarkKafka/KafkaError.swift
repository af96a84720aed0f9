internal import CRdKafka

/// An error of the Kafka client or of a broker.
///
/// Transaction calls sort their errors into four classes: `isRetriable` (repeat the same call; the calls of
/// ``TransactionalProducer`` already do so within their timeout), `requiresAbort` (abort, then send the batch again),
/// `isFatal` (close this producer and make a new one) and none of these (outcome unknown: treat as fatal).
public struct KafkaError: Error, CustomStringConvertible, Sendable {
    /// Number of the error; compare it with the static members of ``Code``.
    public let code: Code
    /// Symbolic name of the code, such as `_TIMED_OUT` (client side, leading underscore) or `TOPIC_ALREADY_EXISTS`.
    public let name: String
    /// What happened, in words.
    public internal(set) var message: String
    /// The client instance cannot be used any more.
    public let isFatal: Bool
    /// The same call may be repeated.
    public let isRetriable: Bool
    /// The current transaction must be aborted.
    public let requiresAbort: Bool

    /// Name and message in one line.
    public var description: String { "\(message) (\(name))" }
}

extension KafkaError {
    /// Numbers of errors: negative ones are raised by the client, positive ones by a broker.
    ///
    /// An open set: newer libraries and brokers know more codes than are named here.
    public struct Code: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
        /// The number as librdkafka and the Kafka protocol define it.
        public let rawValue: Int32

        /// Makes a code from its number.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Makes a code from a literal number.
        public init(integerLiteral value: Int32) { rawValue = value }

        /// Symbolic name of the code.
        public var description: String { String(cString: rd_kafka_err2name(rd_kafka_resp_err_t(rawValue))) }
    }
}

// Codes raised by the client.
extension KafkaError.Code {
    /// No connection to a broker, or it broke.
    public static let transport: Self = -195
    /// A record was not delivered in time.
    public static let messageTimedOut: Self = -192
    /// End of a partition reached (an event rather than an error).
    public static let endOfPartition: Self = -191
    /// The partition does not exist.
    public static let unknownPartition: Self = -190
    /// The topic does not exist, seen by the client.
    public static let unknownTopic: Self = -188
    /// No broker can be reached.
    public static let allBrokersDown: Self = -187
    /// Invalid argument or configuration.
    public static let invalidArgument: Self = -186
    /// The operation did not end in time.
    public static let timedOut: Self = -185
    /// The producer's queue is full.
    public static let queueFull: Self = -184
    /// Transport layer security could not be set up.
    public static let tls: Self = -181
    /// The call clashes with another one in progress.
    public static let conflict: Self = -173
    /// The call is not allowed in the current state.
    public static let state: Self = -172
    /// Authentication failed, seen by the client.
    public static let authentication: Self = -169
    /// No offset stored or found.
    public static let noOffset: Self = -168
    /// The record was dropped from the queue by an abort.
    public static let purgedFromQueue: Self = -152
    /// The record was on its way when an abort dropped it.
    public static let purgedInFlight: Self = -151
    /// The client instance cannot go on.
    public static let fatal: Self = -150
    /// The application did not poll for longer than `max.poll.interval.ms`.
    public static let maximumPollIntervalExceeded: Self = -147
    /// Another producer with the same transactional id took over, or the transaction outlived `transaction.timeout.ms` and was
    /// aborted by the broker: librdkafka reports both alike (seen with 2.0.2 and 2.16). A new producer helps in both cases.
    public static let fenced: Self = -144
    /// The assignment was lost without a revoke.
    public static let assignmentLost: Self = -142
    /// No valid offset to start from, and `auto.offset.reset` is `error`.
    public static let noOffsetToStartFrom: Self = -140
}

// Codes raised by brokers.
extension KafkaError.Code {
    /// The offset lies outside the log.
    public static let offsetOutOfRange: Self = 1
    /// The topic or partition does not exist.
    public static let unknownTopicOrPartition: Self = 3
    /// The partition has no leader for the moment.
    public static let leaderNotAvailable: Self = 5
    /// The broker is not, or not yet, the leader of the partition.
    public static let notLeader: Self = 6
    /// The record is larger than producer or topic allow.
    public static let messageTooLarge: Self = 10
    /// A coordinator is still loading; try again.
    public static let coordinatorLoadInProgress: Self = 14
    /// There is no coordinator for now; try again.
    public static let coordinatorNotAvailable: Self = 15
    /// The broker is not, or not yet, the coordinator of the group; try again.
    public static let notCoordinator: Self = 16
    /// The name is no valid topic name.
    public static let invalidTopic: Self = 17
    /// The group went on to another generation.
    public static let illegalGeneration: Self = 22
    /// The group does not know this member.
    public static let unknownMember: Self = 25
    /// The group is rebalancing.
    public static let rebalanceInProgress: Self = 27
    /// No permission for the topic.
    public static let topicAuthorizationFailed: Self = 29
    /// No permission for the group.
    public static let groupAuthorizationFailed: Self = 30
    /// No permission for the cluster.
    public static let clusterAuthorizationFailed: Self = 31
    /// The topic exists already.
    public static let topicAlreadyExists: Self = 36
    /// More replicas asked for than there are brokers, or none.
    public static let invalidReplicationFactor: Self = 38
    /// A topic setting is invalid.
    public static let invalidConfiguration: Self = 40
    /// A cluster policy forbids the request.
    public static let policyViolation: Self = 44
    /// Records before this one are missing: follows a refused delivery, and is mended by aborting.
    public static let outOfOrderSequenceNumber: Self = 45
    /// The producer's epoch is older than the current one.
    public static let invalidProducerEpoch: Self = 47
    /// No permission for the transactional id.
    public static let transactionalIDAuthorizationFailed: Self = 53
    /// Wrong credentials.
    public static let saslAuthenticationFailed: Self = 58
    /// Another member uses the same static member name.
    public static let fencedInstance: Self = 82
    /// An offset commit of a transaction is still being decided.
    public static let unstableOffsetCommit: Self = 88
    /// Another producer with the same transactional id took over, seen by the broker.
    public static let producerFenced: Self = 90
}

extension KafkaError {
    init(code: rd_kafka_resp_err_t, message: String? = nil, isFatal: Bool = false) {
        self.code = Code(rawValue: code.rawValue)
        name = String(cString: rd_kafka_err2name(code))
        self.message = message ?? String(cString: rd_kafka_err2str(code))
        self.isFatal = isFatal
        isRetriable = false
        requiresAbort = false
    }

    /// An error as a client or broker would raise it.
    package init(code: Code, isFatal: Bool = false, isRetriable: Bool = false, requiresAbort: Bool = false) {
        self.code = code
        name = String(cString: rd_kafka_err2name(rd_kafka_resp_err_t(code.rawValue)))
        message = String(cString: rd_kafka_err2str(rd_kafka_resp_err_t(code.rawValue)))
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.requiresAbort = requiresAbort
    }

    /// Takes over an error object and frees it.
    init(taking error: OpaquePointer) {
        code = Code(rawValue: rd_kafka_error_code(error).rawValue)
        name = String(cString: rd_kafka_error_name(error))
        message = String(cString: rd_kafka_error_string(error))
        isFatal = rd_kafka_error_is_fatal(error) != 0
        isRetriable = rd_kafka_error_is_retriable(error) != 0
        requiresAbort = rd_kafka_error_txn_requires_abort(error) != 0
        rd_kafka_error_destroy(error)
    }

    /// Invalid use of this module.
    init(invalid message: String) {
        self.init(code: RD_KAFKA_RESP_ERR__INVALID_ARG, message: message)
    }

    static var closed: KafkaError {
        KafkaError(code: RD_KAFKA_RESP_ERR__STATE, message: "the Kafka client is closed")
    }

    func prefixed(_ prefix: String) -> KafkaError {
        var error = self
        error.message = "\(prefix): \(message)"
        return error
    }
}

func throwing(_ code: rd_kafka_resp_err_t, _ what: @autoclosure () -> String) throws(KafkaError) {
    if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code: code).prefixed(what()) }
}
