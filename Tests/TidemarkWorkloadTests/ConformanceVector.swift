import Foundation
import TidemarkWorkload

/// One case of the conformance suite, as far as a plain evaluation is concerned.
struct ConformanceVector {
    let name: String
    let settings: PlainSettings
    let events: [SampleEvent]
    /// The expected rows as JSON objects.
    let rows: [NSDictionary]
    /// The expected opens of each user as JSON objects.
    let opens: [String: Set<NSDictionary>]

    /// The folder of the suite, found by walking up from this file.
    static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent("shared/conformance", isDirectory: true)
            if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
        }
        return nil
    }()

    static func all() throws -> [ConformanceVector] {
        guard let folder else { return [] }
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }.map(ConformanceVector.init)
    }

    private init(_ file: URL) throws {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
        guard let settings = PlainSettings(vector: object["settings"] as? [String: Any] ?? [:]),
            let events = object["events"] as? [[String: Any]],
            let rows = object["rows"] as? [[String: Any]],
            let opens = object["opens"] as? [String: [[String: Any]]]
        else { throw CocoaError(.fileReadCorruptFile) }
        name = file.deletingPathExtension().lastPathComponent
        self.settings = settings
        self.events = events.compactMap { SampleEvent(flat: $0) }
        self.rows = rows.map { NSDictionary(dictionary: $0) }
        self.opens = opens.mapValues { Set($0.map { NSDictionary(dictionary: $0) }) }
        if self.events.count != events.count { throw CocoaError(.fileReadCorruptFile) }
    }
}
