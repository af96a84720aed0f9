import Testing

@testable import TidemarkConfiguration

@Suite("server.listen")
struct ListenAddressTests {
    @Test func theDefaultIsNotASetting() throws {
        let configuration = try load()
        #expect(configuration.server.listen == ListenAddress(host: "127.0.0.1", port: 9_464))
        #expect(!configuration.isSet("server.listen"))
        #expect(try load("server: {listen: '127.0.0.1:9464'}").isSet("server.listen"))
    }

    @Test(arguments: [
        ("0.0.0.0:9464", "0.0.0.0", UInt16(9_464)), ("[::]:1", "::", 1), ("[fe80::1]:65535", "fe80::1", 65_535),
        ("localhost:0", "127.0.0.1", 0),
    ])
    func addresses(text: String, host: String, port: UInt16) throws {
        let listen = try load(set: ["server.listen=\(text)"]).server.listen
        #expect(listen == ListenAddress(host: host, port: port))
    }

    @Test func offServesNothing() throws {
        #expect(try load(environment: ["TIDEMARK_SERVER_LISTEN": "off"]).server.listen == nil)
    }

    @Test(arguments: [
        ("9464", "`9464` has no port"), ("127.0.0.1:", "`` is not a port from 0 to 65535"),
        ("127.0.0.1:65536", "`65536` is not a port from 0 to 65535"),
        ("127.0.0.1:+1", "`+1` is not a port from 0 to 65535"),
        ("example.org:80", "`example.org` is not an IP address"), ("::1:80", "`::1` is not an IP address"),
        ("[127.0.0.1]:80", "`127.0.0.1` is not an IPv6 address"), (":80", "`` is not an IP address"),
    ])
    func refusals(text: String, problem: String) {
        #expect(
            messages(set: ["server.listen=\(text)"]) == [
                "--set server.listen: `server.listen` \(problem); write an IP address and a port, "
                    + "for example 0.0.0.0:9464 or [::]:9464, or `off`"
            ])
    }
}
