internal import CRdKafka

extension KafkaAdmin {
    /// How many members a consumer group has; 0 where the group does not exist.
    public func memberCount(ofGroup group: String, timeoutMilliseconds: Int32 = 15_000) throws(KafkaError) -> Int {
        var list: UnsafePointer<rd_kafka_group_list>?
        try throwing(rd_kafka_list_groups(open().pointer, group, &list, timeoutMilliseconds), "consumer group \(group)")
        guard let list else { return 0 }
        defer { rd_kafka_group_list_destroy(list) }
        let groups = UnsafeBufferPointer(start: list.pointee.groups, count: Int(list.pointee.group_cnt))
        return groups.reduce(0) { $0 + Int($1.member_cnt) }
    }

    /// Deletes consumer groups with their offsets. They must have no members; one that does not exist counts as deleted.
    public func deleteGroups(_ names: [String], timeoutMilliseconds: Int32 = 30_000) throws(KafkaError) {
        var requests = names.map { rd_kafka_DeleteGroup_new($0) }
        defer { requests.forEach { rd_kafka_DeleteGroup_destroy($0) } }
        try request(RD_KAFKA_ADMIN_OP_DELETEGROUPS, timeoutMilliseconds) {
            rd_kafka_DeleteGroups($0, &requests, requests.count, $1, $2)
        } read: { event throws(KafkaError) in
            var count = 0
            let results = rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event), &count)
            for result in UnsafeBufferPointer(start: results, count: count) {
                let name = rd_kafka_group_result_name(result).map { String(cString: $0) } ?? ""
                guard let error = rd_kafka_group_result_error(result) else { continue }
                let code = rd_kafka_error_code(error)
                if code == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND { continue }
                throw KafkaError(code: code, message: String(cString: rd_kafka_error_string(error)))
                    .prefixed("consumer group \(name)")
            }
        }
    }
}
