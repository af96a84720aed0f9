/// The states of some users as bytes that another process can read: what checkpoints are made of.
///
/// Numbers of a vocabulary mean nothing elsewhere, so a chunk begins with the texts, label sets, messages, campaigns and kinds of entry
/// that its users use, and users refer to these by their place:
///
///     version │ texts │ label sets │ messages │ campaigns │ kinds │ number of users │ users
///
/// Numbers have variable length. What is mostly near to what came before (times, days, months) is written as the difference, what is
/// often the same as before (devices, dispatches, external ids) is not written again, and ids of hexadecimal digits are packed
/// (`PackedText`).
public enum StateChunk {
    /// Version of the encoding; a reader refuses others.
    public static let version: UInt8 = 2

    /// A chunk that cannot be read.
    public struct Unreadable: Error, Equatable, CustomStringConvertible {
        /// What is wrong.
        public let description: String
        /// An error that says what is wrong.
        public init(_ description: String) { self.description = description }
    }

    /// The byte that says which parts of an entry follow, and how each is written.
    enum Parts {
        static let deviceShift: UInt8 = 0
        static let linkShift: UInt8 = 2
        static let externalShift: UInt8 = 4
        /// The id is a packed UUID, without anything before it.
        static let uuid: UInt8 = 1 << 6
        /// So is the session id.
        static let sessionUUID: UInt8 = 1 << 7

        /// Nothing: the part is null.
        static let none: UInt8 = 0
        /// The part is the last one that was not null.
        static let same: UInt8 = 1
        /// The part comes here for the first time.
        static let new: UInt8 = 2
        /// The part was new earlier: its place follows. Of devices, how many new ones ago: another user has others.
        static let known: UInt8 = 3
    }

    /// The bit of a kind's type that says that its entries have a button.
    static let buttonBit: UInt8 = 0x80

    /// What the numbers of a user are told from.
    struct Neighbour {
        /// First event time of the last user that had one.
        var time: UInt32 = 0
        var nextFold: UInt32 = 0
        /// Day of the mark before.
        var day: Int32 = 0
        /// Month of the history before.
        var month: Int32 = 0
    }
}
