import Foundation
import FoundationNetworking
import Testing

@testable import TidemarkRegistry

@Suite("A real registry", .needsRegistry, .timeLimit(.minutes(2)))
struct RealRegistryTests {
    private let registry: SchemaRegistry
    private let subject = "tidemark-test-\(UUID().uuidString.lowercased())-value"

    init() throws { registry = SchemaRegistry(try RegistrySettings(RealRegistry.url ?? "")) }

    private func record(_ fields: String) -> String {
        #"{"type":"record","name":"Event","namespace":"tidemark.test","fields":[\#(fields)]}"#
    }

    /// Sets what the registry demands of new versions.
    private func demandCompatibility(_ level: String) async throws {
        var request = URLRequest(url: try #require(URL(string: "\(RealRegistry.url ?? "")/config/\(subject)")))
        request.httpMethod = "PUT"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"compatibility":"\#(level)"}"#.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test func schemasComeBackAndKeepTheirID() throws {
        let schema = record(#"{"name":"a","type":"string"}"#)
        let id = try registry.register(schema, subject: subject)
        #expect(try registry.register(schema, subject: subject) == id)
        #expect(try registry.lookUp(schema, subject: subject) == id)
        let back = try registry.schema(id: id).text
        #expect(try json(back) == json(schema))
    }

    @Test func whatIsNotThereIsUnknown() throws {
        let name = "f" + UUID().uuidString.prefix(8).lowercased()
        let schema = record(#"{"name":"\#(name)","type":"int"}"#)
        #expect(try failure { try registry.schema(id: 2_000_000_000) }.reason == .unknown)
        #expect(try failure { try registry.lookUp(schema, subject: subject) }.reason == .unknown)
    }

    @Test func incompatibleVersionsAreRefused() async throws {
        let first = record(#"{"name":"a","type":"string"}"#)
        #expect(try registry.incompatibility(first, subject: subject) == nil)
        _ = try registry.register(first, subject: subject)
        try await demandCompatibility("BACKWARD")
        let wider = record(#"{"name":"a","type":"string"},{"name":"b","type":["null","int"],"default":null}"#)
        #expect(try registry.incompatibility(wider, subject: subject) == nil)
        let other = record(#"{"name":"a","type":"string"},{"name":"b","type":"int"}"#)
        #expect(try registry.incompatibility(other, subject: subject) != nil)
        #expect(try failure { try registry.register(other, subject: subject) }.reason == .refused)
        #expect(try failure { try registry.register("{", subject: subject) }.reason == .refused)
    }

    @Test func referredSchemasAreInserted() async throws {
        let inner = #"{"type":"enum","name":"Kind","namespace":"tidemark.test","symbols":["a","b"]}"#
        let innerSubject = subject + "-inner"
        _ = try registry.register(inner, subject: innerSubject)
        let outer = record(#"{"name":"kind","type":"tidemark.test.Kind"}"#)
        let id = try await register(outer, referring: "tidemark.test.Kind", to: innerSubject)
        #expect(try registry.schema(id: id).text.contains(#""symbols":["a","b"]"#))
    }

    private func register(_ schema: String, referring name: String, to other: String) async throws -> UInt32 {
        try await post([
            "schema": schema, "schemaType": "AVRO",
            "references": [["name": name, "subject": other, "version": 1] as [String: Any]],
        ])
    }

    private func post(_ body: [String: Any]) async throws -> UInt32 {
        var request = URLRequest(
            url: try #require(URL(string: "\(RealRegistry.url ?? "")/subjects/\(subject)-posted/versions")))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONSerialization.data(withJSONObject: body)
        let (data, _) = try await URLSession.shared.data(for: request)
        let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return UInt32(try #require(answer?["id"] as? Int, "\(String(decoding: data, as: UTF8.self))"))
    }

    private func json(_ text: String) throws -> NSObject {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSObject)
    }
}
