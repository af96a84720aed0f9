internal import Foundation

/// What is known of a file that was brought in, or a part of it: a record of the ledger topic, keyed by the file's name.
struct LedgerEntry: Codable, Equatable, Sendable {
    enum State: String, Codable {
        /// All of it is in the input topic.
        case complete
        /// The content up to `position` is.
        case partial
        /// The content up to `position` is; what follows could not be read.
        case damaged
    }

    var state: State
    /// Bytes of the file.
    var size: Int64
    /// When the file was changed last, nanoseconds since the epoch.
    var modified: Int64
    /// How much of the decompressed content is in the input topic.
    var position: Int64
    /// A hash of that content (XXH3, hexadecimal): tells whether a file that looks different begins with it.
    var hash: String
    /// Records of the input topic.
    var events: Int
    /// Records of the dead-letter topic.
    var deadLetters: Int
    /// What could not be read.
    var problem: String?

    enum CodingKeys: String, CodingKey {
        case state, size, modified, position, hash, events, problem
        case deadLetters = "dead_letters"
    }

    /// Nothing of a file yet.
    init(_ file: LandingFile) {
        state = .partial
        (size, modified) = (file.size, file.modified)
        (position, hash, events, deadLetters) = (0, "", 0, 0)
    }

    /// A record's value; `nil` where it cannot be read.
    init?(_ value: UnsafeRawBufferPointer) {
        guard let entry = try? JSONDecoder().decode(LedgerEntry.self, from: Data(value)) else { return nil }
        self = entry
    }

    /// As the value of a record.
    var value: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { preconditionFailure("an entry of the ledger can be encoded") }
        return Array(data)
    }

    /// Whether nothing has to be done about a file that has this entry.
    func covers(_ file: LandingFile) -> Bool {
        state != .partial && size == file.size && modified == file.modified
    }
}
