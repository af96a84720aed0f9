import Foundation
import Testing

@testable import TidemarkRegistry

@Suite("A registry that answers strangely", .timeLimit(.minutes(1)))
struct RegistryClientTests {
    private static let text = #"{"type":"string"}"#
    private static let answer = #"{"schema":"{\"type\":\"string\"}"}"#

    @Test func requestsAreThoseOfTheProtocol() throws {
        let server = try FaultyServer { request, _ in
            request.line.hasPrefix("GET") ? .json(Self.answer) : .json(#"{"id": 5, "version": 1}"#)
        }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url + "/api/"))
        #expect(try registry.schema(id: 7).text == Self.text)
        #expect(try registry.register("{}", subject: "a b/c-value") == 5)
        #expect(try registry.lookUp("{}", subject: "t") == 5)
        let requests = server.requests
        #expect(
            requests.map(\.line) == [
                "GET /api/schemas/ids/7 HTTP/1.1", "POST /api/subjects/a%20b%2Fc-value/versions HTTP/1.1",
                "POST /api/subjects/t HTTP/1.1",
            ])
        let media = "application/vnd.schemaregistry.v1+json"
        #expect(requests[0].headers["accept"] == "\(media), application/json")
        #expect(requests[0].headers["authorization"] == nil)
        #expect(requests[1].headers["content-type"] == media)
        let body = try JSONDecoder().decode([String: String].self, from: Data(requests[1].body.utf8))
        #expect(body == ["schema": "{}", "schemaType": "AVRO"])
    }

    @Test(
        arguments: [
            (
                401, #"{"error_code": 40101, "message": "who\nare you"}"#, RegistryFailure.Reason.denied,
                "answered 401 (who are you): check `schema_registry.basic_auth`"
            ),
            (403, "", .denied, "answered 403: this user may not do that"),
            (404, #"{"error_code": 40403, "message": "no 7"}"#, .unknown, "answered 404 (no 7)"),
            (404, "<html>", .misconfigured, "has to be where the Confluent-compatible API begins"),
            (409, #"{"error_code": 409, "message": "m"}"#, .refused, "answered 409 (m): not compatible"),
            (422, #"{"error_code": 42201, "message": "m"}"#, .refused, "answered 422 (m): not taken as a schema"),
            (429, "", .unavailable, "answered 429"), (500, "oops", .unavailable, "answered 500"),
            (503, #"{"message": "m"}"#, .unavailable, "answered 503 (m)"),
            (418, "", .misconfigured, "answered 418; is this a schema registry?"),
            (200, "<html>\n<body>", .misconfigured, "(begins with `<html> <body>`)"),
            (200, "[]", .misconfigured, "something else than a schema registry does"),
            (200, #"{"schema": "syntax", "schemaType": "PROTOBUF"}"#, .unusable, "it is of type PROTOBUF"),
        ] as [(Int, String, RegistryFailure.Reason, String)])
    func eachAnswerHasItsReason(status: Int, body: String, reason: RegistryFailure.Reason, words: String) throws {
        let server = try FaultyServer { _, _ in .status(status, body) }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url))
        let failure = try failure { try registry.schema(id: 7) }
        #expect(failure.reason == reason)
        #expect(failure.description.hasPrefix("cannot get schema 7 at \(server.url): "))
        #expect(failure.description.contains(words), "\(failure)")
    }

    @Test func schemasOfJSONAreKnownAsSuch() throws {
        let server = try FaultyServer { _, _ in .json(#"{"schema": "{}", "schemaType": "JSON", "references": []}"#) }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url))
        #expect(try registry.schema(id: 7) == RegisteredSchema(kind: .json, text: "{}"))
    }

    @Test func brokenConnectionsAreUnavailable() throws {
        let answers: [FaultyServer.Answer] = [
            .close, .raw("no HTTP at all"), .raw("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"),
        ]
        let server = try FaultyServer { _, number in answers[number % answers.count] }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url))
        for _ in answers {
            #expect(try failure { try registry.schema(id: 7) }.reason == .unavailable)
        }
    }

    @Test func silenceEndsWithTheTimeout() throws {
        let server = try FaultyServer { _, _ in .silence }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url) { $0.timeout = .milliseconds(150) })
        let failure = try failure { try registry.schema(id: 7) }
        #expect(failure.reason == .unavailable)
        #expect(failure.description.contains("no answer in time"))
    }

    @Test func silenceEndsWhenNobodyWaitsAnyMore() throws {
        let server = try FaultyServer { _, _ in .silence }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url) { $0.timeout = .seconds(300) }) {
            !server.requests.isEmpty
        }
        #expect(try failure { try registry.schema(id: 7) }.reason == .cancelled)
    }

    @Test func endlessAnswersAreCut() throws {
        let server = try FaultyServer { _, _ in .json(String(repeating: " ", count: 9 << 20)) }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url))
        let failure = try failure { try registry.schema(id: 7) }
        #expect(failure.reason == .misconfigured)
        #expect(failure.description.contains("larger than 8 MiB"))
    }

    @Test func theNextURLIsAskedAndKept() throws {
        let bad = try FaultyServer { _, _ in .status(503, "") }
        let good = try FaultyServer { _, _ in .json(Self.answer) }
        defer {
            bad.close()
            good.close()
        }
        let registry = SchemaRegistry(try RegistrySettings(bad.url, good.url))
        #expect(try registry.schema(id: 1).text == Self.text)
        #expect(try registry.schema(id: 2).text == Self.text)
        #expect(bad.requests.count == 1)
        #expect(good.requests.count == 2)
        good.close()
        let failure = try failure { try registry.schema(id: 3) }
        #expect(failure.reason == .unavailable)
        #expect(failure.description.contains(bad.url) && failure.description.contains(good.url))
    }

    @Test func unknownIsAnAnswerAndNoReasonToAskElsewhere() throws {
        let first = try FaultyServer { _, _ in .status(404, #"{"error_code": 40403, "message": ""}"#) }
        let second = try FaultyServer { _, _ in .json(Self.answer) }
        defer {
            first.close()
            second.close()
        }
        let registry = SchemaRegistry(try RegistrySettings(first.url, second.url))
        #expect(try failure { try registry.schema(id: 1) }.reason == .unknown)
        #expect(second.requests.isEmpty)
    }

    @Test func loginsAreSent() throws {
        let server = try FaultyServer { _, _ in .json(Self.answer) }
        defer { server.close() }
        let place = server.url.dropFirst("http://".count)
        let all = [
            try RegistrySettings(server.url) { $0.basicAuth = "me:pass" },
            try RegistrySettings("http://you:word@\(place)") { $0.basicAuth = "me:pass" },
            try RegistrySettings(server.url) { $0.bearerToken = "abc" },
        ]
        for settings in all { _ = try SchemaRegistry(settings).schema(id: 1) }
        #expect(
            server.requests.map { $0.headers["authorization"] } == [
                "Basic bWU6cGFzcw==", "Basic eW91OndvcmQ=", "Bearer abc",
            ])
    }

    @Test func failuresHoldNoSecret() throws {
        let server = try FaultyServer { _, _ in .status(401, "") }
        defer { server.close() }
        let place = server.url.dropFirst("http://".count)
        let registry = SchemaRegistry(try RegistrySettings("http://you:hunter2@\(place)"))
        #expect(!(try failure { try registry.schema(id: 1) }.description.contains("hunter2")))
    }

    @Test(arguments: [301, 302, 307, 308])
    func redirectsAreFollowedWithTheBodyAndWithoutTheLogin(status: Int) throws {
        let target = try FaultyServer { _, _ in .json(#"{"id": 3}"#) }
        // Another name of this host is another host to a client.
        let url = "http://localhost:\(target.port)/x"
        let server = try FaultyServer { _, _ in .status(status, "", headers: "Location: \(url)\r\n") }
        defer {
            server.close()
            target.close()
        }
        let registry = SchemaRegistry(try RegistrySettings(server.url) { $0.basicAuth = "me:pass" })
        #expect(try registry.register("{}", subject: "s") == 3)
        #expect(server.requests.first?.headers["authorization"] != nil)
        #expect(target.requests.first?.line == "POST /x HTTP/1.1")
        #expect(target.requests.first?.body.contains("schema") == true)
        #expect(target.requests.first?.headers["authorization"] == nil)
    }

    @Test func redirectsInACircleEnd() throws {
        let server = try FaultyServer { _, _ in .status(302, "", headers: "Location: /again\r\n") }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url))
        let failure = try failure { try registry.schema(id: 7) }
        #expect(failure.reason == .misconfigured)
        #expect(failure.description.contains("redirects too often"))
        #expect(server.requests.count == 4)
    }

    @Test func redirectsToOtherProtocolsAreNotFollowed() throws {
        let server = try FaultyServer { _, _ in .status(302, "", headers: "Location: file:///etc/passwd\r\n") }
        defer { server.close() }
        let registry = SchemaRegistry(try RegistrySettings(server.url))
        #expect(try failure { try registry.schema(id: 7) }.reason == .misconfigured)
    }

    @Test func referencesAreFetched() throws {
        let outer =
            #"{"schema": "{\"type\":\"record\",\"name\":\"O\",\"fields\":[{\"name\":\"i\",\"type\":\"p.I\"}]}", "#
            + #""references": [{"name": "p.I", "subject": "inner", "version": 2}]}"#
        let inner = #"{"schema": "{\"type\":\"enum\",\"name\":\"I\",\"namespace\":\"p\",\"symbols\":[\"s\"]}"}"#
        let server = try FaultyServer { request, _ in
            .json(request.line.hasPrefix("GET /subjects/inner/versions/2 ") ? inner : outer)
        }
        defer { server.close() }
        let text = try SchemaRegistry(try RegistrySettings(server.url)).schema(id: 7).text
        #expect(text.contains(#""symbols":["s"]"#))
        #expect(server.requests.count == 2)
    }
}
