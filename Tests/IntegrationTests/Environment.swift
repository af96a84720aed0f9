import Foundation
import Testing

/// What the tests of the running program need from outside: a Kafka cluster, and the program.
enum Environment {
    /// Bootstrap servers of a Kafka cluster, from `TIDEMARK_KAFKA`.
    static let servers = ProcessInfo.processInfo.environment["TIDEMARK_KAFKA"]

    /// The program: `TIDEMARK_BINARY`, else `.build/release/tidemark` here or in a folder above.
    static let binary: URL? = {
        if let path = ProcessInfo.processInfo.environment["TIDEMARK_BINARY"] { return executable(path) }
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            if let found = executable(folder.appendingPathComponent(".build/release/tidemark").path) { return found }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    /// Why tests that run the program are skipped; `nil` where they are not.
    static var lack: String? {
        if servers == nil { return "set TIDEMARK_KAFKA to the bootstrap servers of a Kafka cluster" }
        if binary == nil { return "set TIDEMARK_BINARY to the program, or build it: swift build -c release" }
        return nil
    }

    private static func executable(_ path: String) -> URL? {
        FileManager.default.isExecutableFile(atPath: path) ? URL(fileURLWithPath: path) : nil
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips, saying why, where there is no cluster or no program.
    static var needsProgramAndCluster: Self {
        .enabled(if: Environment.lack == nil, Comment(rawValue: Environment.lack ?? ""))
    }
}

/// All tests that run the program against Kafka. One after the other, for each starts processes that take all cores.
@Suite("The program on a real broker", .serialized, .needsProgramAndCluster)
enum ProgramTests {}

/// Something that did not come in time, or did not work at all.
struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Waits until a condition holds.
/// - Throws: ``TestFailure`` after `seconds`, with what `what` says then.
func eventually(within seconds: Double, _ what: @autoclosure () -> String, _ condition: () throws -> Bool) throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while try !condition() {
        if Date() > end { throw TestFailure("not within \(Int(seconds)) s: \(what())") }
        Thread.sleep(forTimeInterval: 0.05)
    }
}
