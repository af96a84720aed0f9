public import TidemarkEvents
public import TidemarkReports

/// What a replay has come to so far.
public struct ReplayFigures: Sendable {
    /// A record, or an event of a batch, that was not counted: why, and where it was.
    public struct Refusal: Sendable {
        /// Where: a file and line, or a topic, partition and offset.
        public var place: String
        /// The code and what is wrong.
        public var rejection: Rejection
    }

    /// How many refusals are kept for display; all are counted.
    public static let refusalLimit = 20

    /// How many events were read, whatever became of them.
    public internal(set) var eventCount = 0
    /// How many events ended how; duplicates are complete only at the end.
    public internal(set) var counts = VerdictCounts()
    /// How many users there are; while some are on disk, those in memory.
    public internal(set) var userCount = 0
    /// Bytes of users' events that did not fit into memory and were written to temporary files, and of these read back.
    public internal(set) var spilledBytes: Int64 = 0
    /// See `spilledBytes`.
    public internal(set) var readBackBytes: Int64 = 0
    /// The first refusals.
    public internal(set) var refusals: [Refusal] = []

    mutating func refuse(_ rejection: Rejection, _ place: @autoclosure () -> String) {
        guard refusals.count < ReplayFigures.refusalLimit else { return }
        refusals.append(Refusal(place: place(), rejection: rejection))
    }
}

/// Takes the records of a replay, piece by piece, and ends in a report.
public protocol ReplaySink: AnyObject {
    /// Takes a piece; what comes back is empty and is to be filled next.
    ///
    /// - Throws: `ReplayFailure` where memory or disk do not suffice.
    func take(_ piece: RecordPiece) throws -> RecordPiece
    /// How far it has come.
    var figures: ReplayFigures { get }
    /// Works everything out.
    ///
    /// - Parameter progress: called several times a second while that takes.
    /// - Throws: `ReplayFailure` where memory or disk do not suffice.
    func finish(progress: () -> Void) throws -> Report
}

extension ReplaySink {
    /// Works everything out, in silence.
    public func finish() throws -> Report { try finish(progress: {}) }
}
