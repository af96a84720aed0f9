import TidemarkWorkload

extension Workload {
    /// A stream that names its types in the records.
    static func small(users: Int, days: Int = 5, seed: UInt64) -> Workload {
        Workload(WorkloadOptions(users: users, days: days, campaigns: 12, seed: seed, namesTypeInRecord: true))
    }

    /// All records in order of arrival, keyed by user.
    func records() -> [InputRecord] {
        var stream = stream()
        var record = WorkloadRecord()
        var records: [InputRecord] = []
        while stream.next(into: &record) {
            records.append(InputRecord(key: record.userID, value: record.json, type: nil))
        }
        return records
    }

    /// The same events in another shape; the header tells the type where the record does not.
    func records(_ shape: WireShape) -> [InputRecord] {
        var stream = stream()
        var record = WorkloadRecord()
        var records: [InputRecord] = []
        while stream.next(into: &record, shape: shape) {
            let type = shape.namesType ? nil : record.eventType
            records.append(InputRecord(key: record.userID, value: record.json, type: type))
        }
        return records
    }
}
