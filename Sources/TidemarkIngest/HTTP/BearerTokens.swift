/// The tokens that open the endpoint, each of them valid.
struct BearerTokens: Equatable, Sendable {
    /// Shorter ones could be guessed.
    static let shortest = 16
    /// More make no sense: each is compared with every request.
    static let most = 16

    private let tokens: [[UInt8]]

    /// Why a text holds no tokens.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    /// Reads one token a line; empty lines and those that begin with `#` are passed over.
    init(parsing text: String) throws(Problem) {
        let lines = text.split(whereSeparator: \.isNewline).map { line in
            var line = line
            while line.first?.isWhitespace == true { line.removeFirst() }
            while line.last?.isWhitespace == true { line.removeLast() }
            return line
        }
        tokens = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }.map { Array($0.utf8) }
        guard !tokens.isEmpty else { throw Problem(description: "holds no token") }
        guard tokens.count <= BearerTokens.most else {
            throw Problem(description: "holds \(tokens.count) tokens; \(BearerTokens.most) are the most")
        }
        for (place, token) in tokens.enumerated() {
            guard token.count >= BearerTokens.shortest else {
                throw Problem(
                    description:
                        "token \(place + 1) has \(token.count) characters; \(BearerTokens.shortest) are the least: "
                        + "`openssl rand -hex 32` makes a good one")
            }
            guard token.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw Problem(description: "token \(place + 1) has a space or another character that no header takes")
            }
        }
    }

    /// How many there are.
    var count: Int { tokens.count }

    /// Whether a value of the `Authorization` header names one of the tokens.
    ///
    /// The time that it takes depends on how long things are and not on what they hold, so that nobody can find a token byte by byte.
    func accept(_ authorization: UnsafePointer<CChar>?) -> Bool {
        guard let authorization, let offered = BearerTokens.credentials(authorization) else { return false }
        var accepted: UInt8 = 0
        for token in tokens { accepted |= BearerTokens.equal(token, offered) }
        return accepted == 1
    }

    /// What follows the word Bearer, in any case, and one or more spaces.
    private static func credentials(_ authorization: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
        var place = authorization
        for letter in "bearer".utf8 {
            guard UInt8(bitPattern: place.pointee) | 0x20 == letter else { return nil }
            place += 1
        }
        guard place.pointee == 0x20 else { return nil }
        while place.pointee == 0x20 { place += 1 }
        return place
    }

    /// 1 or 0.
    private static func equal(_ token: [UInt8], _ offered: UnsafePointer<CChar>) -> UInt8 {
        var difference: UInt8 = 0
        var place = 0
        while offered[place] != 0 {
            difference |= UInt8(bitPattern: offered[place]) ^ token[place % token.count]
            place += 1
        }
        if place != token.count { difference = 1 }
        return difference == 0 ? 1 : 0
    }
}
