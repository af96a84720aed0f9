import Testing

@testable import TidemarkRegistry

@Suite("URLs of registries")
struct RegistryURLTests {
    @Test func usersAreTakenOutAndHidden() throws {
        let url = try RegistryURL(parsing: "https://me:p%40ss:word@registry:8081/api/")
        #expect(url.address == "https://registry:8081/api")
        #expect(url.userPassword == "me:p@ss:word")
        #expect(url.description == "https://me:*****@registry:8081/api")
        let plain = try RegistryURL(parsing: "HTTP://registry")
        #expect(plain.address == "http://registry")
        #expect(plain.userPassword == nil)
        #expect(plain.description == "http://registry")
        #expect(try RegistryURL(parsing: "http://[::1]:8081").address == "http://[::1]:8081")
    }

    @Test(arguments: [
        "", "registry:8081", "ftp://registry", "http://", "http:///x", "http://:8081", "http://a b", "http://a?b",
        "http://a#b", "http://me@registry", "http://:secret@registry", "http://me:*****@registry",
    ])
    func othersAreRefusedWithoutBeingQuoted(text: String) {
        #expect {
            try RegistryURL(parsing: text)
        } throws: { error in
            guard let problem = error as? RegistryURL.Problem else { return false }
            return !problem.what.contains("secret")
                && (text.hasSuffix("//") || text.isEmpty || !problem.what.contains(text))
        }
    }
}

@Suite("Backoff")
struct BackoffTests {
    @Test func timesDoubleUpToALimit() {
        var backoff = Backoff(first: .milliseconds(200), longest: .seconds(2))
        let times = (0..<6).map { _ in backoff.next(random: 0) }
        #expect(times == [200, 400, 800, 1600, 2000, 2000].map { .milliseconds($0) })
        #expect(backoff.failures == 6)
        backoff.reset()
        let half = backoff.next(random: 1)
        #expect(half == .milliseconds(100))
    }

    @Test func neverOverflows() {
        var backoff = Backoff()
        for _ in 0..<200 { _ = backoff.next() }
        let last = backoff.next(random: 0)
        #expect(last == .seconds(10))
    }
}
