package import TidemarkKafka

/// Records and offsets of one transaction, encoded, so that an aborted transaction can be sent again as it was.
package final class OutboundBatch {
    package struct Record {
        package var topic: String
        package var partition: Int32
        var key: Range<Int>?
        /// `nil` is a tombstone.
        var value: Range<Int>?
        package var headers: [KafkaHeader]
        /// Headers in the form of `HeaderBytes`, instead of the others.
        fileprivate var packed: Range<Int>?
    }

    package private(set) var records: [Record] = []
    private(set) var offsets: [PartitionOffset] = []
    private var bytes: [UInt8] = []

    /// An empty batch.
    package init() {}

    /// How many bytes of keys and values there are.
    package var byteCount: Int { bytes.count }
    package var isEmpty: Bool { records.isEmpty && offsets.isEmpty }

    /// Adds a record.
    package func append(
        topic: String, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [KafkaHeader] = []
    ) {
        records.append(
            Record(topic: topic, partition: partition, key: store(key), value: store(value), headers: headers))
    }

    /// Adds a record that costs no allocation of its own.
    package func append(
        topic: String, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        packed headers: borrowing HeaderBytes
    ) {
        var record = Record(topic: topic, partition: partition, key: store(key), value: store(value), headers: [])
        record.packed = headers.withBytes { store($0) }
        records.append(record)
    }

    /// Adds a record without headers.
    package func append(topic: String, partition: Int32, key: [UInt8], value: [UInt8]?) {
        key.withUnsafeBytes { key in
            guard let value else { return append(topic: topic, partition: partition, key: key, value: nil) }
            value.withUnsafeBytes { append(topic: topic, partition: partition, key: key, value: $0) }
        }
    }

    /// Adds a record whose value is in two places.
    func append(topic: String, partition: Int32, key: [UInt8], head: [UInt8], body: UnsafeRawBufferPointer) {
        let keyRange = key.withUnsafeBytes { store($0) }
        let start = bytes.count
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: body)
        records.append(
            Record(topic: topic, partition: partition, key: keyRange, value: start..<bytes.count, headers: []))
    }

    func append(_ offset: PartitionOffset) { offsets.append(offset) }

    /// Takes over the records of another batch.
    func append(contentsOf other: OutboundBatch) {
        let shift = bytes.count
        bytes.append(contentsOf: other.bytes)
        for var record in other.records {
            record.key = record.key.map { $0.lowerBound + shift..<$0.upperBound + shift }
            record.value = record.value.map { $0.lowerBound + shift..<$0.upperBound + shift }
            record.packed = record.packed.map { $0.lowerBound + shift..<$0.upperBound + shift }
            records.append(record)
        }
    }

    /// Forgets all records and keeps the memory.
    package func removeAll() {
        records.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with each record's key and value.
    func forEach(_ body: (Record, UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) throws -> Void) rethrows {
        try forEachWithHeaders { record, key, value, _ in try body(record, key, value) }
    }

    /// Calls `body` with each record's key, value and packed headers.
    package func forEachWithHeaders(
        _ body: (Record, UnsafeRawBufferPointer?, UnsafeRawBufferPointer?, _ packed: UnsafeRawBufferPointer?) throws ->
            Void
    ) rethrows {
        try bytes.withUnsafeBytes { all in
            for record in records {
                try body(
                    record, record.key.map { UnsafeRawBufferPointer(rebasing: all[$0]) },
                    record.value.map { UnsafeRawBufferPointer(rebasing: all[$0]) },
                    record.packed.map { UnsafeRawBufferPointer(rebasing: all[$0]) })
            }
        }
    }

    private func store(_ source: UnsafeRawBufferPointer?) -> Range<Int>? {
        guard let source else { return nil }
        let start = bytes.count
        bytes.append(contentsOf: source)
        return start..<bytes.count
    }
}
