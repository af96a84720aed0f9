internal import Foundation
public import TidemarkConfiguration
internal import TidemarkEvents
internal import TidemarkKafka
internal import TidemarkProcessor

/// Brings the events of files to Kafka, each file once: `tidemark ingest files`.
public final class FilesIngest {
    /// What is to be done.
    public struct Options: Sendable {
        /// Folders, or files by themselves.
        public var paths: [String]
        /// Whether to go on, and look for new files again and again.
        public var follows = false
        /// Whether to change nothing and only say what would be done.
        public var isDryRun = false

        /// A single pass over these paths.
        public init(paths: [String]) { self.paths = paths }
    }

    /// What was done so far.
    public struct Summary: Equatable, Sendable {
        /// Files that were brought in to their end.
        public var files = 0
        /// Files that were known.
        public var known = 0
        /// Files that could not be read, or not to their end; those known to be damaged among them.
        public var damaged = 0
        /// Files that may still be growing.
        public var unsettled = 0
        /// Records of the input topic.
        public var events = 0
        /// Records of the dead-letter topic.
        public var deadLetters = 0
        /// Bytes of files that were read.
        public var bytes: Int64 = 0
        /// Bytes of the files that the pass has to do with.
        public var bytesInAll: Int64 = 0

        /// Nothing done yet.
        public init() {}
    }

    /// A transaction is committed when it has grown to this, bytes or records.
    private static let transactionBytes = 16 << 20
    private static let transactionRecords = 50_000
    /// How often a session is begun anew without anything done in between.
    private static let attempts = 10

    private let configuration: Configuration
    private let options: Options
    private let topic: String
    private let log: IngestLog
    private let isStopping: () -> Bool
    private let progress: (Summary) -> Void
    private let splitter: BatchSplitter
    private let limits: TopicLimits
    private var settled: SettledFiles
    private var committed = Summary()
    /// With what waits for a commit.
    private var summary = Summary()
    private var ledger: [String: LedgerEntry] = [:]
    private var pending: [(name: String, entry: LedgerEntry)] = []
    private var lastCommit = ContinuousClock.now
    /// Whether the folders were looked through once.
    private var hasLooked = false
    /// Files of which it was said that they cannot be read, as they were then.
    private var reported: [String: LandingFile] = [:]

    /// - Parameters:
    ///   - isStopping: whether to end before all is done; asked often.
    ///   - progress: told often what was done.
    public init(
        _ configuration: Configuration, _ options: Options, log: IngestLog, isStopping: @escaping () -> Bool,
        progress: @escaping (Summary) -> Void
    ) throws {
        self.configuration = configuration
        self.options = options
        self.log = log
        self.isStopping = isStopping
        self.progress = progress
        topic = try TopicLimits.topic(configuration)
        limits = try TopicLimits(configuration)
        splitter = BatchSplitter(bodyBytes: .max, eventBytes: limits.eventBytes(configuration))
        settled = SettledFiles(settle: options.follows ? configuration.ingest.files.settle : .zero)
    }

    /// Brings in what there is; with `follows`, until it is to stop.
    ///
    /// - Returns: what was done, all of it committed.
    public func run() throws -> Summary {
        if options.isDryRun { return try rehearse() }
        try LedgerTopic(configuration).create()
        var failures = 0
        while true {
            do {
                try session { failures = 0 }
                return committed
            } catch {
                guard let reason = FilesIngest.passingReason(error), failures < FilesIngest.attempts, !isStopping()
                else {
                    throw error
                }
                failures += 1
                log("\(reason); reading the ledger and going on from what is committed", .warning)
                Thread.sleep(forTimeInterval: Double(failures) * 0.5)
            }
        }
    }

    private static func passingReason(_ error: any Error) -> String? {
        if let lost = error as? SessionLost { return lost.description }
        if let error = error as? KafkaError, !error.isLasting { return error.description }
        return nil
    }

    /// From a ledger that was read to an end that is asked for, or an error.
    private func session(onCommit: () -> Void) throws {
        (summary, pending) = (committed, [])
        let transactions = try FileTransactions(
            configuration, topic: topic, deadLetterBytes: limits.deadLetter, log: log)
        defer { transactions.close() }
        // After taking over: nobody else can add to it any more.
        ledger = try LedgerTopic(configuration).read()
        repeat {
            try pass(transactions, onCommit)
            wait()
        } while options.follows && !isStopping()
    }

    private func wait() {
        let end = ContinuousClock.now + .seconds(1)
        while options.follows, !isStopping(), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.02) }
    }

    /// Looks through the folders once.
    private func pass(_ transactions: FileTransactions?, _ onCommit: () -> Void) throws {
        let files = try LandingFile.files(in: options.paths)
        let wallClock = Int64(Date().timeIntervalSince1970 * 1e9)
        let complete = settled.complete(files, wallClock: wallClock, now: .now)
        let new = complete.filter { ledger[$0.name]?.covers($0) != true && reported[$0.name] != $0 }
        summary.unsettled = files.count - complete.count
        if !hasLooked { noteKnown(complete) }
        hasLooked = true
        summary.bytesInAll = summary.bytes + new.reduce(0) { $0 + $1.size }
        for file in new {
            if isStopping() { break }
            try bringIn(file, transactions, onCommit)
        }
        try commit(transactions, onCommit)
        committed = summary
    }
}

// MARK: One file

extension FilesIngest {
    private func bringIn(_ file: LandingFile, _ transactions: FileTransactions?, _ onCommit: () -> Void) throws {
        var entry = LedgerEntry(file)
        var reader: FileReader?
        do {
            let opened = try open(file, &entry)
            reader = opened
            let isComplete = try read(opened, file, &entry, transactions, onCommit)
            if isComplete {
                entry.state = .complete
                summary.files += 1
            }
        } catch let failure as LineFile.Failure {
            summary.damaged += 1
            log(failure.description, .error)
            guard reader != nil else {
                reported[file.name] = file
                return
            }
            (entry.state, entry.problem) = (.damaged, failure.description)
        }
        if let reader { (entry.position, entry.hash) = (reader.position, reader.digest) }
        note(entry, file, transactions)
        if isDue(transactions) || lastCommit.duration(to: .now) > .seconds(1) { try commit(transactions, onCommit) }
    }

    /// Opens a file, behind what of it is in the input topic already.
    private func open(_ file: LandingFile, _ entry: inout LedgerEntry) throws(LineFile.Failure) -> FileReader {
        let reader = try FileReader(file.path)
        guard let known = ledger[file.name], known.position > 0 else { return reader }
        if (try? reader.skip(to: known.position, digest: known.hash)) == true {
            (entry.events, entry.deadLetters) = (known.events, known.deadLetters)
            return reader
        }
        log("\(file.path) has changed since it was brought in: all of it is brought in again", .warning)
        return try FileReader(file.path)
    }

    /// Reads a file to its end, or until it is to stop.
    ///
    /// - Returns: whether the end was reached.
    private func read(
        _ reader: FileReader, _ file: LandingFile, _ entry: inout LedgerEntry, _ transactions: FileTransactions?,
        _ onCommit: () -> Void
    ) throws -> Bool {
        let before = summary.bytes
        let type = Array(file.type.utf8)
        var count = 0
        while true {
            guard let record = try reader.next() else { break }
            let offset = reader.position - Int64(record.count)
            type.withUnsafeBytes { take(record, TypeHint(header: ByteView($0)), file, offset, &entry, transactions) }
            count += 1
            guard count.isMultiple(of: 256) else { continue }
            summary.bytes = before + reader.byteCount
            progress(summary)
            if isDue(transactions) {
                (entry.position, entry.hash) = (reader.position, reader.digest)
                note(entry, file, transactions)
                try commit(transactions, onCommit)
            }
            if isStopping() { return false }
        }
        summary.bytes = before + reader.byteCount
        progress(summary)
        return true
    }

    /// Sends what a record holds.
    private func take(
        _ record: ByteView, _ hint: TypeHint, _ file: LandingFile, _ offset: Int64, _ entry: inout LedgerEntry,
        _ transactions: FileTransactions?
    ) {
        var event = PostedEvent()
        func refuse(_ rejection: Rejection, _ index: Int?) {
            transactions?.append(event, rejection, index: index, source: "\(file.name)@\(offset)")
            entry.deadLetters += 1
            summary.deadLetters += 1
        }
        switch splitter.begin(record, hint: hint) {
        case .nothing: return
        case .unreadable(let rejection):
            event.value = record
            refuse(rejection, nil)
        case .events:
            while let outcome = splitter.next(into: &event) {
                if case .refused(let rejection, let index) = outcome {
                    refuse(rejection, index)
                    continue
                }
                transactions?.append(event)
                entry.events += 1
                summary.events += 1
            }
        }
    }
}

// MARK: What is committed

extension FilesIngest {
    private func isDue(_ transactions: FileTransactions?) -> Bool {
        guard let transactions else { return false }
        return transactions.byteCount >= FilesIngest.transactionBytes
            || transactions.recordCount >= FilesIngest.transactionRecords
    }

    /// Adds to the open transaction what it brings of a file.
    private func note(_ entry: LedgerEntry, _ file: LandingFile, _ transactions: FileTransactions?) {
        transactions?.append(entry, of: file.name)
        pending.append((file.name, entry))
    }

    private func commit(_ transactions: FileTransactions?, _ onCommit: () -> Void) throws {
        try transactions?.commit()
        for (name, entry) in pending { ledger[name] = entry }
        pending = []
        committed = summary
        lastCommit = .now
        onCommit()
    }

    /// Counts the files that were brought in before, and says again what was wrong with them.
    private func noteKnown(_ files: [LandingFile]) {
        for file in files {
            guard let entry = ledger[file.name], entry.covers(file) else { continue }
            if let problem = entry.problem {
                summary.damaged += 1
                log("\(problem) (known since it was brought in up to there)", .error)
            } else {
                summary.known += 1
            }
        }
    }

    /// Does all but sending.
    private func rehearse() throws -> Summary {
        ledger = try LedgerTopic(configuration).read()
        try pass(nil) {}
        return committed
    }
}
