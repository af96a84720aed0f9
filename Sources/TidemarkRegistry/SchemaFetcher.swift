internal import Foundation

/// Fetches schemas on a thread of its own, for all threads of a process, so that none of them waits for the registry.
public final class SchemaFetcher: @unchecked Sendable {
    /// What is known of a schema.
    public enum State: Equatable, Sendable {
        /// It is asked for; look again later.
        case wanted(SchemaWait)
        /// It is there.
        case known(RegisteredSchema)
        /// The registry has had no such schema for as long as the settings say, or one that cannot be read by. Looked for anew after a minute.
        case unknown(String)
    }

    /// What the fetcher has to say to whoever runs the process.
    public enum Note: Equatable, Sendable {
        /// The registry stopped to answer.
        case outage(String)
        /// It answers again.
        case recovered
    }

    /// Guards `book` and `isClosed`; wakes the thread.
    private let condition = NSCondition()
    private var book: FetchBook
    private var isClosed = false
    private let settings: RegistrySettings
    private let notes: @Sendable (Note) -> Void
    private var ended = DispatchSemaphore(value: 0)

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - settings: with one URL at least.
    ///   - notes: takes what is worth a line in the log, on the fetcher's thread.
    public init(_ settings: RegistrySettings, notes: @escaping @Sendable (Note) -> Void) {
        self.settings = settings
        self.notes = notes
        book = FetchBook(unknownAfter: settings.unknownAfter)
        Thread.detachNewThread { [self] in
            work()
            ended.signal()
        }
    }

    /// The URLs that it asks, without passwords.
    public var addresses: String { settings.urls.map(\.address).joined(separator: ", ") }

    /// What is known of a schema. Returns at once; a schema that is not there yet is fetched from now on.
    public func state(of id: UInt32) -> State {
        condition.withLock {
            let state = book.state(of: id, now: .now)
            switch state {
            case .known(let schema): return .known(schema)
            case .unknown(let message): return .unknown(message)
            case .wanted(let wait):
                condition.broadcast()
                return .wanted(wait)
            }
        }
    }

    /// What has become of a schema. Waits until the registry answers, or the fetcher is closed.
    public func settled(_ id: UInt32) -> State {
        condition.withLock {
            while true {
                let state = book.state(of: id, now: .now)
                switch state {
                case .known(let schema): return .known(schema)
                case .unknown(let message): return .unknown(message)
                case .wanted(let wait) where isClosed: return .wanted(wait)
                case .wanted:
                    // Wakes the thread, and others that wait as this one does.
                    condition.broadcast()
                    condition.wait()
                }
            }
        }
    }

    /// How many schemas are waited for, and how many requests the registry has not answered.
    public var figures: (wanted: Int, failures: Int) { condition.withLock { (book.wantedCount, book.failures) } }

    /// Ends the thread, and a request that is on its way. Harmless when repeated.
    public func close() {
        let wasClosed = condition.withLock {
            defer { isClosed = true }
            condition.broadcast()
            return isClosed
        }
        if !wasClosed { ended.wait() }
    }

    private func work() {
        let registry = SchemaRegistry(settings) { [unowned self] in condition.withLock { isClosed } }
        while let id = nextID() {
            let result = Result { () throws(RegistryFailure) in try registry.schema(id: id) }
            let note = condition.withLock { () -> Note? in
                let before = book.outage
                book.take(result, for: id, now: .now)
                condition.broadcast()
                guard (before == nil) != (book.outage == nil) else { return nil }
                return book.outage.map { .outage($0) } ?? .recovered
            }
            if let note { notes(note) }
        }
    }

    /// The id to ask for next, once it is time; `nil` at the end.
    private func nextID() -> UInt32? {
        condition.lock()
        defer { condition.unlock() }
        while !isClosed {
            switch book.step(now: .now) {
            case .ask(let id): return id
            case .idle: condition.wait()
            case .wait(let instant):
                let seconds = ContinuousClock.now.duration(to: instant) / .seconds(1)
                _ = condition.wait(until: Date(timeIntervalSinceNow: max(0.001, seconds)))
            }
        }
        return nil
    }
}
