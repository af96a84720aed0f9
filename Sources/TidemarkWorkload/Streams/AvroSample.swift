/// Sample events as Avro, with the fields that the rules need, and container files of them.
extension SampleEvent {
    /// The schema of the records of a type.
    public static func avroSchema(of eventType: String) -> String {
        let texts = textFields.map { "{\"name\":\"\($0.name)\",\"type\":[\"null\",\"string\"],\"default\":null}" }
        let fields =
            ["{\"name\":\"id\",\"type\":\"string\"}", "{\"name\":\"user_id\",\"type\":\"string\"}"]
            + ["{\"name\":\"time\",\"type\":\"int\"}"] + texts
            + [
                "{\"name\":\"conversion_behavior_index\",\"type\":[\"null\",\"int\"],\"default\":null}",
                "{\"name\":\"in_control_group\",\"type\":[\"null\",\"boolean\"],\"default\":null}",
            ]
        return
            "{\"type\":\"record\",\"name\":\"tidemark.sample.\(eventType)\",\"fields\":[\(fields.joined(separator: ","))]}"
    }

    /// Appends the event's record, without anything that names its schema.
    public func appendAvro(to bytes: inout [UInt8]) {
        bytes.append(avro: id)
        bytes.append(avro: userID)
        bytes.append(avro: time)
        for field in Self.textFields {
            bytes.append(avro: self[keyPath: field.path] == nil ? 0 : 1)
            if let text = self[keyPath: field.path] { bytes.append(avro: text) }
        }
        bytes.append(avro: conversionBehaviorIndex == nil ? 0 : 1)
        if let conversionBehaviorIndex { bytes.append(avro: conversionBehaviorIndex) }
        bytes.append(avro: inControlGroup == nil ? 0 : 1)
        if let inControlGroup { bytes.append(inControlGroup ? 1 : 0) }
    }
}

/// An Avro object container file of sample events of one type, which grows block by block.
public struct AvroSampleFile {
    /// The marker behind each block.
    public static let sync = Array("tidemark sample\n".utf8)

    /// The file so far, without the events of the block that is being filled.
    public private(set) var bytes: [UInt8]
    private let valuesPerBlock: Int
    private let compress: (([UInt8]) -> [UInt8])?
    private var block: [UInt8] = []
    private var count = 0

    /// An empty file.
    ///
    /// - Parameters:
    ///   - eventType: the type of its events.
    ///   - codec: how its blocks are compressed, and what does it; `nil` for not at all, which the header then need not say.
    public init(
        eventType: String, valuesPerBlock: Int = 1_000, codec: (name: String, compress: ([UInt8]) -> [UInt8])? = nil
    ) {
        self.valuesPerBlock = valuesPerBlock
        compress = codec?.compress
        bytes = [0x4F, 0x62, 0x6A, 0x01]
        bytes.append(avro: codec == nil ? 1 : 2)
        if let codec {
            bytes.append(avro: "avro.codec")
            bytes.append(avro: codec.name)
        }
        bytes.append(avro: "avro.schema")
        bytes.append(avro: SampleEvent.avroSchema(of: eventType))
        bytes.append(0)
        bytes += Self.sync
    }

    /// Adds an event.
    public mutating func append(_ event: SampleEvent) {
        event.appendAvro(to: &block)
        count += 1
        if count == valuesPerBlock { endBlock() }
    }

    /// Writes the events that make no whole block.
    public mutating func endBlock() {
        guard count > 0 else { return }
        let data = compress.map { $0(block) } ?? block
        bytes.append(avro: count)
        bytes.append(avro: data.count)
        bytes += data
        bytes += Self.sync
        block.removeAll(keepingCapacity: true)
        count = 0
    }

    /// Gives up the bytes that were written out.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

extension [UInt8] {
    /// Appends a whole number that is not negative.
    fileprivate mutating func append(avro number: Int) {
        var rest = UInt64(number) << 1
        while rest >= 0x80 {
            append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Appends a text and its length.
    fileprivate mutating func append(avro text: String) {
        append(avro: text.utf8.count)
        append(contentsOf: text.utf8)
    }
}
