public import TidemarkConfiguration

/// Writes dead letters as lines that can be repaired; records that were too large for the dead-letter topic are fetched from where they came.
public final class DeadLetterExport {
    /// What was done.
    public struct Counts: Equatable, Sendable {
        /// Lines.
        public var written = 0
        /// Dead letters that were fed before, and left out.
        public var fedBefore = 0
        /// Lines that hold the first bytes of their record only.
        public var cut = 0
    }

    private let letters: DeadLetterReader
    private let originals: OriginalReader

    /// Looks at the topics.
    public init(_ configuration: Configuration, control: RunControl) throws {
        letters = try DeadLetterReader(configuration, control: control)
        originals = try OriginalReader(configuration)
    }

    /// Ends the clients.
    public func close() {
        letters.close()
        originals.close()
    }

    /// Hands out a line for each dead letter that is wanted, once where it stands in the topic several times.
    ///
    /// - Parameter isAgain: whether those are wanted, too, that were fed before.
    public func write(
        _ filter: DeadLetterFilter, isAgain: Bool, _ body: ([UInt8]) throws -> Void
    ) throws -> Counts {
        let marks = try letters.redriven()
        var counts = Counts()
        var seen: Set<String> = []
        try letters.read(filter) { letter in
            guard isAgain || marks.time(of: letter.id) == nil else { return counts.fedBefore += 1 }
            guard seen.insert(letter.id).inserted else { return }
            let whole = try originals.whole(letter)
            counts.written += 1
            if whole == nil { counts.cut += 1 }
            try body(DeadLetterLine.write(whole ?? letter))
        }
        return counts
    }
}
