import Foundation
import TidemarkWorkload

/// Where a generated stream goes.
protocol LoadTarget: AnyObject {
    /// Takes some records of a piece; throws `CommandFailure` as soon as it is known that records got lost.
    func take(_ piece: WorkloadPiece, _ records: Range<Int>) throws

    /// Says that all records of a piece were taken.
    ///
    /// - Parameter giveBack: called, now or later, once the piece is no longer read.
    func finish(_ piece: WorkloadPiece, giveBack: @escaping (WorkloadPiece) -> Void) throws

    /// Looks whether records got lost; throws `CommandFailure` if so.
    func check() throws

    /// Waits until everything that was taken has arrived.
    ///
    /// - Parameter waiting: told how many records are still under way.
    func finish(waiting: (Int) -> Void) throws
}

/// A file, or standard output: one record a line.
final class FileTarget: LoadTarget {
    private let name: String
    private let descriptor: Int32

    /// - Parameter path: `nil` is standard output.
    init(path: String?) throws(CommandFailure) {
        name = path ?? "standard output"
        descriptor = path.map { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) } ?? STDOUT_FILENO
        guard descriptor >= 0 else {
            throw CommandFailure("cannot write \(name): \(String(cString: strerror(errno)))")
        }
    }

    deinit { if descriptor != STDOUT_FILENO { close(descriptor) } }

    func take(_ piece: WorkloadPiece, _ records: Range<Int>) throws {
        var rest = piece.lines(records)
        while !rest.isEmpty {
            let written = write(descriptor, rest.baseAddress, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            } else if errno != EINTR {
                throw failure(errno)
            }
        }
    }

    func finish(_ piece: WorkloadPiece, giveBack: @escaping (WorkloadPiece) -> Void) { giveBack(piece) }

    func check() {}

    func finish(waiting: (Int) -> Void) {}

    private func failure(_ problem: Int32) -> CommandFailure {
        if problem == EPIPE, descriptor == STDOUT_FILENO {
            // A reader that has seen enough (`| head`) ends the stream as it ends other tools: silently.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        return CommandFailure("cannot write \(name): \(String(cString: strerror(problem)))")
    }
}
