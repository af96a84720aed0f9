public import Foundation

/// Avro decoded the plain way, by the schema's text: slow, and shares no code with what it tests.
public final class PlainAvro {
    /// The bytes are not of the schema.
    public struct Broken: Error {}

    private let schema: Any
    private var named: [String: [String: Any]] = [:]
    private var bytes: ArraySlice<UInt8> = []

    /// A decoder of one schema.
    public init(schema: String) throws {
        self.schema = try JSONSerialization.jsonObject(with: Data(schema.utf8), options: .fragmentsAllowed)
    }

    /// A JSON text as an object.
    public static func object(_ json: String) throws -> [String: Any] {
        guard let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any] else {
            throw Broken()
        }
        return object
    }

    /// A record as the object that it would be in JSON, without fields that are null.
    public func json(_ bytes: ArraySlice<UInt8>) throws -> NSDictionary {
        self.bytes = bytes
        guard let record = try value(schema) as? [String: Any], self.bytes.isEmpty else { throw Broken() }
        return record as NSDictionary
    }

    private func value(_ schema: Any) throws -> Any? {
        if let union = schema as? [Any] {
            let branch = try integer()
            guard union.indices.contains(branch) else { throw Broken() }
            return try value(union[branch])
        }
        if let object = schema as? [String: Any] { return try value(of: object) }
        guard let name = schema as? String else { throw Broken() }
        if let definition = named[name] { return try value(of: definition) }
        switch name {
        case "null": return nil
        case "boolean": return try integerByte() == 1
        case "int", "long": return try integer()
        case "double":
            let bits = try (0..<8).reduce(UInt64(0)) { bits, place in bits | UInt64(try integerByte()) << (8 * place) }
            return Double(bitPattern: bits)
        case "string": return String(decoding: try take(try integer()), as: UTF8.self)
        default: throw Broken()
        }
    }

    private func value(of schema: [String: Any]) throws -> Any? {
        switch schema["type"] as? String {
        case "record":
            if let name = schema["name"] as? String { named[name] = schema }
            var record: [String: Any] = [:]
            for field in schema["fields"] as? [[String: Any]] ?? [] {
                guard let name = field["name"] as? String, let type = field["type"] else { throw Broken() }
                if let value = try value(type) { record[name] = value }
            }
            return record
        case "map":
            var map: [String: Any] = [:]
            while case let count = try integer(), count > 0 {
                for _ in 0..<count {
                    let key = String(decoding: try take(try integer()), as: UTF8.self)
                    map[key] = try value(schema["values"] ?? "null")
                }
            }
            return map
        default: return try value(schema["type"] ?? "null")
        }
    }

    private func integerByte() throws -> UInt8 {
        guard let byte = bytes.popFirst() else { throw Broken() }
        return byte
    }

    private func integer() throws -> Int {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try integerByte()
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int(bitPattern: UInt(value >> 1)) ^ -Int(value & 1) }
        }
        throw Broken()
    }

    private func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count else { throw Broken() }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }
}

extension [String: Any] {
    /// The object without members that are null, here and in objects inside.
    public var withoutNulls: NSDictionary {
        var result: [String: Any] = [:]
        for (key, value) in self where !(value is NSNull) {
            result[key] = (value as? [String: Any])?.withoutNulls ?? value
        }
        return result as NSDictionary
    }
}
