import Foundation
import Testing
import TidemarkRegistry

@testable import TidemarkConfiguration

@Suite("Settings of the schema registry")
struct RegistrySettingTests {
    @Test func allAreRead() throws {
        let settings = try load(
            """
            schema_registry:
              url: [http://a:8081, https://b/api/]
              basic_auth: me:pass
              bearer_token: abc
              ca: /ca.pem
              certificate: /c.pem
              key: /k.pem
              key_password: word
              timeout: 2s
              unknown_after: 0s
              register: false
            """
        ).schemaRegistry
        #expect(settings.urls.map(\.address) == ["http://a:8081", "https://b/api"])
        #expect(settings.basicAuth == "me:pass")
        #expect(settings.bearerToken == "abc")
        #expect(
            [settings.authoritiesFile, settings.certificateFile, settings.keyFile, settings.keyPassword] == [
                "/ca.pem", "/c.pem", "/k.pem", "word",
            ])
        #expect(settings.timeout == .seconds(2))
        #expect(settings.unknownAfter == .zero)
        #expect(!settings.registers)
    }

    @Test func thereIsNoneUnlessNamed() throws {
        #expect(try load().schemaRegistry == RegistrySettings())
        #expect(try load(environment: ["TIDEMARK_SCHEMA_REGISTRY": "http://x"]).schemaRegistry == RegistrySettings())
    }

    @Test(arguments: ["basic_auth", "bearer_token", "key_password"])
    func secretsAreNeverShown(key: String) throws {
        let name = "schema_registry.\(key)"
        let sources = [
            try load("\(name): 'a:hunter2'"),
            try load("\(name): 'env:TIDEMARK_LOGIN'", environment: ["TIDEMARK_LOGIN": "a:hunter2"]),
            try load(set: ["\(name)=a:hunter2"]),
        ]
        for configuration in sources {
            #expect(configuration.texts[name] == "a:hunter2")
            #expect(configuration.render().contains("  \(key): \"*****\"  # "))
            #expect(!configuration.render().contains("hunter2"))
        }
        #expect(messages("\(name): '*****'").first?.contains("stands for a secret that was hidden") == true)
        #expect(messages("\(name): [hunter2]").first?.contains("hunter2") == false)
    }

    @Test func passwordsInURLsAreNeverShown() throws {
        let configuration = try load("schema_registry.url: 'https://me:hunter2@a:8081, http://b'")
        #expect(configuration.schemaRegistry.urls[0].userPassword == "me:hunter2")
        #expect(configuration.render().contains(#"  url: ["https://me:*****@a:8081", http://b]  # "#))
        let referred = try load(
            "schema_registry.url: env:REGISTRY", environment: ["REGISTRY": "https://me:hunter2@a:8081"])
        #expect(referred.schemaRegistry.urls[0].address == "https://a:8081")
        #expect(referred.render().contains("  url: env:REGISTRY  # "))
    }

    @Test(arguments: [
        (
            "url: 'ftp://me:hunter2@a'",
            "`schema_registry.url` is not a URL that begins with http:// or https://; write one or more URLs, for example "
                + "https://registry:8081; [] for none"
        ),
        (
            "basic_auth: hunter2",
            "`schema_registry.basic_auth` is not of the form user:password; write user:password, env:NAME or file:/path, or `none`"
        ),
        (
            "bearer_token: env:NONE",
            "`schema_registry.bearer_token` refers to the environment variable `NONE`, which is not set; write a text, or `none`"
        ),
    ])
    func wrongOnesAreSaid(yaml: String, message: String) {
        #expect(messages("schema_registry: {\(yaml)}") == ["tidemark.yaml:1: \(message)"])
    }
}
