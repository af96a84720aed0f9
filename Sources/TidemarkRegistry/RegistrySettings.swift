internal import Foundation

/// How a schema registry is reached.
public struct RegistrySettings: Sendable, Equatable {
    /// `schema_registry.url`: tried in this order, from the one that answered last; none where no registry is used.
    public var urls: [RegistryURL] = []
    /// `schema_registry.basic_auth`: `user:password` for URLs that hold none.
    public var basicAuth: String?
    /// `schema_registry.bearer_token`: used where there is no user.
    public var bearerToken: String?
    /// `schema_registry.ca`: PEM file of the authorities that are trusted in place of the system's.
    public var authoritiesFile: String?
    /// `schema_registry.certificate`: PEM file of the client's certificate.
    public var certificateFile: String?
    /// `schema_registry.key`: PEM file of its key, where that is not in the same file.
    public var keyFile: String?
    /// `schema_registry.key_password`: what the key is encrypted with.
    public var keyPassword: String?
    /// `schema_registry.timeout`: until an answer of one URL has to be complete.
    public var timeout = Duration.seconds(10)
    /// `schema_registry.unknown_after`: how long an id that the registry does not know is asked for before it counts as unknown.
    public var unknownAfter = Duration.seconds(5)
    /// `schema_registry.register`: whether schemas of outputs are registered, or only looked up.
    public var registers = true

    /// No registry.
    public init() {}

    /// Whether there is a registry.
    public var isEnabled: Bool { !urls.isEmpty }
}

/// Where a registry's API begins. Never shows the password that it may hold.
public struct RegistryURL: Sendable, Equatable, CustomStringConvertible {
    /// The URL without user, password and a slash at the end.
    public let address: String
    /// `user:password` as the URL held it, decoded.
    public let userPassword: String?

    /// The URL, with stars for a password.
    public var description: String {
        guard let userPassword, let end = address.range(of: "://") else { return address }
        let user = userPassword.prefix { $0 != ":" }
        return "\(address[..<end.upperBound])\(user):*****@\(address[end.upperBound...])"
    }

    /// What is wrong with a text that should be a URL. Does not quote it: it may hold a password.
    public struct Problem: Error {
        /// To follow the name of the setting.
        public let what: String
    }

    /// Reads `http://host:port/path` or `https://user:password@host:port/path`.
    public init(parsing text: String) throws(Problem) {
        guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) else {
            throw Problem(what: "is not a URL that begins with http:// or https://")
        }
        var rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.compactMap { $0.removingPercentEncoding }
            guard decoded.count == 2, !decoded[0].isEmpty else {
                throw Problem(what: "holds a user without a password; write user:password@ before the host")
            }
            guard decoded[1] != "*****" else {
                throw Problem(what: "holds stars for a password that was hidden; write the password")
            }
            userPassword = decoded.joined(separator: ":")
            rest = rest[authority.index(after: at)...]
        } else {
            userPassword = nil
        }
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        let isPlain = rest.unicodeScalars.allSatisfy {
            (0x21...0x7E).contains($0.value) && !"?#\\\"<>".contains(Character($0))
        }
        guard isPlain, let first = rest.first, first != "/", first != ":" else {
            throw Problem(what: "is not a URL of the form http://host:port/path, without ? and #")
        }
        address = scheme + rest
    }
}
