public import Foundation
public import TidemarkWorkload

/// One case of the conformance suite.
public struct ConformanceVector {
    /// The name in the file.
    public let name: String
    /// The settings, others at their defaults.
    public let settings: PlainSettings
    /// The events, in the order of the file.
    public let events: [SampleEvent]
    /// The expected rows as JSON objects, in order.
    public let rows: [NSDictionary]
    /// The expected opens of each user as JSON objects.
    public let opens: [String: Set<NSDictionary>]

    /// The folder of the suite, found by walking up from this file.
    public static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent("shared/conformance", isDirectory: true)
            if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
        }
        return nil
    }()

    /// The names of all cases, in order.
    public static func names() throws -> [String] {
        guard let folder else { return [] }
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return files.filter { $0.pathExtension == "json" }.map { $0.deletingPathExtension().lastPathComponent }.sorted()
    }

    /// The case of a name.
    public init(named name: String) throws {
        guard let folder = ConformanceVector.folder else { throw CocoaError(.fileNoSuchFile) }
        try self.init(folder.appendingPathComponent(name + ".json"))
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
