import Foundation
import FoundationNetworking
import Testing

@testable import TidemarkRegistry

/// The schemas in `schemas/avro` in a real registry that demands `BACKWARD`.
@Suite("Changes of our schemas, in a real registry", .needsRegistry, .timeLimit(.minutes(2)))
struct SchemaFileTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../schemas/avro").standardized
    private static let files: [String] = ["", "events/"].flatMap { part in
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(part).path)) ?? []
        return names.filter { $0.hasSuffix(".avsc") }.map { part + $0 }
    }

    private let registry: SchemaRegistry

    init() throws { registry = SchemaRegistry(try RegistrySettings(RealRegistry.url ?? "")) }

    private func text(_ file: String) throws -> String {
        try String(contentsOf: SchemaFileTests.folder.appendingPathComponent(file), encoding: .utf8)
    }

    private func register(_ file: String) async throws -> (subject: String, schema: [String: Any]) {
        let subject = "tidemark-files-\(UUID().uuidString.lowercased())-value"
        let text = try text(file)
        let id = try registry.register(text, subject: subject)
        var request = URLRequest(url: try #require(URL(string: "\(RealRegistry.url ?? "")/config/\(subject)")))
        request.httpMethod = "PUT"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"compatibility":"BACKWARD"}"#.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        // What comes back is what was given, to the last word of its documentation.
        #expect(try object(registry.schema(id: id).text) as NSDictionary == object(text) as NSDictionary)
        return (subject, try object(text))
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func adding(_ field: [String: Any], to schema: [String: Any]) throws -> [String: Any] {
        var schema = schema
        schema["fields"] = try #require(schema["fields"] as? [Any]) + [field]
        return schema
    }

    private func json(_ object: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    }

    private let optional: [String: Any] = ["name": "added", "type": ["null", "string"], "default": NSNull()]
    private let required: [String: Any] = ["name": "added", "type": "string"]

    @Test func thereAreFiles() { #expect(SchemaFileTests.files.count >= 30) }

    @Test(arguments: SchemaFileTests.files)
    func aFieldWithADefaultIsTakenAndOneWithoutIsNot(file: String) async throws {
        let (subject, schema) = try await register(file)
        let wider = try json(adding(optional, to: schema))
        let narrower = try json(adding(required, to: schema))
        #expect(try registry.incompatibility(narrower, subject: subject) != nil)
        #expect(try failure { try registry.register(narrower, subject: subject) }.reason == .refused)
        #expect(try registry.incompatibility(wider, subject: subject) == nil)
        _ = try registry.register(wider, subject: subject)
        // And back: what the wider one wrote can be read by the old one.
        #expect(try registry.incompatibility(text(file), subject: subject) == nil)
    }

    @Test func aNewMetricIsTakenAndAnotherTypeOfOneIsNot() async throws {
        let (subject, schema) = try await register("report-row.avsc")
        #expect(
            try registry.incompatibility(json(changingMetrics(of: schema) { $0 + [optional] }), subject: subject) == nil
        )
        let other = try changingMetrics(of: schema) { fields in
            fields.map { $0["name"] as? String == "sends" ? ["name": "sends", "type": "string"] : $0 }
        }
        #expect(try registry.incompatibility(json(other), subject: subject) != nil)
    }

    private func changingMetrics(
        of schema: [String: Any], _ change: ([[String: Any]]) -> [[String: Any]]
    ) throws -> [String: Any] {
        var schema = schema
        schema["fields"] = try #require(schema["fields"] as? [[String: Any]]).map { field in
            guard field["name"] as? String == "metrics", var type = field["type"] as? [String: Any] else {
                return field
            }
            var field = field
            type["fields"] = change(type["fields"] as? [[String: Any]] ?? [])
            field["type"] = type
            return field
        }
        return schema
    }
}
