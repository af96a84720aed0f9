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
    /// How many users there are.
    public internal(set) var userCount = 0
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
    func take(_ piece: RecordPiece) -> RecordPiece
    /// How far it has come.
    var figures: ReplayFigures { get }
    /// Works everything out.
    func finish() -> Report
}
