#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Foundation
internal import TidemarkConfiguration

/// The name of this process among those of an application: stable over restarts, so that transactional ids are, and never shared.
///
/// Given by `instance`; else the host name and the lowest number whose lock file no other process on this host holds. The lock goes with
/// the process, however it ends.
final class InstanceSlot {
    /// How many processes of one application a host can have without `instance`.
    private static let limit = 64

    let instance: String
    private let descriptor: Int32

    init(_ configuration: Configuration) throws(RunFailure) {
        if let instance = configuration.instance {
            self.instance = instance
            descriptor = -1
            return
        }
        let host = ProcessInfo.processInfo.hostName
        let folder = FileManager.default.temporaryDirectory.path
        for number in 0..<InstanceSlot.limit {
            let path = "\(folder)/tidemark-\(configuration.applicationID)-\(number).lock"
            let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
            guard file >= 0 else {
                throw RunFailure(
                    "cannot open \(path): \(String(cString: strerror(errno))). Set `instance` to a name that no other process of the "
                        + "application has")
            }
            if flock(file, LOCK_EX | LOCK_NB) == 0 {
                instance = "\(host)-\(number)"
                descriptor = file
                return
            }
            Glibc.close(file)
        }
        throw RunFailure("\(InstanceSlot.limit) processes of the application run on this host: set `instance` for more")
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }
}
