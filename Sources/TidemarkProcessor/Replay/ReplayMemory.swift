internal import Foundation

/// How much memory the users of a replay may take, and where the events go that do not fit.
public struct ReplayMemory: Sendable {
    /// Bytes of all users together.
    public var userBytes: Int
    /// The folder of temporary files.
    public var directory: String

    /// Bounds that are given.
    public init(userBytes: Int, directory: String) {
        self.userBytes = userBytes
        self.directory = directory
    }

    /// Bounds that keep the process within a limit.
    ///
    /// - Parameters:
    ///   - limit: bytes that the process may use.
    ///   - threads: how many threads the replay has.
    ///   - isOfTopics: whether a Kafka client has records in memory as well.
    public init(within limit: Int, threads: Int, isOfTopics: Bool, directory: String) {
        let fetched = isOfTopics ? min(limit / 4, ReplayMemory.fetchedBytes) : 0
        let left = limit - ReplayMemory.base - threads * ReplayMemory.bytesPerThread - fetched
        // The rest is for what the allocator cannot use, and for rows.
        self.init(userBytes: max(left, limit / 8) / 4 * 3, directory: directory)
    }

    /// What the process takes without any user, and what each thread adds with the pieces that are on their way.
    private static let base = 28 << 20
    private static let bytesPerThread = 10 << 20
    private static let fetchedBytes = 192 << 20

    /// How many threads fit into a limit: `wanted`, or fewer, 1 at least.
    public static func threads(wanted: Int, within limit: Int) -> Int {
        max(1, min(wanted, (limit / 2 - base) / bytesPerThread))
    }

    /// The limit where nobody has set one: three quarters of what can be had; `nil` where the system does not tell.
    public static func usualLimit() -> Int? { AvailableMemory.bytes().map { $0 / 4 * 3 } }

    /// Where temporary files go unless a folder is named: `TMPDIR`, else `/var/tmp`, which is on disk where `/tmp` may not be.
    public static func usualDirectory() -> String {
        if let folder = ProcessInfo.processInfo.environment["TMPDIR"], !folder.isEmpty { return folder }
        return FileManager.default.isWritableFile(atPath: "/var/tmp") ? "/var/tmp" : "/tmp"
    }

    /// Why a replay that must have all its users in memory ends.
    func tooLittle(for bytes: Int, users: Int) -> ReplayFailure {
        ReplayFailure(
            "the \(users) users that events may still change need \(bytes >> 20) MB, and limits.memory leaves "
                + "\(userBytes >> 20) MB for them: with a limited attribution.allowed_lateness they cannot be written to disk. "
                + "Raise limits.memory, or replay with attribution.allowed_lateness=unlimited")
    }
}
