#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import TidemarkEvents

/// Reads files into a replay: of one JSON record a line, or Avro object container files.
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

    /// The files, in the order in which they are read.
    public let paths: [String]
    private let recordTime: Int64

    /// The files that arguments name.
    ///
    /// - Parameters:
    ///   - arguments: paths, patterns as a shell takes them for those that are no file by themselves, `-` for standard input.
    ///   - recordTime: the wall clock at start, milliseconds since the epoch: what future-dating is judged by.
    /// - Throws: `LineFile.Failure` for a pattern that matches no file.
    public init(_ arguments: [String], recordTime: Int64) throws(LineFile.Failure) {
        var paths: [String] = []
        for argument in arguments { paths += try Self.expand(argument) }
        self.paths = paths
        self.recordTime = recordTime
    }

    /// Reads all files.
    ///
    /// - Parameter report: told now and then how far reading has come.
    /// - Throws: `LineFile.Failure` at the first file that cannot be read, `CancellationError` and the like from `report`.
    public func read(into sink: any ReplaySink, report: (Progress) throws -> Void = { _ in }) throws {
        var progress = Progress()
        for path in paths { progress.bytesInAll += try PlainFile(path: path).fileSize }
        var piece = RecordPiece()
        for path in paths {
            let file = try InputFile.open(path: path)
            let before = progress.bytesRead
            let source = RecordPiece.Source(
                name: path == "-" ? "standard input" : path, type: Self.type(of: path))
            var isFirst = true
            while try file.fill(piece, of: source, time: recordTime, isFirst: isFirst) {
                piece = try sink.take(piece)
                isFirst = false
                progress.bytesRead = before + file.byteCount
                try report(progress)
            }
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

    private static func expand(_ argument: String) throws(LineFile.Failure) -> [String] {
        guard argument.contains(where: { "*?[".contains($0) }), access(argument, F_OK) != 0 else { return [argument] }
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(argument, 0, nil, &found) == 0 else {
            throw LineFile.Failure(description: "no file matches \(argument)")
        }
        return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    }
}
