import Foundation

/// The program as a child process. What it writes is kept in files, so that no pipe can fill up and block it.
final class TidemarkProcess {
    /// How a process ended.
    struct Ending {
        /// The exit code; of a killed process the number of the signal.
        let status: Int32
        let wasKilled: Bool
        let output: [UInt8]
        let log: String
        /// How long it took from the request to stop, or from the start.
        let seconds: Double
    }

    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private let folder: URL
    private let start = Date()

    /// Starts the program with these arguments.
    init(_ arguments: [String]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-it-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        process.executableURL = Environment.binary
        process.arguments = arguments
        // What only the tests know would be refused as an unknown setting.
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TIDEMARK_CHAOS_") }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try TidemarkProcess.file(folder.appendingPathComponent("output"))
        process.standardError = try TidemarkProcess.file(folder.appendingPathComponent("log"))
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// What it wrote to standard error so far.
    var log: String { String(decoding: read("log"), as: UTF8.self) }

    var isRunning: Bool { process.isRunning }
    var identifier: Int32 { process.processIdentifier }

    /// Ends it at once, as a crash or a lost machine does.
    func killHard() throws {
        kill(process.processIdentifier, SIGKILL)
        _ = try waitForEnd(within: 10)
    }

    /// Stops it where it is, as a machine that is suspended.
    func freeze() { kill(process.processIdentifier, SIGSTOP) }

    /// Lets a frozen process go on.
    func thaw() { kill(process.processIdentifier, SIGCONT) }

    /// Asks it to stop, without waiting.
    func requestStop() { kill(process.processIdentifier, SIGTERM) }

    /// Asks it to stop, and waits.
    func stop(_ signal: Int32 = SIGTERM, within seconds: Double = 30) throws -> Ending {
        let start = Date()
        kill(process.processIdentifier, signal)
        return try waitForEnd(within: seconds, since: start)
    }

    /// Waits until it ends by itself.
    func waitForEnd(within seconds: Double, since: Date? = nil) throws -> Ending {
        guard ended.wait(timeout: .now() + seconds) == .success else {
            throw TestFailure("the process did not end within \(Int(seconds)) s; its log:\n\(log)")
        }
        return Ending(
            status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
            output: read("output"), log: log, seconds: Date().timeIntervalSince(since ?? start))
    }

    private func read(_ name: String) -> [UInt8] {
        (try? Data(contentsOf: folder.appendingPathComponent(name))).map(Array.init) ?? []
    }

    private static func file(_ url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }
}
