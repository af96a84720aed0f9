import Foundation

/// Where the program writes: results to standard output, everything else to standard error.
struct Console: Sendable {
    /// Writes a piece of a result, newlines included.
    let output: @Sendable (String) -> Void
    /// Writes a line of anything else.
    let note: @Sendable (String) -> Void

    /// The process's own streams.
    static let standard = Console(
        output: { writeAll($0, to: STDOUT_FILENO) }, note: { writeAll($0 + "\n", to: STDERR_FILENO) })
}

/// Writes a whole text, however small the pieces that the descriptor takes.
///
/// A reader that went away (`| head`) ends the process silently, as it ends other tools. Other errors on standard
/// output end it with a message: half a result must not pass for a whole one.
func writeAll(_ text: String, to descriptor: Int32) {
    var text = text
    let failure: Int32? = text.withUTF8 { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = write(descriptor, rest.baseAddress, rest.count)
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
    guard let failure, descriptor == STDOUT_FILENO else { return }
    if failure == EPIPE {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
    }
    writeAll("tidemark: standard output cannot be written: \(String(cString: strerror(failure)))\n", to: STDERR_FILENO)
    exit(ExitCode.failed)
}

extension Slice where Base == UnsafeBufferPointer<UInt8> {
    fileprivate var baseAddress: UnsafePointer<UInt8>? { base.baseAddress.map { $0 + startIndex } }
}
