internal import Foundation
internal import TidemarkAttribution
internal import TidemarkEvents
internal import TidemarkReports

/// Records of `<app>-names`: the name that a task knows for an id, and the order of the event that gave it.
///
/// The task is part of the key: compaction keeps the last record of a key, and only within one task is the last one the greatest by order.
enum NameRecord {
    static func encode(
        _ slot: NameTable.Slot, task: Int32, epoch: Int, vocabulary: Vocabulary
    ) -> (key: [UInt8], value: [UInt8]) {
        var key = JSONWriter()
        key.raw("[")
        key.integer(Int64(slot.kind.rawValue))
        key.raw(",")
        key.string(vocabulary.strings[slot.id])
        key.raw(",")
        key.integer(Int64(task))
        key.raw("]")
        var value = JSONWriter()
        value.raw("{\"epoch\":")
        value.integer(Int64(epoch))
        value.raw(",\"name\":")
        value.string(vocabulary.strings[slot.name])
        value.raw(",\"time\":")
        value.integer(Int64(slot.order.time))
        value.raw(",\"rank\":")
        value.integer(Int64(slot.order.rank))
        value.raw(",\"event_id\":")
        slot.order.eventID.withUnsafeBytes { value.string(ByteView($0)) }
        value.raw("}")
        return (key.bytes, value.bytes)
    }

    /// What the keys of a task's records end with.
    static func keySuffix(task: Int32) -> [UInt8] { Array(",\(task)]".utf8) }

    /// Takes a record into a table, unless it is of another epoch.
    ///
    /// - Returns: the id whose name is another one now; `nil` where none is.
    @discardableResult
    static func take(
        key: [UInt8], value: [UInt8], epoch: Int, into names: NameTable, vocabulary: Vocabulary
    ) throws(RunFailure) -> (kind: NamedID, id: UInt32)? {
        if key == Epoch.key { return nil }
        let damaged = RunFailure(
            "a record of the names topic cannot be read: \(String(decoding: value, as: UTF8.self))")
        guard let parts = try? JSONSerialization.jsonObject(with: Data(key)) as? [Any], parts.count == 3,
            let kind = (parts[0] as? Int).flatMap(UInt8.init(exactly:)).flatMap(NamedID.init(rawValue:)),
            let id = parts[1] as? String,
            let fields = try? JSONSerialization.jsonObject(with: Data(value)) as? [String: Any],
            let name = fields["name"] as? String, let time = (fields["time"] as? Int).flatMap(UInt32.init(exactly:)),
            let rank = (fields["rank"] as? Int).flatMap(UInt8.init(exactly:)),
            let eventID = fields["event_id"] as? String, let written = fields["epoch"] as? Int
        else { throw damaged }
        guard written == epoch else { return nil }
        let number = vocabulary.strings.intern(id)
        let order = NameOrder(time: time, rank: rank, eventID: Array(eventID.utf8))
        let isNew = names.take(kind: kind, id: number, name: vocabulary.strings.intern(name), order: order)
        return isNew ? (kind, number) : nil
    }
}
