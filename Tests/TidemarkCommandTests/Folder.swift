import Foundation

/// A folder of its own for a test, gone when the test lets go of it.
final class Folder {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a file, whose folders are made.
    func path(_ name: String) throws -> String {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        return file.path
    }

    /// Writes a file and returns its path.
    func write(_ name: String, _ text: String) throws -> String {
        let path = try path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// What a file holds.
    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: try path(name))), as: UTF8.self)
    }
}
