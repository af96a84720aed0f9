import Foundation
import Testing

@testable import TidemarkRegistry

/// Tests of encrypted connections, with the `openssl` program as the server.
@Suite(
    "A registry behind TLS", .serialized, .enabled(if: TLSServer.program != nil, "there is no openssl program"),
    .timeLimit(.minutes(2)))
struct TLSTests {
    private let server: TLSServer

    init() throws { server = try TLSServer() }

    private func schema(_ url: String, change: (inout RegistrySettings) -> Void) throws -> String {
        try SchemaRegistry(try RegistrySettings(url, change: change)).schema(id: 7).text
    }

    @Test func theAuthorityThatIsNamedIsTrusted() throws {
        let url = try server.start()
        #expect(try schema(url) { $0.authoritiesFile = server.path("ca.pem") } == TLSServer.schema)
    }

    @Test func othersAreNot() throws {
        let url = try server.start()
        let failure = try failure { try schema(url) { _ in } }
        #expect(failure.reason == .misconfigured)
        #expect(failure.description.contains("its certificate is not trusted"))
        #expect(failure.description.contains("set `schema_registry.ca`"))
    }

    @Test func theNameHasToBeThatOfTheCertificate() throws {
        let url = try server.start().replacingOccurrences(of: "localhost", with: "127.0.0.1")
        let failure = try failure { try schema(url) { $0.authoritiesFile = server.path("ca.pem") } }
        #expect(failure.description.contains("use the name that the certificate is for"))
    }

    @Test func clientsCanShowACertificate() throws {
        let url = try server.start(["-Verify", "1", "-verify_return_error", "-CAfile", server.path("ca.pem")])
        let text = try schema(url) {
            $0.authoritiesFile = server.path("ca.pem")
            $0.certificateFile = server.path("client.pem")
            $0.keyFile = server.path("client.key")
            $0.keyPassword = "hunter2"
        }
        #expect(text == TLSServer.schema)
        let without = try failure { try schema(url) { $0.authoritiesFile = server.path("ca.pem") } }
        #expect(without.reason == .misconfigured)
        #expect(without.description.contains("check the files of"))
    }

    @Test func filesThatCannotBeUsedAreSaid() throws {
        let url = try server.start()
        let missing = try failure { try schema(url) { $0.authoritiesFile = "/no/such.pem" } }
        #expect(missing.reason == .misconfigured)
        #expect(missing.description.contains("/no/such.pem"))
        let locked = try failure {
            try schema(url) {
                $0.authoritiesFile = server.path("ca.pem")
                $0.certificateFile = server.path("client.pem")
                $0.keyFile = server.path("client.key")
                $0.keyPassword = "wrong"
            }
        }
        #expect(locked.reason == .misconfigured)
        #expect(!locked.description.contains("wrong password"))
    }
}

/// Certificates, and `openssl s_server` that answers one request after the other from files.
final class TLSServer {
    static let schema = #"{"type":"string"}"#
    static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "tidemark-tls-\(UUID().uuidString)")
    private var process: Process?

    init() throws {
        let schemas = folder.appendingPathComponent("schemas/ids")
        try FileManager.default.createDirectory(at: schemas, withIntermediateDirectories: true)
        let body = #"{"schema":"{\"type\":\"string\"}"}"#
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        try Data(answer.utf8).write(to: schemas.appendingPathComponent("7"))
        try makeCertificates()
    }

    deinit {
        // It is deaf to gentler signals.
        if let process { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Starts it, and returns its URL.
    func start(_ arguments: [String] = []) throws -> String {
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: TLSServer.program ?? "")
        process.currentDirectoryURL = folder
        process.arguments =
            ["s_server", "-accept", "0", "-HTTP", "-cert", "server.pem", "-key", "server.key"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        var text = ""
        while let bytes = Optional(output.fileHandleForReading.availableData), !bytes.isEmpty {
            text += String(decoding: bytes, as: UTF8.self)
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }) else { continue }
            let port = try #require(line.split(separator: ":").last)
            return "https://localhost:\(port)"
        }
        throw CocoaError(.fileReadUnknown)
    }

    private func makeCertificates() throws {
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        try run(
            ["req", "-x509", "-days", "2", "-nodes", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"]
                + key)
        try sign("server", "localhost", ["-nodes"] + key)
        try sign("client", "client", ["-passout", "pass:hunter2"] + key)
    }

    private func sign(_ name: String, _ host: String, _ arguments: [String]) throws {
        try run(["req", "-subj", "/CN=\(host)", "-keyout", "\(name).key", "-out", "\(name).csr"] + arguments)
        try Data("subjectAltName=DNS:\(host)\n".utf8).write(to: folder.appendingPathComponent("names"))
        try run([
            "x509", "-req", "-days", "2", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-extfile", "names", "-out", "\(name).pem",
        ])
    }

    private func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: TLSServer.program ?? "")
        process.currentDirectoryURL = folder
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
