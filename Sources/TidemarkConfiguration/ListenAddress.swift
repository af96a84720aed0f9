import Foundation

/// A place to listen at: an IP address of this host and a port.
public struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    /// An IPv4 or IPv6 address; `0.0.0.0` and `::` are all of this host's.
    public var host: String
    /// The port; 0 takes any that is free.
    public var port: UInt16

    /// As one writes it, for example `127.0.0.1:9464` or `[::1]:9464`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// An address.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`; IPv6 addresses stand in brackets.
    ///
    /// Names are not taken: what they stand for would depend on when and where one asks.
    init(parsing text: String) throws(ValueProblem) {
        guard let colon = text.lastIndex(of: ":") else { throw ValueProblem("`\(text)` has no port") }
        let digits = text[text.index(after: colon)...]
        guard let port = UInt16(digits), digits.allSatisfy(\.isNumber) else {
            throw ValueProblem("`\(digits)` is not a port from 0 to 65535")
        }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard ListenAddress.isAddress(host, AF_INET6) else {
                throw ValueProblem("`\(host)` is not an IPv6 address")
            }
        } else if !ListenAddress.isAddress(host, AF_INET) {
            throw ValueProblem("`\(host)` is not an IP address")
        }
        self.host = host
        self.port = port
    }

    private static func isAddress(_ text: String, _ family: Int32) -> Bool {
        var room = in6_addr()
        return inet_pton(family, text, &room) == 1
    }
}

extension ValueFormat where Value == ListenAddress {
    /// An address and a port.
    static let listenAddress = ValueFormat.single(
        .text, allowed: "an IP address and a port, for example 0.0.0.0:9464 or [::]:9464",
        parse: { text throws(ValueProblem) in try ListenAddress(parsing: text) },
        print: { $0.description })
}
