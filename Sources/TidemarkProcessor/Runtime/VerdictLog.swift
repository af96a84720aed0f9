internal import TidemarkReports

/// What became of each record of a stretch of one input partition, run-length coded, so that history can be redone without judging again.
///
/// As bytes: a run is a code and how many records in a row ended with it, each having one event; a record with any other number of events
/// is written by itself: the mark, the number, and a code per event.
struct VerdictLog {
    /// Stands before a record that has none or several events.
    static let batchMark: UInt8 = 0xFF

    private var writer = BinaryWriter()
    private var code: UInt8 = 0
    private var run: UInt64 = 0
    /// How many records there are.
    private(set) var recordCount = 0

    /// Adds a record, with the codes of its events.
    mutating func append(_ codes: [UInt8]) {
        recordCount += 1
        if codes.count == 1 {
            if codes[0] != code { endRun() }
            code = codes[0]
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
        return writer.bytes
    }

    private mutating func endRun() {
        guard run > 0 else { return }
        writer.byte(code)
        writer.unsigned(run)
        run = 0
    }
}

/// Goes through verdict logs record by record.
struct VerdictCursor {
    private var logs: [[UInt8]]
    private var place = 0
    private var code: UInt8 = 0
    private var run: UInt64 = 0

    /// A cursor over logs, the oldest first.
    init(_ logs: [[UInt8]]) { self.logs = logs.reversed() }

    /// Whether every record was gone through.
    var isAtEnd: Bool {
        run == 0 && (logs.isEmpty || logs.count == 1 && place >= logs[0].count)
    }

    /// The codes of the next record's events, into `codes`.
    mutating func next(into codes: inout [UInt8]) throws(RunFailure) {
        codes.removeAll(keepingCapacity: true)
        while run == 0 {
            guard let log = logs.last else { throw RunFailure("a verdict log ends before the input that it is of") }
            guard place < log.count else {
                logs.removeLast()
                place = 0
                continue
            }
            code = log[place]
            place += 1
            let number = try number(log)
            if code == VerdictLog.batchMark {
                guard place + Int(number) <= log.count else { throw RunFailure("a verdict log is damaged") }
                codes.append(contentsOf: log[place..<place + Int(number)])
                place += Int(number)
                return
            }
            run = number
        }
        run -= 1
        codes.append(code)
    }

    private mutating func number(_ log: [UInt8]) throws(RunFailure) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while place < log.count, shift < 63 {
            let byte = log[place]
            place += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw RunFailure("a verdict log is damaged")
    }
}
