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
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, epoch: Int, into names: NameTable,
        vocabulary: Vocabulary
    ) throws(RunFailure) -> NamedNumber? {
        if key.elementsEqual(Epoch.key) { return nil }
        do throws(JSONReader.Broken) {
            return try JSONReader.read(key) { json throws(JSONReader.Broken) in
                let (kind, id) = try readKey(&json)
                return try JSONReader.read(value) { json throws(JSONReader.Broken) in
                    let fields = try NameFields(&json)
                    guard fields.epoch == Int64(epoch) else { return nil }
                    let number = vocabulary.strings.intern(id)
                    let isNew = names.take(
                        kind: kind, id: number, name: vocabulary.strings.intern(fields.name), time: fields.time,
                        rank: fields.rank, eventID: fields.eventID)
                    return isNew ? NamedNumber(kind: kind, id: number) : nil
                }
            }
        } catch {
            throw RunFailure(
                "a record of the names topic cannot be read: \(String(decoding: value, as: UTF8.self))")
        }
    }

    private static func readKey(
        _ json: inout JSONReader
    ) throws(JSONReader.Broken) -> (kind: NamedID, id: ByteView) {
        try json.openArray()
        guard try json.nextElement(), let number = try json.integer().flatMap(UInt8.init(exactly:)),
            let kind = NamedID(rawValue: number), try json.nextElement()
        else { throw JSONReader.Broken() }
        let id = try json.text()
        guard try json.nextElement() else { throw JSONReader.Broken() }
        try json.skip()
        guard try !json.nextElement(), json.isAtEnd() else { throw JSONReader.Broken() }
        return (kind, id)
    }
}

/// An id that has a name.
struct NamedNumber: Hashable {
    var kind: NamedID
    /// Number of the id in the vocabulary.
    var id: UInt32
}

/// The fields of the value of a record of `<app>-names`; its texts are views of the record.
private struct NameFields {
    let epoch: Int64
    let name: ByteView
    let time: UInt32
    let rank: UInt8
    let eventID: ByteView

    init(_ json: inout JSONReader) throws(JSONReader.Broken) {
        var (epoch, time, rank): (Int64?, UInt32?, UInt8?)
        var (name, eventID): (ByteView?, ByteView?)
        try json.openObject()
        while let field = try json.nextKey() {
            if field.holds("epoch") {
                epoch = try json.integer()
            } else if field.holds("name") {
                name = try json.text()
            } else if field.holds("time") {
                time = try json.integer().flatMap(UInt32.init(exactly:))
            } else if field.holds("rank") {
                rank = try json.integer().flatMap(UInt8.init(exactly:))
            } else if field.holds("event_id") {
                eventID = try json.text()
            } else {
                try json.skip()
            }
        }
        guard let epoch, let name, let time, let rank, let eventID, json.isAtEnd() else { throw JSONReader.Broken() }
        self.epoch = epoch
        self.name = name
        self.time = time
        self.rank = rank
        self.eventID = eventID
    }
}
