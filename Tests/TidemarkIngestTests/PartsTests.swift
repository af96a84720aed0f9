import Foundation
import Testing
import TidemarkConfiguration
import TidemarkKafka

@testable import TidemarkIngest

@Suite("Answers")
struct PostReplyTests {
    /// The connector takes 2xx for done, gives up on 400, sends smaller batches on 413, and comes back later on all others.
    @Test(
        arguments: [
            (.stored(events: 3, deadLetters: 1), 200), (.unreadable("no JSON"), 400), (.unauthorized, 401),
            (.unknownPath, 404), (.otherMethod, 405), (.bodyTooLarge(limit: 8), 413),
            (.inflatedTooLarge(limit: 9), 413),
            (.unknownEncoding, 415), (.headTooLarge, 431), (.noRoom, 429), (.queueFull, 429), (.notStored(nil), 503),
            (.notStored(.messageTimedOut), 503), (.stopping, 503),
        ] as [(PostOutcome, Int)])
    func statusOf(outcome: PostOutcome, status: Int) throws {
        let reply = PostReply(outcome)
        #expect(reply.status == status)
        // Whoever is put off learns for how long; nobody else is.
        #expect((reply.retryAfter != nil) == [429, 503].contains(status))
        #expect(reply.closes == (outcome == .unauthorized || outcome == .headTooLarge || outcome == .stopping))
        let body = try JSONSerialization.jsonObject(with: Data(reply.body.utf8)) as? [String: Any]
        #expect(body?["message"] is String)
    }

    @Test func countsAreTold() {
        #expect(
            PostReply(.stored(events: 3, deadLetters: 1)).body
                == "{\"message\":\"success\",\"events\":3,\"dead_letters\":1}\n")
    }

    @Test func textsAreQuoted() {
        #expect(JSONText.quoted("a\"\\\n\u{1}ü") == "\"a\\\"\\\\\\u000a\\u0001ü\"")
    }
}

@Suite("Bearer tokens")
struct BearerTokensTests {
    private let first = "first-token-of-two"
    private let second = "second-token-0f-two"

    @Test func eachOfThemOpens() throws {
        let tokens = try BearerTokens(parsing: "# of the sender\n \(first)\t\r\n\n\(second)\n")
        #expect(tokens.count == 2)
        for token in [first, second] {
            #expect(tokens.accept("Bearer \(token)"))
            #expect(tokens.accept("bEARER  \(token)"))
        }
    }

    @Test func nothingElseOpens() throws {
        let tokens = try BearerTokens(parsing: "\(first)\n\(second)")
        let wrong = [
            "", "Bearer", "Bearer ", first, "Basic \(first)", "Bearer\(first)", "Bearer \(first) ", "Bearer \(first)x",
            "Bearer \(first.dropLast())", "Bearer \(first)\(first)", "Bearer x\(first.dropFirst())",
            "Bearer \(first.uppercased())",
            "Bearer # of the sender", "Bearer \(first)\n\(second)", "Bear",
        ]
        for text in wrong { #expect(!tokens.accept(text), "\(text)") }
        #expect(!tokens.accept(nil))
    }

    @Test(arguments: [
        ("", "holds no token"), ("\n# x\n", "holds no token"), ("short", "token 1 has 5 characters"),
        ("0123456789abcdef\n0123456 89abcdef", "token 2 has a space"), ("0123456789abcdefü", "another character"),
        ((0..<17).map { "0123456789abcdef\($0)" }.joined(separator: "\n"), "holds 17 tokens"),
    ])
    func whatIsWrongIsSaid(text: String, what: String) {
        let problem = #expect(throws: BearerTokens.Problem.self) { try BearerTokens(parsing: text) }
        #expect(problem?.description.contains(what) == true)
    }

    @Test func aChangedFileIsReadAgainAndABadOneIsNot() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tokens-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        func write(_ text: String) throws { try Data(text.utf8).write(to: file, options: .atomic) }
        let lines = Lines()
        try write(first)
        let keeper = try TokenKeeper(.file(file.path), environment: [:], log: lines.log)
        #expect(keeper.accept("Bearer \(first)") && !keeper.accept("Bearer \(second)"))
        try write("\(first)\n\(second)")
        keeper.refresh()
        #expect(keeper.accept("Bearer \(first)") && keeper.accept("Bearer \(second)"))
        try write("bad")
        keeper.refresh()
        keeper.refresh(always: true)
        #expect(keeper.accept("Bearer \(second)"))
        try write(second)
        keeper.refresh()
        #expect(!keeper.accept("Bearer \(first)") && keeper.accept("Bearer \(second)"))
        try FileManager.default.removeItem(at: file)
        keeper.refresh()
        #expect(keeper.accept("Bearer \(second)"))
        // One line for each change, whether good or bad.
        #expect(lines.all.count == 4)
    }

    @Test func withoutTokensItDoesNotStart() {
        let failure = #expect(throws: IngestFailure.self) {
            try TokenKeeper(.variable("NOT_SET"), environment: [:], log: IngestLog { _, _ in })
        }
        #expect(failure?.description.hasPrefix("ingest.http.tokens: env:NOT_SET is not set") == true)
    }

    @Test func noneLetsEverybodyInAndSaysSo() throws {
        let lines = Lines()
        let keeper = try TokenKeeper(nil, environment: [:], log: lines.log)
        #expect(keeper.accept(nil))
        #expect(lines.all.count == 1)
    }
}

@Suite("Decompression of bodies")
struct BodyInflaterTests {
    private func inflate(_ body: [UInt8], limit: Int, room: Int = .max) -> (text: String?, outcome: String) {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: limit + 1)
        defer { memory.deallocate() }
        return body.withUnsafeBytes { body in
            switch BodyInflater.inflate(body, limit: limit, reserve: { $0 <= min(room, limit + 1) ? memory : nil }) {
            case .bytes(let bytes): (String(decoding: bytes, as: UTF8.self), "bytes")
            case .tooLarge: (nil, "too large")
            case .noRoom: (nil, "no room")
            case .damaged(let reason): (nil, reason)
            }
        }
    }

    private let text = (0..<20_000).map { "\($0)," }.joined()

    @Test func whatWasCompressedComesBack() {
        #expect(inflate(gzip(Array(text.utf8)), limit: 1 << 20).text == text)
        #expect(inflate(gzip([]), limit: 10).text == "")
        let two = gzip(Array("one ".utf8)) + gzip(Array("two".utf8))
        #expect(inflate(two, limit: 100).text == "one two")
    }

    @Test func theLimitIsExact() {
        let body = gzip(Array(text.utf8))
        #expect(inflate(body, limit: text.utf8.count).text == text)
        #expect(inflate(body, limit: text.utf8.count - 1).outcome == "too large")
        let small = gzip(Array("four".utf8))
        #expect(inflate(small, limit: 4).text == "four")
        #expect(inflate(small, limit: 3).outcome == "too large")
        #expect(inflate(small + small, limit: 7).outcome == "too large")
    }

    @Test func aBombIsGivenUpEarly() {
        // A thousandfold: 100 MB of zeros in 100 kB.
        let bomb = gzip([UInt8](repeating: 0, count: 100_000_000), level: 9)
        #expect(bomb.count < 110_000)
        #expect(inflate(bomb, limit: 1 << 20).outcome == "too large")
    }

    @Test func damageIsSaid() {
        let body = gzip(Array(text.utf8))
        #expect(inflate(Array(body.dropLast()), limit: 1 << 20).outcome == "the gzip data ends in the middle")
        #expect(inflate(Array(body[..<5]), limit: 1 << 20).outcome == "the gzip data ends in the middle")
        #expect(inflate(Array("{\"events\":[]}".utf8), limit: 1 << 20).outcome.contains("damaged"))
        #expect(inflate(body + [1, 2, 3], limit: 1 << 20).outcome.contains("damaged"))
        var changed = body
        changed[changed.count - 6] ^= 0xFF
        #expect(inflate(changed, limit: 1 << 20).outcome.contains("damaged"))
    }

    @Test func withoutMemoryItIsPutOff() {
        #expect(inflate(gzip(Array(text.utf8)), limit: 1 << 20, room: 70_000).outcome == "no room")
    }
}
