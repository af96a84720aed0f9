import Foundation
import TidemarkConfiguration
import TidemarkEvents
import TidemarkRegistry
import TidemarkReports
import TidemarkWorkload

/// Turns flat JSON events into Avro behind the ids of a registry, as an exporter with a schema per event type writes them.
///
/// The schema of a type is registered when its first event comes, under `<topic>-<name of the record>`, as the strategy "topic and record
/// name" of Confluent's serialisers does.
final class AvroEventEncoder {
    /// A field as its schema has it.
    private struct Field {
        enum Kind { case text, number, flag }

        let kind: Kind
        let isNullable: Bool
    }

    private struct Layout {
        let schemaID: UInt32
        let fields: [Field]
        let places: [String: Int]
    }

    private enum Value {
        case null
        case text(ByteView)
        case number(Int64)
        case flag(Bool)
    }

    private let topic: String
    private let registry: SchemaRegistry
    private var layouts: [String: Layout] = [:]
    private var values: [Value] = []
    private var avro = AvroRecordWriter()

    /// - Throws: `CommandFailure` where no registry is configured.
    init(topic: String, _ configuration: Configuration) throws(CommandFailure) {
        guard configuration.schemaRegistry.isEnabled else {
            throw CommandFailure("`--format avro` needs `schema_registry.url`, where schemas are registered")
        }
        self.topic = topic
        registry = SchemaRegistry(configuration.schemaRegistry)
    }

    /// The record of an event; valid until the next call.
    func encode(_ json: UnsafeRawBufferPointer, type: String) throws -> [UInt8] {
        let layout = try layout(of: type)
        do {
            return try JSONReader.read(json) { json throws(JSONReader.Broken) in try encode(&json, layout) }
        } catch { throw CommandFailure("an event of \(type) does not fit its schema") }
    }

    private func encode(_ json: inout JSONReader, _ layout: Layout) throws(JSONReader.Broken) -> [UInt8] {
        values.removeAll(keepingCapacity: true)
        for _ in layout.fields { values.append(.null) }
        try json.openObject()
        while let name = try json.nextKey() {
            guard let place = name.text.flatMap({ layout.places[$0] }) else {
                try json.skip()
                continue
            }
            values[place] = try value(&json)
        }
        avro.removeAll()
        avro.begin(schemaID: layout.schemaID)
        for (field, value) in zip(layout.fields, values) { try write(value, field) }
        return avro.bytes
    }

    private func value(_ json: inout JSONReader) throws(JSONReader.Broken) -> Value {
        switch json.kind() {
        case .text: return .text(try json.text())
        case .number: return .number(try json.integer() ?? 0)
        default:
            if let flag = json.flag() { return .flag(flag) }
            try json.skip()
            return .null
        }
    }

    private func write(_ value: Value, _ field: Field) throws(JSONReader.Broken) {
        if case .null = value, field.isNullable { return avro.null() }
        if field.isNullable { avro.present() }
        switch (value, field.kind) {
        // Some types require more than the sample stream has; no report counts by it.
        case (.null, .text): avro.string("")
        case (.null, .number): avro.integer(0)
        case (.null, .flag): avro.flag(false)
        case (.text(let text), .text): avro.string(text)
        case (.number(let number), .number): avro.integer(number)
        case (.flag(let flag), .flag): avro.flag(flag)
        default: throw JSONReader.Broken()
        }
    }

    // MARK: Schemas

    private func layout(of type: String) throws -> Layout {
        if let known = layouts[type] { return known }
        let text = EventSchema.all[type] ?? AvroEventEncoder.plainSchema(type)
        let schema = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let name = "\(schema?["namespace"] ?? "").\(schema?["name"] ?? "")"
        let fields = schema?["fields"] as? [[String: Any]] ?? []
        let id: UInt32
        do { id = try registry.register(text, subject: "\(topic)-\(name)") } catch { throw CommandFailure("\(error)") }
        let names = fields.map { $0["name"] as? String ?? "" }
        let layout = Layout(
            schemaID: id, fields: fields.map { AvroEventEncoder.field($0["type"]) },
            places: Dictionary(uniqueKeysWithValues: zip(names, names.indices)))
        layouts[type] = layout
        return layout
    }

    /// The schema of a type that no report counts: what all events have.
    private static func plainSchema(_ type: String) -> String {
        let name = type.split(separator: ".").last ?? ""
        let space = "tidemark.events." + type.dropLast(name.count + 1)
        return #"{"type":"record","name":"\#(name)","namespace":"\#(space)","fields":["#
            + #"{"name":"id","type":"string"},{"name":"user_id","type":"string"},{"name":"time","type":"int"}]}"#
    }

    private static func field(_ type: Any?) -> Field {
        let union = type as? [String]
        let name = union?.first { $0 != "null" } ?? type as? String
        let kind: Field.Kind = name == "string" ? .text : name == "boolean" ? .flag : .number
        return Field(kind: kind, isNullable: union != nil)
    }
}
