import Foundation
import Testing

@testable import TidemarkConfiguration

@Suite("Rendering, secrets and the files in docs")
struct RenderingTests {
    private static let docs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs")

    private func document(_ name: String) throws -> String {
        try String(contentsOf: Self.docs.appending(path: name), encoding: .utf8)
    }

    @Test func originsStandBesideWhatWasSet() throws {
        let configuration = try load(
            "\nworkers: 3\n", environment: ["TIDEMARK_COMMIT_INTERVAL": "250ms"],
            set: ["input.topic_types.a.b=x.Y", "kafka.client.id=it's #1"])
        let lines = configuration.render().split(separator: "\n").filter { $0.contains("  # ") }.map(String.init)
        #expect(
            lines == [
                "commit_interval: 250ms  # environment variable TIDEMARK_COMMIT_INTERVAL",
                "workers: 3  # tidemark.yaml:2",
                "  client.id: \"it's #1\"  # --set kafka.client.id",
                "    a.b: x.Y  # --set input.topic_types.a.b",
            ])
    }

    @Test func renderedTextReadsBackTheSame() throws {
        let odd = "a \"b\" \\ c: #d\t\n\u{1}\u{85}é☃ [x], {y}"
        let configuration = try load(
            environment: ["TIDEMARK_KAFKA_CLIENT_ID": odd, "TIDEMARK_KAFKA_CLIENT_RACK": "null"],
            set: [
                "input.topics=a,b", "input.topic_types.a=x.Y", "attribution.excluded_platforms=",
                "attribution.allowed_lateness=unlimited", "attribution.window.factor=0.1", "workers=7",
                "limits.memory=3GB", "limits.record_bytes=1025B", "commit_interval=1500ms", "instance=node-1",
                "attribution.window.policy=shorter", "report.time_zone=Europe/Berlin", "kafka.debug=-x:",
                "kafka.builtin.features=~", "input.type_header=a: b",
            ])
        let again = try load(configuration.render())
        #expect(again.texts == configuration.texts)
        #expect(again.kafka["client.id"] == odd)
        #expect(try load(load().render()).texts == load().texts)
    }

    @Test(arguments: [
        "sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem",
        "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config",
    ])
    func secretsAreNeverShown(property: String) throws {
        let environment = ["BROKER_LOGIN": "hunter2"]
        let sources = [
            try load("kafka: {\(property): hunter2}"),
            try load("kafka: {\(property): 'env:BROKER_LOGIN'}", environment: environment),
            try load(set: ["kafka.\(property)=hunter2"]),
        ]
        for configuration in sources {
            #expect(configuration.kafka[property] == "hunter2")
            #expect(configuration.render().contains("  \(property): \"*****\"  # "))
            #expect(!configuration.render().contains("hunter2"))
        }
    }

    @Test func secretsStayOutOfMessages() {
        let found = messages(
            "kafkaa: {sasl.password: hunter2}\nkafka: {sasl.password: [hunter2]}",
            environment: ["TIDEMARK_KAFKAA_SASL_PASSWORD": "hunter2"],
            set: ["kafk.sasl.password=hunter2", "kafka=sasl.password=a,hunter2", "kafka.group.id=hunter2"])
        #expect(found.count == 6)
        #expect(!found.joined().contains("hunter2"))
    }

    @Test func starsAreNoSecret() {
        #expect(
            messages("kafka: {sasl.password: '*****'}") == [
                "tidemark.yaml:1: `kafka.sasl.password` `*****` stands for a secret that was hidden; "
                    + "write the secret, env:NAME or file:/path"
            ])
    }

    @Test func referencesAreResolvedAndShown() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID().uuidString)")
        try "from file\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let configuration = try load(
            "kafka: {sasl.username: 'env:TIDEMARK_KAFKA_LOGIN', ssl.ca.pem: 'file:\(file.path)'}",
            environment: [
                "TIDEMARK_KAFKA_LOGIN": "me", "TIDEMARK_KAFKA_BOOTSTRAP_SERVERS": "env:HOSTS", "HOSTS": "h:1",
            ])
        #expect(configuration.kafka["sasl.username"] == "me")
        #expect(configuration.kafka["ssl.ca.pem"] == "from file")
        #expect(configuration.kafka["login"] == nil)
        #expect(configuration.bootstrapServers == "h:1")
        let text = configuration.render()
        #expect(text.contains("  sasl.username: env:TIDEMARK_KAFKA_LOGIN  # tidemark.yaml:1"))
        #expect(text.contains("  bootstrap.servers: env:HOSTS  # environment variable"))
        let replaced = try load("kafka: {client.id: 'env:A'}", environment: ["A": "x"], set: ["kafka.client.id=y"])
        #expect(replaced.render().contains("  client.id: y  # --set kafka.client.id\n"))
    }

    @Test func referenceFileHoldsEveryKeyAndTheDefaults() throws {
        let text = try document("tidemark.reference.yaml")
        #expect(text == Configuration.reference(), "write it with `tidemark config show --reference`")
        #expect(try load(text).texts == load().texts)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 })
        let named = YAMLReader(text: text, name: "").settings.map(\.key)
        for key in Configuration.keys {
            #expect(named.contains { $0 == key.name || $0.hasPrefix(key.name + ".") }, "\(key.name)")
        }
    }

    @Test func minimalFileIsValid() throws {
        #expect(try load(document("tidemark.minimal.yaml")).texts == load().texts)
    }
}
