internal import Foundation

/// What the system says of memory that can be had.
enum AvailableMemory {
    /// Bytes that this process could still take without swapping, and within its control group; `nil` where the system does not tell.
    ///
    /// - Parameter root: the folder that `/proc` and `/sys` are in.
    static func bytes(root: String = "") -> Int? {
        [machine(root), group(root)].compactMap { $0 }.min()
    }

    /// `MemAvailable` of the machine.
    private static func machine(_ root: String) -> Int? {
        for line in lines(root + "/proc/meminfo") where line.hasPrefix("MemAvailable:") {
            return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
        }
        return nil
    }

    /// The lowest limit of the process's control groups, of either version. A container sees its own group as the outermost.
    private static func group(_ root: String) -> Int? {
        var limits: [Int] = []
        for line in lines(root + "/proc/self/cgroup") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let (folder, file): (String, String)
            if parts[1].isEmpty {
                (folder, file) = ("/sys/fs/cgroup", "memory.max")
            } else if parts[1].split(separator: ",").contains("memory") {
                (folder, file) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            } else {
                continue
            }
            var path = parts[2].split(separator: "/").map(String.init)
            while true {
                let name = ([root + folder] + path + [file]).joined(separator: "/")
                // No limit is `max`, or in the old version a number beyond all memory.
                if let limit = lines(name).first.flatMap({ Int($0) }) { limits.append(limit) }
                if path.popLast() == nil { break }
            }
        }
        return limits.min()
    }

    private static func lines(_ path: String) -> [Substring] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n")
    }
}
