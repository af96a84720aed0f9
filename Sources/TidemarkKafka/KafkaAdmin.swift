internal import CRdKafka

/// Administers topics. It blocks, and is used by one thread at a time.
public final class KafkaAdmin {
    /// A topic to be created.
    public struct NewTopic: Sendable {
        /// Name of the topic.
        public var name: String
        /// Number of partitions.
        public var partitions: Int
        /// Copies of each partition; -1 takes the broker's default.
        public var replicationFactor: Int
        /// Settings such as `cleanup.policy`.
        public var config: [String: String]

        /// Describes a topic to be created.
        public init(name: String, partitions: Int, replicationFactor: Int = -1, config: [String: String] = [:]) {
            self.name = name
            self.partitions = partitions
            self.replicationFactor = replicationFactor
            self.config = config
        }
    }

    /// What became of one topic.
    public struct TopicResult: Sendable {
        /// Name of the topic.
        public let name: String
        /// nil is success.
        public let error: KafkaError?
    }

    private var handle: ClientHandle?

    /// Starts a client for administration.
    /// - Parameters:
    ///   - properties: any property of librdkafka.
    ///   - log: gets the client's log lines, from its own threads; nil discards them.
    /// - Throws: names the property that is unknown or invalid.
    public init(properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)? = nil) throws(KafkaError) {
        // A consumer asks about topics without having brokers create them.
        handle = try ClientHandle(type: RD_KAFKA_CONSUMER, properties: properties, log: log)
    }

    func open() throws(KafkaError) -> ClientHandle {
        guard let handle else { throw KafkaError.closed }
        return handle
    }

    /// Latest error of the client as a whole, such as no broker reachable or wrong credentials.
    public var lastError: KafkaError? {
        guard let handle else { return nil }
        rd_kafka_poll(handle.pointer, 0)
        return handle.context.lastError
    }

    /// Closes. Harmless when repeated.
    public func close() { handle = nil }

    // MARK: Topics

    /// Creates topics.
    /// - Parameters:
    ///   - topics: what to create.
    ///   - validateOnly: only checks whether they could be created.
    ///   - timeoutMilliseconds: limit for the request.
    /// - Returns: one result per topic; an existing topic has the error ``KafkaError/Code/topicAlreadyExists``.
    /// - Throws: when the request as a whole fails.
    public func createTopics(
        _ topics: [NewTopic], validateOnly: Bool = false, timeoutMilliseconds: Int32 = 30_000
    ) throws(KafkaError) -> [TopicResult] {
        var requests: [OpaquePointer?] = []
        defer { requests.forEach { rd_kafka_NewTopic_destroy($0) } }
        for topic in topics { requests.append(try makeRequest(topic)) }
        return try request(RD_KAFKA_ADMIN_OP_CREATETOPICS, timeoutMilliseconds, validateOnly: validateOnly) {
            rd_kafka_CreateTopics($0, &requests, requests.count, $1, $2)
        } read: { event throws(KafkaError) in
            var count = 0
            return topicResults(
                rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count), count)
        }
    }

    private func makeRequest(_ topic: NewTopic) throws(KafkaError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: 512)
        guard
            let request = rd_kafka_NewTopic_new(
                topic.name, Int32(topic.partitions), Int32(topic.replicationFactor), &text, text.count)
        else { throw KafkaError(invalid: "topic \"\(topic.name)\": \(string(text))") }
        for (key, value) in topic.config {
            let code = rd_kafka_NewTopic_set_config(request, key, value)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                rd_kafka_NewTopic_destroy(request)
                throw KafkaError(code: code).prefixed("topic \"\(topic.name)\", setting \"\(key)\"")
            }
        }
        return request
    }

    /// Adds partitions to topics.
    /// - Parameter counts: how many partitions each should have then, by name; they can only become more.
    /// - Returns: one result per topic.
    /// - Throws: when the request as a whole fails.
    public func growTopics(
        _ counts: [String: Int], timeoutMilliseconds: Int32 = 30_000
    ) throws(KafkaError) -> [TopicResult] {
        var requests: [OpaquePointer?] = []
        defer { requests.forEach { rd_kafka_NewPartitions_destroy($0) } }
        for (topic, count) in counts {
            var text = [CChar](repeating: 0, count: 512)
            guard let request = rd_kafka_NewPartitions_new(topic, count, &text, text.count) else {
                throw KafkaError(invalid: "topic \"\(topic)\": \(string(text))")
            }
            requests.append(request)
        }
        return try request(RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, timeoutMilliseconds) {
            rd_kafka_CreatePartitions($0, &requests, requests.count, $1, $2)
        } read: { event throws(KafkaError) in
            var count = 0
            return topicResults(
                rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), &count), count)
        }
    }

    /// Removes records, as retention does.
    /// - Parameter offsets: the first record to stay, by partition.
    public func deleteRecords(
        before offsets: [PartitionOffset], timeoutMilliseconds: Int32 = 30_000
    ) throws(KafkaError) {
        var request: OpaquePointer? = try withPartitionList(offsets) { list throws(KafkaError) in
            rd_kafka_DeleteRecords_new(list)
        }
        defer { rd_kafka_DeleteRecords_destroy(request) }
        try self.request(RD_KAFKA_ADMIN_OP_DELETERECORDS, timeoutMilliseconds) {
            rd_kafka_DeleteRecords($0, &request, 1, $1, $2)
        } read: { event throws(KafkaError) in
            let result = rd_kafka_event_DeleteRecords_result(event)
            guard let list = rd_kafka_DeleteRecords_result_offsets(result) else { return }
            _ = try UnsafeMutablePointer(mutating: list).checkedOffsets("deleting records")
        }
    }

    /// Deletes topics with their data.
    /// - Returns: one result per topic.
    /// - Throws: when the request as a whole fails.
    public func deleteTopics(
        _ names: [String], timeoutMilliseconds: Int32 = 30_000
    ) throws(KafkaError) -> [TopicResult] {
        var requests = names.map { rd_kafka_DeleteTopic_new($0) }
        defer { requests.forEach { rd_kafka_DeleteTopic_destroy($0) } }
        return try request(RD_KAFKA_ADMIN_OP_DELETETOPICS, timeoutMilliseconds) {
            rd_kafka_DeleteTopics($0, &requests, requests.count, $1, $2)
        } read: { event throws(KafkaError) in
            var count = 0
            return topicResults(
                rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count), count)
        }
    }

    /// Numbers of partitions by topic; a topic that does not exist is absent.
    public func describeTopics(
        _ names: [String], timeoutMilliseconds: Int32 = 30_000
    ) throws(KafkaError) -> [String: Int] {
        let handle = try open()
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        var result: [String: Int] = [:]
        for name in names {
            let count = try handle.partitionCount(of: name, timeoutMilliseconds: deadline.remaining)
            if let count { result[name] = Int(count) }
        }
        return result
    }

    /// Number of brokers in the cluster: the upper limit of a replication factor.
    public func brokerCount(timeoutMilliseconds: Int32 = 30_000) throws(KafkaError) -> Int {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        try throwing(rd_kafka_metadata(open().pointer, 0, nil, &metadata, timeoutMilliseconds), "cluster metadata")
        defer { rd_kafka_metadata_destroy(metadata) }
        return Int(metadata?.pointee.broker_cnt ?? 0)
    }

    // MARK: Settings

    /// Settings of topics in effect, defaults included. Secret values are absent.
    /// - Throws: when the request fails, or one of the topics cannot be described.
    public func topicConfigs(
        _ names: [String], timeoutMilliseconds: Int32 = 30_000
    ) throws(KafkaError) -> [String: [String: String]] {
        try configs(RD_KAFKA_RESOURCE_TOPIC, names, timeoutMilliseconds)
    }

    /// Settings of one broker in effect, defaults included. Secret values are absent.
    public func brokerConfigs(_ id: Int32, timeoutMilliseconds: Int32 = 30_000) throws(KafkaError) -> [String: String] {
        try configs(RD_KAFKA_RESOURCE_BROKER, [String(id)], timeoutMilliseconds)[String(id)] ?? [:]
    }

    private func configs(
        _ type: rd_kafka_ResourceType_t, _ names: [String], _ timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [String: [String: String]] {
        var requests = names.map { rd_kafka_ConfigResource_new(type, $0) }
        defer { requests.forEach { rd_kafka_ConfigResource_destroy($0) } }
        return try request(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeoutMilliseconds) {
            rd_kafka_DescribeConfigs($0, &requests, requests.count, $1, $2)
        } read: { event throws(KafkaError) in
            var count = 0
            let found = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count)
            var result: [String: [String: String]] = [:]
            for resource in UnsafeBufferPointer(start: found, count: count) {
                let name = rd_kafka_ConfigResource_name(resource).map { String(cString: $0) } ?? ""
                try throwing(rd_kafka_ConfigResource_error(resource), "settings of \"\(name)\"")
                result[name] = settings(of: resource)
            }
            return result
        }
    }

    private func settings(of resource: OpaquePointer?) -> [String: String] {
        var count = 0
        let entries = rd_kafka_ConfigResource_configs(resource, &count)
        return UnsafeBufferPointer(start: entries, count: count).reduce(into: [:]) { result, entry in
            guard let name = rd_kafka_ConfigEntry_name(entry), let value = rd_kafka_ConfigEntry_value(entry) else {
                return
            }
            result[String(cString: name)] = String(cString: value)
        }
    }

    // MARK: Requests

    private func topicResults(
        _ results: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int
    ) -> [TopicResult] {
        UnsafeBufferPointer(start: results, count: count).map { result in
            let code = rd_kafka_topic_result_error(result)
            let text = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
            return TopicResult(
                name: String(cString: rd_kafka_topic_result_name(result)),
                error: code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code: code, message: text))
        }
    }

    /// Sends a request and waits for its result event.
    func request<Result>(
        _ operation: rd_kafka_admin_op_t, _ timeoutMilliseconds: Int32, validateOnly: Bool = false,
        send: (_ client: OpaquePointer, _ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void,
        read: (OpaquePointer) throws(KafkaError) -> Result
    ) throws(KafkaError) -> Result {
        let client = try open().pointer
        let options = rd_kafka_AdminOptions_new(client, operation)
        defer { rd_kafka_AdminOptions_destroy(options) }
        var text = [CChar](repeating: 0, count: 512)
        rd_kafka_AdminOptions_set_request_timeout(options, timeoutMilliseconds, &text, text.count)
        if validateOnly { rd_kafka_AdminOptions_set_validate_only(options, 1, &text, text.count) }
        let queue = rd_kafka_queue_new(client)
        defer { rd_kafka_queue_destroy(queue) }
        send(client, options, queue)
        // The request itself times out; the second on top only keeps a lost answer from blocking for ever.
        guard let event = rd_kafka_queue_poll(queue, timeoutMilliseconds + 1_000) else {
            throw KafkaError(code: RD_KAFKA_RESP_ERR__TIMED_OUT)
        }
        defer { rd_kafka_event_destroy(event) }
        let code = rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(code: code, message: rd_kafka_event_error_string(event).map { String(cString: $0) })
        }
        return try read(event)
    }
}
