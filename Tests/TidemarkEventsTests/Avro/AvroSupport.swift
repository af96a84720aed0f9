import TidemarkEvents

/// A value as Avro writes it. Its schema is whatever has this form.
indirect enum Datum: Sendable {
    case null
    case boolean(Bool)
    case long(Int64)
    case float(Float)
    case double(Double)
    /// Text or bytes.
    case text(String)
    case bytes([UInt8])
    /// Bytes without a length.
    case fixed([UInt8])
    case record([Datum])
    case array([Datum])
    case map([(String, Datum)])
    case union(Int, Datum)

    var encoded: [UInt8] {
        switch self {
        case .null: []
        case .boolean(let value): [value ? 1 : 0]
        case .long(let value): Datum.varint(value)
        case .float(let value): withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }
        case .double(let value): withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }
        case .text(let text): Datum.varint(Int64(text.utf8.count)) + Array(text.utf8)
        case .bytes(let bytes): Datum.varint(Int64(bytes.count)) + bytes
        case .fixed(let bytes): bytes
        case .record(let fields): fields.flatMap(\.encoded)
        case .array(let items): Datum.blocks(items.map(\.encoded))
        case .map(let pairs): Datum.blocks(pairs.map { Datum.text($0.0).encoded + $0.1.encoded })
        case .union(let branch, let value): Datum.varint(Int64(branch)) + value.encoded
        }
    }

    /// Items in one block, or none.
    private static func blocks(_ items: [[UInt8]]) -> [UInt8] {
        items.isEmpty ? [0] : varint(Int64(items.count)) + items.flatMap { $0 } + [0]
    }

    static func varint(_ value: Int64) -> [UInt8] {
        var rest = UInt64(bitPattern: (value << 1) ^ (value >> 63))
        var bytes: [UInt8] = []
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}

/// A value behind a schema id.
func framed(_ datum: [UInt8], id: UInt32 = 7) -> [UInt8] {
    [0] + withUnsafeBytes(of: id.bigEndian) { Array($0) } + datum
}

/// A record schema of these fields, each a name and a type in JSON.
func recordSchema(_ fields: [(String, String)], name: String = EventType.pushSend.wireName) -> String {
    let list = fields.map { "{\"name\":\"\($0.0)\",\"type\":\($0.1)}" }.joined(separator: ",")
    return "{\"type\":\"record\",\"name\":\"made.up.\(name)\",\"fields\":[\(list)]}"
}

/// Decodes one value of a schema, framed with its id.
func decodeAvro(
    _ datum: [UInt8], _ schema: String, header: String = "", topic: TopicType = .none,
    limits: DecoderLimits = DecoderLimits()
) throws -> [Outcome] {
    let decoder = EventDecoder(limits: limits)
    decoder.add(.avro(try AvroSchema(json: schema)), forID: 7)
    return decode(framed(datum), header: header, topic: topic, with: decoder)
}

/// The fields of a push Send that everything else is added to: what `expected()` says.
let plainFields = [("id", "\"string\""), ("user_id", "\"string\""), ("time", "\"int\"")]
let plainValues: [Datum] = [.text("e-1"), .text("u-7"), .long(1_767_225_600)]

/// Decodes a Send with one more field.
func decodeField(_ name: String, _ type: String, _ value: Datum) throws -> [Outcome] {
    try decodeAvro(
        Datum.record(plainValues + [value]).encoded, recordSchema(plainFields + [(name, type)]))
}
