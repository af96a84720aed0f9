#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import TidemarkEvents

/// Reads files of one JSON record a line into a replay.
public struct ReplayFiles {
    /// How far reading has come.
    public struct Progress: Sendable {
        /// Bytes read so far, of all files.
        public var bytesRead: Int64 = 0
        /// Bytes of all regular files; others, such as pipes, do not tell theirs.
        public var bytesInAll: Int64 = 0
        /// Files read to their end.
        public var filesRead = 0

        /// Nothing read yet.
        public init() {}
    }

    /// How many lines go by between two reports of progress.
    private static let linesPerReport = 8_192

    /// The files, in the order in which they are read.
    public let paths: [String]
    private let recordTime: Int64

    /// The files that arguments name.
    ///
    /// - Parameters:
    ///   - arguments: paths, patterns as a shell takes them for those that are no file by themselves, `-` for standard input.
    ///   - recordTime: the wall clock at start, milliseconds since the epoch: what future-dating is judged by.
    /// - Throws: `LineReader.Failure` for a pattern that matches no file.
    public init(_ arguments: [String], recordTime: Int64) throws(LineReader.Failure) {
        var paths: [String] = []
        for argument in arguments { paths += try Self.expand(argument) }
        self.paths = paths
        self.recordTime = recordTime
    }

    /// Reads all files.
    ///
    /// - Parameter report: told now and then how far reading has come.
    /// - Throws: `LineReader.Failure` at the first file that cannot be read, `CancellationError` and the like from `report`.
    public func read(into task: ReplayTask, report: (Progress) throws -> Void = { _ in }) throws {
        var progress = Progress()
        for path in paths { progress.bytesInAll += try LineReader(path: path).fileSize }
        for path in paths {
            let reader = try LineReader(path: path)
            let before = progress.bytesRead
            let hint = TypeHint(topic: Self.type(of: path))
            let name = path == "-" ? "standard input" : path
            // Made once: as a literal in the loop it would cost reference counting per line.
            let place = { "\(name):\(reader.lineNumber)" }
            while let line = try reader.next() {
                task.take(line, hint: hint, recordTime: recordTime, padded: true, place: place)
                guard reader.lineNumber % Self.linesPerReport == 0 else { continue }
                progress.bytesRead = before + reader.byteCount
                try report(progress)
            }
            progress.bytesRead = before + reader.byteCount
            progress.filesRead += 1
            try report(progress)
        }
    }

    /// The event type that a path names in a part `event_type=…`, as storage exports lay out their folders; what speaks for the flat
    /// records in it that do not name theirs.
    static func type(of path: String) -> TopicType {
        let parts = path.split(separator: "/").reversed()
        guard let part = parts.first(where: { $0.hasPrefix("event_type=") }) else { return .none }
        return TopicType.named(String(part.dropFirst("event_type=".count)))
    }

    private static func expand(_ argument: String) throws(LineReader.Failure) -> [String] {
        guard argument.contains(where: { "*?[".contains($0) }), access(argument, F_OK) != 0 else { return [argument] }
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(argument, 0, nil, &found) == 0 else {
            throw LineReader.Failure(description: "no file matches \(argument)")
        }
        return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    }
}
