#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A temporary file without a name: it is gone with the process, however that ends. One thread.
final class SpillFile {
    private let directory: String
    private let descriptor: Int32
    /// How many bytes were written.
    private(set) var byteCount: Int64 = 0

    /// Makes a file in a directory, which must exist.
    convenience init(in directory: String) throws(ReplayFailure) {
        var template = Array("\(directory)/tidemark-replay-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw SpillFile.failure("make a temporary file in \(directory)") }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.init(descriptor: descriptor, in: directory)
    }

    /// A file that is open and empty, and is closed with this.
    init(descriptor: Int32, in directory: String) {
        self.descriptor = descriptor
        self.directory = directory
    }

    deinit { close(descriptor) }

    /// Adds bytes at the end.
    func append(_ bytes: UnsafeRawBufferPointer) throws(ReplayFailure) {
        var rest = bytes
        while rest.count > 0 {
            let written = write(descriptor, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else {
                throw SpillFile.failure("write to a temporary file in \(directory) after \(byteCount >> 20) MB")
            }
            byteCount += Int64(written)
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    /// Reads bytes that were written.
    func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws(ReplayFailure) {
        var place = 0
        while place < target.count {
            let got = pread(
                descriptor, target.baseAddress.map { $0 + place }, target.count - place, off_t(offset) + off_t(place))
            if got < 0, errno == EINTR { continue }
            guard got > 0 else {
                throw SpillFile.failure("read back a temporary file in \(directory)", isEnd: got == 0)
            }
            place += got
        }
    }

    private static func failure(_ what: String, isEnd: Bool = false) -> ReplayFailure {
        let reason = isEnd ? "it has become shorter" : String(cString: strerror(errno))
        return ReplayFailure(
            "cannot \(what): \(reason). It takes the events that do not fit into limits.memory; --spill-directory or "
                + "TMPDIR names another directory, which should have a tenth of the input's size free")
    }
}

/// Why a replay cannot go on.
public struct ReplayFailure: Error, CustomStringConvertible {
    /// What, where, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}
