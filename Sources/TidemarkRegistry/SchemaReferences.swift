internal import Foundation

/// Puts the named types that a schema refers to into it, so that it stands alone.
enum SchemaReferences {
    struct Problem: Error {
        let what: String
    }

    private static let namedKinds: Set<String> = ["record", "error", "enum", "fixed"]
    private static let primitives: Set<String> = [
        "null", "boolean", "int", "long", "float", "double", "bytes", "string", "record", "error", "enum", "fixed",
        "array", "map",
    ]

    /// - Parameters:
    ///   - definitions: the schemas by the full name that they are referred to by.
    ///   - schema: the one that uses them.
    static func insert(_ definitions: [String: String], into schema: String) throws(Problem) -> String {
        var inserter = Inserter()
        for (name, text) in definitions { inserter.definitions[name] = try parsed(text, name) }
        let whole = inserter.walk(try parsed(schema, "it"), namespace: "")
        guard
            let data = try? JSONSerialization.data(withJSONObject: whole, options: [.fragmentsAllowed, .sortedKeys])
        else { throw Problem(what: "its schema cannot be written as JSON") }
        return String(decoding: data, as: UTF8.self)
    }

    private static func parsed(_ text: String, _ name: String) throws(Problem) -> Any {
        guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) else {
            throw Problem(what: "the schema of \(name) is not JSON")
        }
        return value
    }

    private struct Inserter {
        var definitions: [String: Any] = [:]

        /// A schema, each definition standing where its name came first.
        mutating func walk(_ schema: Any, namespace: String) -> Any {
            if let name = schema as? String { return use(name, namespace) }
            if let union = schema as? [Any] { return union.map { walk($0, namespace: namespace) } }
            guard var object = schema as? [String: Any], let type = object["type"] else { return schema }
            guard let kind = type as? String, SchemaReferences.primitives.contains(kind) else {
                object["type"] = walk(type, namespace: namespace)
                return object
            }
            for part in ["items", "values"] {
                if let inner = object[part] { object[part] = walk(inner, namespace: namespace) }
            }
            guard SchemaReferences.namedKinds.contains(kind), let name = object["name"] as? String else {
                return object
            }
            let full = SchemaReferences.fullName(name, object["namespace"] as? String ?? namespace)
            // What is defined here needs no other definition.
            definitions[full] = nil
            let inner = SchemaReferences.namespace(of: full)
            if let fields = object["fields"] as? [[String: Any]] {
                var walked: [Any] = []
                for var field in fields {
                    if let type = field["type"] { field["type"] = walk(type, namespace: inner) }
                    walked.append(field)
                }
                object["fields"] = walked
            }
            return object
        }

        private mutating func use(_ name: String, _ namespace: String) -> Any {
            guard !SchemaReferences.primitives.contains(name) else { return name }
            let full = SchemaReferences.fullName(name, namespace)
            guard let found = definitions.removeValue(forKey: full) ?? definitions.removeValue(forKey: name) else {
                return name
            }
            guard var object = found as? [String: Any], let own = object["name"] as? String else {
                return walk(found, namespace: "")
            }
            // It must not take the namespace of what is around it now.
            let ownFull = SchemaReferences.fullName(own, object["namespace"] as? String ?? "")
            object["name"] = ownFull.split(separator: ".").last.map(String.init) ?? own
            object["namespace"] = SchemaReferences.namespace(of: ownFull)
            return walk(object, namespace: "")
        }
    }

    private static func fullName(_ name: String, _ namespace: String) -> String {
        name.contains(".") || namespace.isEmpty ? name : "\(namespace).\(name)"
    }

    private static func namespace(of fullName: String) -> String {
        fullName.lastIndex(of: ".").map { String(fullName[..<$0]) } ?? ""
    }
}
