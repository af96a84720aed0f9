internal import Foundation

/// A client of a schema registry with the Confluent-compatible API. For one thread at a time.
///
/// Each call asks the URLs one after the other, beginning with the one that answered last, until one gives an answer. It repeats nothing:
/// whoever calls knows how long it may take. See ``Backoff``.
public final class SchemaRegistry {
    private struct Endpoint {
        let address: String
        let client: HTTPClient
    }

    private let endpoints: [Endpoint]
    /// The one that answered last.
    private var current = 0

    /// - Parameters:
    ///   - settings: with one URL at least.
    ///   - isCancelled: asked several times a second while a request runs; true ends it.
    public init(_ settings: RegistrySettings, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        precondition(settings.isEnabled, "a registry needs a URL")
        endpoints = settings.urls.map { url in
            Endpoint(
                address: url.address,
                client: HTTPClient(settings, userPassword: url.userPassword, isCancelled: isCancelled))
        }
    }

    // MARK: Reading

    /// The schema of an id; one of Avro with the schemas that it refers to put in their places.
    ///
    /// - Throws: `.unknown` where the registry says that there is none, `.unusable` where it is neither Avro nor JSON.
    public func schema(id: UInt32) throws(RegistryFailure) -> RegisteredSchema {
        let task = "get schema \(id)"
        let found = try schema(at: "/schemas/ids/\(id)", task)
        if found.kind == .json || found.references.isEmpty {
            return RegisteredSchema(kind: found.kind, text: found.text)
        }
        return RegisteredSchema(kind: .avro, text: try resolved(found, task))
    }

    private func resolved(_ schema: FoundSchema, _ task: String) throws(RegistryFailure) -> String {
        var definitions: [String: FoundSchema] = [:]
        var open = schema.references
        while let reference = open.popLast() {
            guard definitions[reference.name] == nil else { continue }
            let path = "/subjects/\(segment(reference.subject))/versions/\(reference.version)"
            let found = try self.schema(at: path, "\(task), which refers to \(reference.name)")
            definitions[reference.name] = found
            open += found.references
        }
        do {
            return try SchemaReferences.insert(definitions.mapValues(\.text), into: schema.text)
        } catch {
            throw RegistryFailure(reason: .unusable, description: "cannot \(task): \(error.what)")
        }
    }

    private func schema(at path: String, _ task: String) throws(RegistryFailure) -> FoundSchema {
        let (body, maker) = try ask(path, task, as: SchemaBody.self)
        let type = body.schemaType ?? "AVRO"
        guard let kind = RegisteredSchema.Kind(rawValue: type) else {
            throw maker.failure(.unusable, "it is of type \(type); events are read by schemas of type AVRO or JSON")
        }
        return FoundSchema(kind: kind, text: body.schema, references: body.references ?? [])
    }

    // MARK: Writing

    /// Registers a schema as the newest version of a subject; one that is there already keeps its id.
    ///
    /// - Returns: its id.
    /// - Throws: `.refused` where it is not compatible with the versions before.
    public func register(_ schema: String, subject: String) throws(RegistryFailure) -> UInt32 {
        let path = "/subjects/\(segment(subject))/versions"
        return try ask(path, "register the schema of \(subject)", sending: schema, as: IDBody.self).0.id
    }

    /// The id of a schema that is a version of a subject.
    ///
    /// - Throws: `.unknown` where it is not.
    public func lookUp(_ schema: String, subject: String) throws(RegistryFailure) -> UInt32 {
        try ask("/subjects/\(segment(subject))", "find the schema of \(subject)", sending: schema, as: IDBody.self).0.id
    }

    /// Why a schema could not become the newest version of a subject.
    ///
    /// - Returns: `nil` where it could, also because the subject has none yet.
    public func incompatibility(_ schema: String, subject: String) throws(RegistryFailure) -> String? {
        let path = "/compatibility/subjects/\(segment(subject))/versions/latest?verbose=true"
        do throws(RegistryFailure) {
            let body = try ask(
                path, "compare the schema of \(subject)", sending: schema, as: CompatibilityBody.self
            ).0
            guard !body.isCompatible else { return nil }
            let messages = (body.messages ?? []).joined(separator: "; ")
            return messages.isEmpty ? "the registry gives no reason" : messages
        } catch {
            guard error.reason == .unknown else { throw error }
            return nil
        }
    }

    // MARK: Asking

    /// Sends a request to one URL after the other until one answers.
    private func ask<Body: Decodable>(
        _ path: String, _ task: String, sending schema: String? = nil, as type: Body.Type
    ) throws(RegistryFailure) -> (Body, FailureMaker) {
        var failures: [RegistryFailure] = []
        for step in endpoints.indices {
            let place = (current + step) % endpoints.count
            let maker = FailureMaker(task: task, address: endpoints[place].address)
            do throws(RegistryFailure) {
                let body = try ask(endpoints[place], path, schema, maker, as: type)
                current = place
                return (body, maker)
            } catch {
                guard error.reason.concernsURL else {
                    if error.reason != .cancelled { current = place }
                    throw error
                }
                failures.append(error)
            }
        }
        throw .all(failures)
    }

    private func ask<Body: Decodable>(
        _ endpoint: Endpoint, _ path: String, _ schema: String?, _ maker: FailureMaker, as type: Body.Type
    ) throws(RegistryFailure) -> Body {
        let answer: HTTPAnswer
        do throws(HTTPFailure) {
            let body = schema.map { SchemaBody(schema: $0, schemaType: "AVRO", references: nil).encoded }
            answer = try endpoint.client.send(endpoint.address + path, body: body)
        } catch {
            throw maker.failure(error)
        }
        guard (200..<300).contains(answer.status) else { throw maker.failure(answer) }
        guard let body = try? JSONDecoder().decode(type, from: answer.body) else { throw maker.notUnderstood(answer) }
        return body
    }

    /// A name as one part of a path.
    private func segment(_ name: String) -> String {
        let plain = CharacterSet(charactersIn: "-._~0123456789")
            .union(CharacterSet(charactersIn: "a"..."z")).union(CharacterSet(charactersIn: "A"..."Z"))
        return name.addingPercentEncoding(withAllowedCharacters: plain) ?? name
    }
}

/// A schema of a registry, which stands alone.
public struct RegisteredSchema: Equatable, Sendable {
    /// What it describes.
    public enum Kind: String, Sendable {
        /// Avro in its binary encoding.
        case avro = "AVRO"
        /// JSON.
        case json = "JSON"
    }

    /// What it describes.
    public let kind: Kind
    /// The schema itself, a JSON text.
    public let text: String

    /// A schema.
    public init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }
}

/// A schema as the registry has it.
private struct FoundSchema {
    let kind: RegisteredSchema.Kind
    let text: String
    let references: [SchemaBody.Reference]
}
