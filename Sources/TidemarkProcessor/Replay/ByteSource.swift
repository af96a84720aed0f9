#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Bytes that come one after another, of a file or of what a file holds in compressed form.
package protocol ByteSource: AnyObject {
    /// Reads up to `count` bytes, 1 at least; 0 is the end.
    func read(into start: UnsafeMutableRawPointer, count: Int) throws(LineFile.Failure) -> Int
}

extension PlainFile {
    /// What the file holds once it is decompressed, by how it begins; the file itself where it is not compressed.
    package func content() throws(LineFile.Failure) -> any ByteSource {
        let head = try peek(4)
        if head.starts(with: GzipSource.magic) { return GzipSource(self) }
        return head == ZstdSource.magic ? ZstdSource(self) : self
    }
}

/// A file, a pipe or a terminal as it is.
package final class PlainFile: ByteSource {
    /// What messages call it.
    package let name: String
    private let descriptor: Int32
    /// What was looked at and not read yet.
    private var peeked: [UInt8] = []
    /// How many bytes were read.
    package private(set) var byteCount: Int64 = 0
    /// Size of the file, bytes; 0 where it is not a file.
    package private(set) var fileSize: Int64 = 0

    /// Opens a file; `-` is standard input.
    package init(path: String) throws(LineFile.Failure) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LineFile.Failure(description: "cannot open \(name): \(String(cString: strerror(errno)))")
        }
        var status = stat()
        if fstat(descriptor, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR {
                throw LineFile.Failure(
                    description: "cannot read \(name): it is a directory; name its files, as in \(name)/*.ndjson")
            }
            if status.st_mode & S_IFMT == S_IFREG { fileSize = Int64(status.st_size) }
        }
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    /// The first bytes, up to `count` of them, which are read again.
    package func peek(_ count: Int) throws(LineFile.Failure) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: count)
        while peeked.count < count {
            let wanted = count - peeked.count
            let got = try readOn(&piece, wanted)
            guard got > 0 else { break }
            peeked += piece[..<got]
        }
        return peeked
    }

    package func read(into start: UnsafeMutableRawPointer, count: Int) throws(LineFile.Failure) -> Int {
        guard peeked.isEmpty else {
            let size = min(count, peeked.count)
            start.copyMemory(from: peeked, byteCount: size)
            peeked.removeFirst(size)
            return size
        }
        return try readOn(start, count)
    }

    private func readOn(_ start: UnsafeMutableRawPointer, _ count: Int) throws(LineFile.Failure) -> Int {
        var got = systemRead(descriptor, start, count)
        while got < 0, errno == EINTR { got = systemRead(descriptor, start, count) }
        guard got >= 0 else {
            throw LineFile.Failure(
                description: "cannot read \(name) at byte \(byteCount): \(String(cString: strerror(errno)))")
        }
        byteCount += Int64(got)
        return got
    }
}

private func systemRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, start, count)
}
