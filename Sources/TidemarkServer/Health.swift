public import TidemarkProcessor

/// Whether a process is in order, and if not, why.
public struct Health: Equatable, Sendable {
    /// Whether it is.
    public var isGood: Bool
    /// What stands in the way, one line each; or what the process does.
    public var lines: [String]

    /// Whether the threads move. Waiting for brokers is moving; a process that does not move is best started again.
    public static func liveness(_ status: RunStatus) -> Health {
        // Before and after the threads work, start and stop have time limits of their own.
        guard status.phase == .running else { return Health(isGood: true, lines: [word(status.phase)]) }
        let stuck = status.loops.filter { $0.overdueSeconds > 0 }
        guard !stuck.isEmpty else { return Health(isGood: true, lines: ["live"]) }
        return Health(
            isGood: false,
            lines: stuck.map { "\($0.name) does not move: overdue for \(Int($0.overdueSeconds.rounded(.up))) s" })
    }

    /// Whether all that was assigned to the process is processed live.
    public static func readiness(_ status: RunStatus) -> Health {
        guard status.phase == .running else { return Health(isGood: false, lines: [word(status.phase)]) }
        var reasons: [String] = []
        for loop in status.loops {
            if !loop.isJoined { reasons.append("\(loop.name) has no assignment of its group yet") }
            for task in loop.tasks.filter(\.isRestoring).sorted(by: { $0.partition < $1.partition }) {
                let left =
                    task.checkpointRemaining > 0
                    ? "\(task.checkpointRemaining) offsets of its checkpoint" : "\(task.restoreRemaining) records"
                reasons.append("partition \(task.partition) is restoring: \(left) left")
            }
            for task in loop.tasks.sorted(by: { $0.partition < $1.partition }) {
                if let wait = task.schemaWait { reasons.append("partition \(task.partition) is \(wait)") }
            }
            for source in loop.sources.sorted(by: { $0.partition < $1.partition }) {
                if let wait = source.schemaWait {
                    reasons.append("\(source.input.topic)[\(source.partition)] is \(wait)")
                }
            }
        }
        return reasons.isEmpty ? Health(isGood: true, lines: ["ready"]) : Health(isGood: false, lines: reasons)
    }

    /// The answer of a health page: 200, or 503 with the reasons.
    var answer: HTTPAnswer {
        HTTPAnswer(status: isGood ? 200 : 503, body: lines.joined(separator: "\n") + "\n")
    }

    private static func word(_ phase: RunStatus.Phase) -> String {
        switch phase {
        case .starting: "starting"
        case .running: "running"
        case .stopping: "stopping"
        }
    }
}
