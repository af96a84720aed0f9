import Foundation
import TidemarkWorkload

/// Lets processes and brokers fail at random, and keeps count.
final class ChaosRun {
    /// What was done so far, by name.
    private(set) var figures: [String: Int] = [:]
    /// What should not have happened, whatever was done to processes and brokers.
    private(set) var surprises: [String] = []

    private let settings: ChaosSettings
    private let application: TestApplication
    private let cluster: ChaosCluster
    private let members: [ChaosMember]
    private var random: SplitMix64
    private let start = Date()
    private var journal = ""
    private var brokerReturn = Date.distantFuture
    private var blackouts = 0

    init(_ settings: ChaosSettings, _ application: TestApplication) throws {
        self.settings = settings
        self.application = application
        cluster = ChaosCluster(settings)
        random = SplitMix64(seed: settings.seed &+ 1)
        let count = Int.random(in: 2...4, using: &random)
        members = ["a", "b", "c", "d"].prefix(count).map { ChaosMember($0, logs: settings.logs) }
    }

    /// Adds a line to the journal.
    func note(_ line: String) {
        let time = String(format: "%7.1f s  ", Date().timeIntervalSince(start))
        journal += time + line + "\n"
        print("chaos: " + time + line)
        fflush(nil)
        try? Data(journal.utf8).write(to: settings.logs.appendingPathComponent("journal"))
    }

    private func count(_ figure: String) { figures[figure, default: 0] += 1 }

    // MARK: Failing

    /// Does damage for some seconds.
    func rage(for seconds: Double) throws {
        for member in members { try start(member) }
        var next = Date(timeIntervalSinceNow: 5)
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end {
            Thread.sleep(forTimeInterval: 0.05)
            try serve()
            guard Date() >= next else { continue }
            try damage()
            next = Date(timeIntervalSinceNow: pause())
        }
    }

    /// Bursts, and times in which the group finds together again.
    private func pause() -> Double {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Double.random(in: 0.1...1, using: &random)
        case 1: Double.random(in: 8...14, using: &random)
        default: Double.random(in: 2...6, using: &random)
        }
    }

    private func damage() throws {
        let action = Int.random(in: 0..<10, using: &random)
        let seconds = Double.random(in: 0.2...6, using: &random)
        if action >= 8 {
            guard cluster.isSound(for: 4) else { return }
            let node = Int.random(in: 1...ChaosCluster.nodes, using: &random)
            let outage = seconds * 2.5
            note("kill broker \(node), back in \(text(outage))")
            try cluster.kill(nodes: [node])
            brokerReturn = Date(timeIntervalSinceNow: outage)
            count("broker kills")
            return
        }
        if action == 7, blackouts < 1 + Int(Date().timeIntervalSince(start) / 240) {
            guard cluster.isSound(for: 4) else { return }
            // Up to far beyond the session and transaction timeouts.
            let outage = 5 + seconds * 3
            note("kill all brokers, back in \(text(outage))")
            try cluster.kill(nodes: Array(1...ChaosCluster.nodes))
            brokerReturn = Date(timeIntervalSinceNow: outage)
            blackouts += 1
            count("blackouts")
            return
        }
        guard let member = members.filter({ $0.state == .running }).randomElement(using: &random) else { return }
        switch action {
        case 0..<3:
            note("kill \(member.name), back in \(text(seconds))")
            try member.kill(returning: Date(timeIntervalSinceNow: seconds))
            count("kills")
        case 3..<6:
            // From shorter than the transaction timeout to far beyond the session timeout.
            let frozen = 2 + seconds * 2
            note("freeze \(member.name) for \(text(frozen))")
            member.freeze(until: Date(timeIntervalSinceNow: frozen))
            count(frozen > 6 ? "freezes beyond the session timeout" : "short freezes")
        default:
            note("stop \(member.name), back in \(text(seconds))")
            member.requestStop(returning: seconds)
            count("stops")
        }
    }

    private func text(_ seconds: Double) -> String { String(format: "%.1f s", seconds) }

    /// Does what has become due.
    private func serve() throws {
        if Date() >= brokerReturn {
            brokerReturn = .distantFuture
            note("resume the broker")
            try cluster.resume()
        }
        for member in members {
            if let surprise = try member.serve() {
                note(surprise)
                surprises.append(surprise)
            }
            if member.isDue { try start(member) }
        }
    }

    private func start(_ member: ChaosMember) throws {
        note("start \(member.name)")
        try member.start(application)
        count("starts")
    }

    // MARK: Ending

    /// Mends everything, and waits until all is up.
    func settle() throws {
        note("all comes back")
        brokerReturn = .distantPast
        for member in members { member.hurry() }
        let end = Date(timeIntervalSinceNow: 180)
        while !cluster.isSound(for: 0) || members.contains(where: { $0.state != .running }) {
            guard Date() < end else { throw TestFailure("not all brokers and processes came back") }
            Thread.sleep(forTimeInterval: 0.05)
            try serve()
        }
    }

    /// Stops all processes in good order.
    func end() {
        for member in members { member.requestStop(returning: .infinity) }
        let end = Date(timeIntervalSinceNow: 60)
        while Date() < end, members.contains(where: { $0.process != nil }) {
            Thread.sleep(forTimeInterval: 0.05)
            for member in members {
                if let surprise = try? member.serve() { surprises.append(surprise) }
            }
        }
        for member in members where member.process != nil {
            surprises.append("\(member.name) did not stop within 60 s")
            try? member.kill(returning: .distantFuture)
        }
    }

    /// Prints the figures and keeps them beside the logs.
    func report(deviations: [String]) throws {
        let log = members.map(\.wholeLog).joined()
        var lines = figures.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        for (what, mark) in [
            ("tasks restored", "restored partition"), ("sessions started over", "starts over:"),
            ("transactions aborted and sent again", "transaction aborted, sending it again"),
            ("take-overs from a standby", "goes on from a standby"), ("lost assignments", "lost its partitions"),
            ("stops without a last commit", "without a last commit"),
        ] {
            lines.append("\(what): \(log.components(separatedBy: mark).count - 1)")
        }
        lines.append("starts that found no broker: \(members.reduce(0) { $0 + $1.vainStarts })")
        lines.append("processes: \(members.count)")
        lines.append("deviations: \(deviations.count)")
        lines += deviations.prefix(50).map { "  " + $0 }
        for line in lines { note(line) }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: settings.logs.appendingPathComponent("summary"))
    }
}
