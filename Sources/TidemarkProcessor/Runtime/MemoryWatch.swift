#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Foundation
internal import TidemarkConfiguration

/// Keeps a process within `limits.memory`: holds back its input while memory is short, and ends it where that does not help.
///
/// A thread of its own looks at the resident memory; workers ask before each poll.
struct MemoryWatch {
    private static let interval = Duration.milliseconds(100)
    /// How long memory may stay short with the input held back, before the process gives up.
    private static let patience = Duration.seconds(30)

    /// Bytes that the process may use.
    let limit: Int
    private var shortSince: ContinuousClock.Instant?

    init(limit: Int) { self.limit = limit }

    /// Watches until the process stops.
    static func start(_ context: RunContext, limit: Int) {
        let thread = Thread {
            var watch = MemoryWatch(limit: limit)
            while !context.control.isStopping {
                if let bytes = ResidentMemory.bytes() {
                    watch.look(at: bytes, context.control)
                    // What was freed shows only once the allocator has given it back.
                    if watch.shortSince != nil { FreeMemory.giveBack() }
                }
                context.control.sleep(interval)
            }
        }
        thread.name = "memory"
        thread.start()
    }

    /// Decides what a figure means.
    mutating func look(at bytes: Int, _ control: RunControl) {
        // Above nine tenths memory is short, and so it is until some room is left.
        let isShort = bytes > limit / 10 * (shortSince == nil ? 9 : 8)
        control.holdBack(isShort)
        guard isShort else { return shortSince = nil }
        guard let since = shortSince else {
            control.log(
                "\(bytes >> 20) MB of memory are in use, limits.memory is \(limit >> 20) MB: input is held back",
                level: .warning)
            return shortSince = control.now
        }
        guard since.duration(to: control.now) >= MemoryWatch.patience else { return }
        let status = control.status
        control.fail(
            RunFailure(
                "\(bytes >> 20) MB of memory are in use after \(MemoryWatch.patience) without input, and limits.memory is \(limit >> 20) MB: "
                    + "the states of \(status.users) users need \(status.stateBytes >> 20) MB. Raise limits.memory, or start "
                    + "more processes, which share the partitions"))
    }
}

/// What the system says of the memory of this process.
enum ResidentMemory {
    /// Resident memory; `nil` where the system does not tell.
    static func bytes() -> Int? {
        guard let file = fopen("/proc/self/statm", "r") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 128)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
        let fields = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
            separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
