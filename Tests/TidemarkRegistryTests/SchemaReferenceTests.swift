import Foundation
import Testing

@testable import TidemarkRegistry

@Suite("Schemas that refer to others")
struct SchemaReferenceTests {
    private func insert(_ definitions: [String: String], into schema: String) throws -> NSObject {
        let text = try SchemaReferences.insert(definitions, into: schema)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSObject)
    }

    private func json(_ text: String) throws -> NSObject {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSObject)
    }

    @Test func definitionsStandWhereTheirNameComesFirst() throws {
        let id = #"{"type": "fixed", "size": 16, "name": "Id", "namespace": "a.b"}"#
        let user = #"{"type": "record", "name": "User", "namespace": "a.b", "fields": [{"name": "id", "type": "Id"}]}"#
        let schema = """
            {"type": "record", "name": "Event", "namespace": "a.b", "fields": [
              {"name": "user", "type": ["null", "User"]}, {"name": "ids", "type": {"type": "array", "items": "a.b.Id"}},
              {"name": "other", "type": "User"}]}
            """
        let expected = """
            {"type": "record", "name": "Event", "namespace": "a.b", "fields": [
              {"name": "user", "type": ["null", {"type": "record", "name": "User", "namespace": "a.b", "fields": [
                {"name": "id", "type": \(id)}]}]},
              {"name": "ids", "type": {"type": "array", "items": "a.b.Id"}}, {"name": "other", "type": "User"}]}
            """
        #expect(try insert(["a.b.User": user, "a.b.Id": id], into: schema) == json(expected))
    }

    @Test func namespacesAreNotInherited() throws {
        let schema =
            #"{"type": "record", "name": "x.Event", "fields": [{"name": "k", "type": {"type": "map", "values": "Kind"}}]}"#
        let kind = #"{"type": "enum", "name": "Kind", "symbols": ["a"]}"#
        let expected = """
            {"type": "record", "name": "x.Event", "fields": [{"name": "k", "type": {"type": "map", "values":
              {"type": "enum", "name": "Kind", "namespace": "", "symbols": ["a"]}}}]}
            """
        #expect(try insert(["Kind": kind], into: schema) == json(expected))
    }

    @Test func whatIsNoJSONIsNamed() {
        #expect(throws: SchemaReferences.Problem.self) { try SchemaReferences.insert(["a": "{"], into: #""a""#) }
    }
}
