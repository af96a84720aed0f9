import Dispatch
import Foundation

/// Calls back once when the process is asked to stop by SIGTERM or SIGINT; asked again, it ends at once.
///
/// A handler writes to a pipe that is read elsewhere. Dispatch's own sources of signals begin to listen some time after they were
/// started, and what comes in between is lost.
final class StopSignals {
    /// Made before the handler is in place, which must not allocate.
    private static let pipe: (reading: Int32, writing: Int32) = {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { preconditionFailure("no pipe: \(String(cString: strerror(errno)))") }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        return (ends[0], ends[1])
    }()

    private let source: any DispatchSourceRead

    init(_ stop: @escaping @Sendable () -> Void) {
        let reading = StopSignals.pipe.reading
        source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: .global())
        // Only ever touched on the source's handler, one call at a time.
        nonisolated(unsafe) var isRepeated = false
        source.setEventHandler {
            var number: UInt8 = 0
            while read(reading, &number, 1) == 1 {
                if isRepeated { exit(128 + Int32(number)) }
                isRepeated = true
                stop()
            }
        }
        source.resume()
        for number in [SIGTERM, SIGINT] {
            signal(number) { number in
                let error = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(StopSignals.pipe.writing, &byte, 1)
                errno = error
            }
        }
        // Whoever started the program may have handed down that they are blocked.
        var heard = sigset_t()
        sigemptyset(&heard)
        for number in [SIGTERM, SIGINT] { sigaddset(&heard, number) }
        pthread_sigmask(SIG_UNBLOCK, &heard, nil)
    }

    /// From now on signals do nothing.
    func cancel() { source.cancel() }
}
