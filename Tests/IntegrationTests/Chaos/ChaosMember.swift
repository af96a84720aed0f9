import Foundation

/// One of the processes of a chaos run, through all its lives.
final class ChaosMember {
    enum State: Equatable {
        /// Ended, and to be started again at a time.
        case down(until: Date)
        case running
        case frozen(until: Date)
        /// Asked to stop; to be started again some seconds after that.
        case stopping(since: Date, pause: Double)
    }

    /// How long a process may take to stop, whatever the brokers do, seconds.
    private static let stopLimit = 60.0

    let name: String
    private(set) var state = State.down(until: .distantFuture)
    private(set) var process: TidemarkProcess?
    private let log: URL
    private var lives = 0
    /// How often it was started while no broker answered, or frozen while it asked.
    private(set) var vainStarts = 0

    init(_ name: String, logs: URL) {
        self.name = name
        log = logs.appendingPathComponent("tidemark-\(name).log")
    }

    /// Whether it is to be started now.
    var isDue: Bool {
        guard case .down(let until) = state else { return false }
        return Date() >= until
    }

    func start(_ application: TestApplication) throws {
        lives += 1
        // Every other life keeps the states of the others, so that some take-overs are warm.
        process = try application.start(instance: name, lives.isMultiple(of: 2) ? ["standby=true"] : [])
        state = .running
    }

    func kill(returning date: Date) throws {
        try process?.killHard()
        ended("killed", returning: date)
    }

    func freeze(until date: Date) {
        process?.freeze()
        state = .frozen(until: date)
    }

    func requestStop(returning pause: Double) {
        guard let process else { return }
        process.requestStop()
        state = .stopping(since: Date(), pause: pause)
    }

    /// Brings it back at once.
    func hurry() {
        switch state {
        case .frozen: state = .frozen(until: .distantPast)
        case .down: state = .down(until: .distantPast)
        case .stopping(let since, _): state = .stopping(since: since, pause: 0)
        case .running: break
        }
    }

    /// Does what has become due, and looks whether the process still runs.
    /// - Returns: what should not have happened, if something did.
    func serve() throws -> String? {
        guard let process else { return nil }
        if process.isRunning {
            switch state {
            case .frozen(let until) where Date() >= until:
                process.thaw()
                state = .running
            case .stopping(let since, let pause) where Date().timeIntervalSince(since) > ChaosMember.stopLimit:
                try kill(returning: Date(timeIntervalSinceNow: pause))
                return "\(name) did not stop within \(Int(ChaosMember.stopLimit)) s"
            default: break
            }
            return nil
        }
        let ending = try process.waitForEnd(within: 10)
        let lastLine = ending.log.split(separator: "\n").last ?? ""
        if case .stopping(_, let pause) = state {
            ended("stopped, \(ending.status)", returning: Date(timeIntervalSinceNow: pause))
            // The default action of the signal, where it came before the program had begun.
            let isUnborn = ending.wasKilled && ending.status == SIGTERM && ending.log.isEmpty
            return ending.status == 0 || isUnborn ? nil : "\(name) stopped with \(ending.status): \(lastLine)"
        }
        // Where no broker answers at the start, the program says so and ends: whoever starts it is to start it again.
        if ending.log.contains("no Kafka broker answers at") {
            vainStarts += 1
            ended("found no broker", returning: Date(timeIntervalSinceNow: 1))
            return nil
        }
        ended("ended by itself, \(ending.status)", returning: Date(timeIntervalSinceNow: 1))
        return "\(name) ended by itself with \(ending.status): \(lastLine)"
    }

    private func ended(_ how: String, returning date: Date) {
        wholeLog += "== life \(lives)\n\(process?.log ?? "")== \(how)\n"
        try? Data(wholeLog.utf8).write(to: log)
        process = nil
        state = .down(until: date)
    }

    /// What all its lives have logged, the present one excepted.
    private(set) var wholeLog = ""
}
