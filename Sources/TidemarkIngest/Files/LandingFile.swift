internal import Foundation

/// A file in a folder whose files are brought in.
struct LandingFile: Equatable, Sendable {
    /// Where it is.
    var path: String
    /// Its path below the folder: what the ledger knows it by.
    var name: String
    /// Bytes.
    var size: Int64
    /// When it was last changed, nanoseconds since the epoch.
    var modified: Int64

    /// The event type that its path names in a part `event_type=…`; empty where there is none.
    var type: String {
        let part =
            name.split(separator: "/").last { $0.hasPrefix("event_type=") }
            ?? path.split(separator: "/").last { $0.hasPrefix("event_type=") }
        return part.map { String($0.dropFirst("event_type=".count)) } ?? ""
    }

    private static let unfinishedEndings = [
        ".tmp", ".temp", ".part", ".partial", ".crdownload", ".filepart", ".swp", "~",
    ]

    /// Whether a name says that the file, or all of the folder, is not to be read: hidden, set apart, or still being written.
    static func isPassedOver(_ name: String) -> Bool {
        name.hasPrefix(".") || name.hasPrefix("_") || unfinishedEndings.contains { name.lowercased().hasSuffix($0) }
    }

    /// The files below folders, in the order of their names.
    ///
    /// - Parameter paths: folders, or files by themselves.
    /// - Throws: what cannot be read; two files that the ledger could not tell apart.
    static func files(in paths: [String]) throws(IngestFailure) -> [LandingFile] {
        var files: [String: LandingFile] = [:]
        for path in paths {
            for file in try self.files(below: path) {
                if let other = files[file.name], other.path != file.path {
                    throw IngestFailure(
                        "\(file.path) and \(other.path) have the same path below their folders, by which the ledger knows files: name the "
                            + "folder above both")
                }
                files[file.name] = file
            }
        }
        return files.values.sorted { $0.name < $1.name }
    }

    private static func files(below root: String) throws(IngestFailure) -> [LandingFile] {
        guard let status = status(root) else { throw IngestFailure("\(root): \(String(cString: strerror(errno)))") }
        if status.st_mode & S_IFMT != S_IFDIR {
            return [LandingFile(root, name: (root as NSString).lastPathComponent, status)]
        }
        var found: [LandingFile] = []
        var folders = [""]
        while let folder = folders.popLast() {
            let path = folder.isEmpty ? root : "\(root)/\(folder)"
            let entries: [String]
            do {
                entries = try FileManager.default.contentsOfDirectory(atPath: path)
            } catch {
                // Gone since its folder was read.
                if !folder.isEmpty, access(path, F_OK) != 0 { continue }
                throw IngestFailure("cannot read the folder \(path): \(error.localizedDescription)")
            }
            for entry in entries where !isPassedOver(entry) {
                let name = folder.isEmpty ? entry : "\(folder)/\(entry)"
                guard let status = Self.status("\(root)/\(name)") else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: folders.append(name)
                case S_IFREG: found.append(LandingFile("\(root)/\(name)", name: name, status))
                default: continue
                }
            }
        }
        return found
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private init(_ path: String, name: String, _ status: stat) {
        self.path = path
        self.name = name
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }

    /// A file as it is described.
    init(path: String, name: String, size: Int64, modified: Int64) {
        (self.path, self.name, self.size, self.modified) = (path, name, size, modified)
    }
}

/// Says of the files of a landing folder which are complete: those that have not changed for a while. A file that appears by being
/// renamed was written before, and is as old as it says.
struct SettledFiles {
    private let settle: Duration
    private var seen: [String: (size: Int64, modified: Int64, since: ContinuousClock.Instant)] = [:]

    /// - Parameter settle: how long a complete file has been the same.
    init(settle: Duration) { self.settle = settle }

    /// Those of the files that are complete.
    ///
    /// - Parameters:
    ///   - wallClock: nanoseconds since the epoch: what a file's own time is held against.
    ///   - now: counts where that time is in the future, as on a share of another host.
    mutating func complete(
        _ files: [LandingFile], wallClock: Int64, now: ContinuousClock.Instant
    ) -> [LandingFile] {
        let limit = wallClock - Int64(settle / .nanoseconds(1))
        var next: [String: (size: Int64, modified: Int64, since: ContinuousClock.Instant)] = [:]
        let complete = files.filter { file in
            if file.modified <= limit { return true }
            let before = seen[file.name].flatMap {
                $0.size == file.size && $0.modified == file.modified ? $0.since : nil
            }
            next[file.name] = (file.size, file.modified, before ?? now)
            return (before ?? now).duration(to: now) >= settle
        }
        seen = next
        return complete
    }
}
