internal import Foundation
internal import Synchronization
internal import TidemarkConfiguration
internal import TidemarkProcessor

/// Keeps the tokens that are valid now, and looks at their file again.
final class TokenKeeper: Sendable {
    private struct State {
        var tokens: BearerTokens?
        var stamp: FileStamp?
        /// What was wrong with the file last, so that it is said once.
        var problem: String?
    }

    private let source: Configuration.SecretSource?
    private let state: Mutex<State>
    private let log: IngestLog

    /// Reads the tokens.
    ///
    /// - Throws: when there are none, though the configuration says where they are.
    init(_ source: Configuration.SecretSource?, environment: [String: String], log: IngestLog) throws(IngestFailure) {
        self.source = source
        self.log = log
        guard let source else {
            state = Mutex(State())
            log("ingest.http.tokens is none: whoever reaches the endpoint can send events", .warning)
            return
        }
        do {
            let (text, stamp) = try TokenKeeper.read(source, environment)
            state = Mutex(State(tokens: try BearerTokens(parsing: text), stamp: stamp))
        } catch {
            throw IngestFailure("ingest.http.tokens: \(source) \(error)")
        }
    }

    /// Whether a request may go on.
    func accept(_ authorization: UnsafePointer<CChar>?) -> Bool {
        guard source != nil else { return true }
        return state.withLock { $0.tokens?.accept(authorization) ?? false }
    }

    /// Reads the file again if it has changed, or in any case. What cannot be read leaves the tokens as they are.
    func refresh(always: Bool = false) {
        guard let source, case .file(let path) = source else { return }
        guard always || FileStamp(path) != state.withLock({ $0.stamp }) else { return }
        do {
            let (text, stamp) = try TokenKeeper.read(source, [:])
            let tokens = try BearerTokens(parsing: text)
            let isNew = state.withLock { state in
                defer { state = State(tokens: tokens, stamp: stamp) }
                return state.tokens != tokens
            }
            if isNew { log("\(source): \(tokens.count) tokens are valid from now on") }
        } catch {
            let problem = "\(source) \(error)"
            let isNew = state.withLock { state in
                defer { state.problem = problem }
                return state.problem != problem
            }
            if isNew { log("\(problem); the tokens of before stay valid", .warning) }
        }
    }

    private static func read(
        _ source: Configuration.SecretSource, _ environment: [String: String]
    ) throws(BearerTokens.Problem) -> (String, FileStamp?) {
        switch source {
        case .variable(let name):
            guard let text = environment[name] else {
                throw BearerTokens.Problem(
                    description: "is not set: put a token there, name a file:/path with one, or say none")
            }
            return (text, nil)
        case .file(let path):
            // The stamp first: a change in between is seen at the next look.
            let stamp = FileStamp(path)
            guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
            else { throw BearerTokens.Problem(description: "cannot be read as text") }
            return (text, stamp)
        }
    }
}

/// What tells that a file has changed.
struct FileStamp: Equatable, Sendable {
    var inode: UInt64
    var size: Int64
    var seconds: Int
    var nanoseconds: Int

    /// `nil` where there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
