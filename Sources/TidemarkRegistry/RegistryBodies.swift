internal import Foundation

/// A schema in a request or an answer.
struct SchemaBody: Codable {
    /// Another schema that one uses by name.
    struct Reference: Codable {
        let name: String
        let subject: String
        let version: Int
    }

    let schema: String
    /// Left out for Avro by registries.
    let schemaType: String?
    let references: [Reference]?

    var encoded: Data {
        // A struct of texts can always be written.
        (try? JSONEncoder().encode(self)) ?? Data()
    }
}

/// The id that a schema has.
struct IDBody: Decodable {
    let id: UInt32
}

/// Whether a schema is compatible.
struct CompatibilityBody: Decodable {
    let isCompatible: Bool
    let messages: [String]?

    private enum CodingKeys: String, CodingKey {
        case isCompatible = "is_compatible"
        case messages
    }
}

/// What a registry says of an error.
struct RegistryError {
    /// `error_code`, for example 40403; `nil` where the answer is not of a registry.
    let code: Int?
    /// `message`, cut to a line.
    let message: String?

    private struct Body: Decodable {
        let error_code: Int?
        let message: String?
    }

    init(_ answer: HTTPAnswer) {
        let body = try? JSONDecoder().decode(Body.self, from: answer.body)
        code = body?.error_code
        message = body?.message.map { text in
            String(text.prefix(300).map { $0.isNewline ? " " : $0 })
        }
    }
}
