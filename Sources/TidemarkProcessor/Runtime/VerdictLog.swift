internal import TidemarkReports

/// What became of each record of a stretch of one input partition, run-length coded, so that history can be redone without judging again.
///
/// As bytes: the offset of the first record, then runs. A run is a code and how many records in a row ended with it, each having one event; a record with any other number of events
/// is written by itself: the mark, the number, and a code per event.
struct VerdictLog {
    /// Stands before a record that has none or several events.
    static let batchMark: UInt8 = 0xFF

    private var writer = BinaryWriter()
    private var code: UInt8 = 0
    private var run: UInt64 = 0
    /// How many records there are.
    private(set) var recordCount = 0
    private var firstOffset: Int64 = 0

    /// Adds a record, with the codes of its events.
    mutating func append(_ codes: some RandomAccessCollection<UInt8>, offset: Int64) {
        if recordCount == 0 { firstOffset = offset }
        recordCount += 1
        if codes.count == 1, let only = codes.first {
            if only != code { endRun() }
            code = only
            run += 1
        } else {
            endRun()
            writer.byte(VerdictLog.batchMark)
            writer.unsigned(UInt64(codes.count))
            for code in codes { writer.byte(code) }
        }
    }

    /// All of it as bytes; the log begins anew.
    mutating func take() -> [UInt8] {
        endRun()
        defer { self = VerdictLog() }
        var head = BinaryWriter()
        head.unsigned(UInt64(firstOffset))
        return head.bytes + writer.bytes
    }

    private mutating func endRun() {
        guard run > 0 else { return }
        writer.byte(code)
        writer.unsigned(run)
        run = 0
    }
}

/// The verdicts of one commit, as they were written.
struct CommittedVerdicts {
    var commit: Int64
    var bytes: [UInt8]

    /// The offset of the first record.
    func firstOffset() throws(RunFailure) -> Int64 {
        var place = 0
        return Int64(try bytes.number(at: &place))
    }
}

/// Goes through verdict logs record by record.
struct VerdictCursor {
    private var logs: [CommittedVerdicts]
    private var place = 0
    private var code: UInt8 = 0
    private var run: UInt64 = 0
    /// The commit of the record that was gone to last.
    private(set) var commit: Int64 = 0

    /// A cursor over logs, the oldest first.
    init(_ logs: [CommittedVerdicts]) throws(RunFailure) {
        self.logs = logs.reversed()
        try begin()
    }

    /// Whether every record was gone through.
    var isAtEnd: Bool {
        run == 0 && (logs.isEmpty || logs.count == 1 && place >= logs[0].bytes.count)
    }

    /// The codes of the next record's events, into `codes`.
    mutating func next(into codes: inout [UInt8]) throws(RunFailure) {
        codes.removeAll(keepingCapacity: true)
        while run == 0 {
            guard let log = logs.last else { throw RunFailure("a verdict log ends before the input that it is of") }
            commit = log.commit
            guard place < log.bytes.count else {
                logs.removeLast()
                try begin()
                continue
            }
            code = log.bytes[place]
            place += 1
            let number = try log.bytes.number(at: &place)
            if code == VerdictLog.batchMark {
                guard place + Int(number) <= log.bytes.count else { throw RunFailure("a verdict log is damaged") }
                codes.append(contentsOf: log.bytes[place..<place + Int(number)])
                place += Int(number)
                return
            }
            run = number
        }
        run -= 1
        codes.append(code)
    }

    /// Goes to the runs of the oldest log that is left.
    private mutating func begin() throws(RunFailure) {
        place = 0
        if let log = logs.last { _ = try log.bytes.number(at: &place) }
    }
}

extension [UInt8] {
    /// Reads a number in 7-bit groups and moves the place behind it.
    fileprivate func number(at place: inout Int) throws(RunFailure) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while place < count, shift < 63 {
            let byte = self[place]
            place += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw RunFailure("a verdict log is damaged")
    }
}
