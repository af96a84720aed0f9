import Foundation
import Synchronization

/// The brokers of a chaos run: one of them is down at times, and now and then all.
final class ChaosCluster: Sendable {
    private enum State: Equatable {
        case sound(since: Date)
        case down(nodes: [Int], since: Date)
        case resuming
    }

    static let nodes = 3
    private let settings: ChaosSettings
    private let state = Mutex(State.sound(since: .distantPast))

    init(_ settings: ChaosSettings) { self.settings = settings }

    /// Whether all have been up for a while, so that one may be killed.
    func isSound(for seconds: Double) -> Bool {
        state.withLock { state in
            guard case .sound(let since) = state else { return false }
            return Date().timeIntervalSince(since) >= seconds
        }
    }

    /// Kills nodes as a crash does.
    func kill(nodes: [Int]) throws {
        state.withLock { $0 = .down(nodes: nodes, since: Date()) }
        let calls = try nodes.map { try call("kill", "\($0)") }
        guard calls.map({ $0.wait() }).allSatisfy({ $0 == 0 }) else {
            throw TestFailure("nodes \(nodes) could not be killed")
        }
    }

    /// Starts the nodes that are down, if any, without waiting until they are ready.
    func resume() throws {
        let nodes: [Int]? = state.withLock { state in
            guard case .down(let nodes, _) = state else { return nil }
            state = .resuming
            return nodes
        }
        guard let nodes else { return }
        // All at once: alone, none of them can lead the cluster.
        let calls = try nodes.map { ($0, try call("resume", "\($0)")) }
        Thread { [self] in
            // A node that did not start stays down and is tried again.
            let failed = calls.filter { $0.1.wait() != 0 }.map(\.0)
            state.withLock { $0 = failed.isEmpty ? .sound(since: Date()) : .down(nodes: failed, since: Date()) }
        }.start()
    }

    private func call(_ command: String, _ node: String) throws -> ScriptCall {
        try ScriptCall(
            [settings.script, command, settings.cluster, node],
            log: settings.logs.appendingPathComponent("cluster.log"))
    }
}

/// A script on its way.
///
/// Not Foundation's `Process`, which takes a script for running as long as a broker that it has started.
private struct ScriptCall {
    private let process: pid_t

    init(_ command: [String], log: URL) throws {
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&files, 1, log.path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&files, 1, 2)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let error = posix_spawn(&process, command[0], &files, nil, &arguments, environ)
        guard error == 0 else { throw TestFailure("\(command[0]): \(String(cString: strerror(error)))") }
        self.process = process
    }

    /// Waits for its end; 0 is success.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
