#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The versions of the program and of the Kafka client that it runs with.
public struct BuildFigures: Sendable {
    private let version: String
    private let librdkafka: String

    /// Versions as people write them.
    public init(version: String, librdkafka: String) {
        self.version = version
        self.librdkafka = librdkafka
    }

    func write(to text: inout MetricsText) {
        text.family("tidemark_build_info", .gauge, "Versions; always 1")
        text.sample(1, ["version": version, "librdkafka": librdkafka])
    }
}

/// What the system knows of this process.
public struct ProcessFigures: Equatable, Sendable {
    /// Processor time of all threads, seconds.
    var cpuSeconds: Double
    /// Resident memory, bytes.
    var residentBytes: Int
    /// When the process started, seconds since the epoch.
    var startSeconds: Double

    /// The figures of this process as they are now; `nil` where the system does not tell.
    public static func current() -> ProcessFigures? {
        guard let stat = contents("/proc/self/stat"), let boot = bootSeconds() else { return nil }
        return ProcessFigures(
            stat: stat, bootSeconds: boot, ticks: Double(sysconf(Int32(_SC_CLK_TCK))),
            pageSize: sysconf(Int32(_SC_PAGESIZE)))
    }

    init(cpuSeconds: Double, residentBytes: Int, startSeconds: Double) {
        self.cpuSeconds = cpuSeconds
        self.residentBytes = residentBytes
        self.startSeconds = startSeconds
    }

    /// Reads a line of `/proc/PID/stat`. The second field, the name, may hold spaces and brackets: fields are counted after it.
    init?(stat: String, bootSeconds: Double, ticks: Double, pageSize: Int) {
        guard let bracket = stat.lastIndex(of: ")"), ticks > 0 else { return nil }
        let fields = stat[stat.index(after: bracket)...].split(whereSeparator: \.isWhitespace)
        // The first of them is field 3 in proc(5): user time is 14, system time 15, start 22, resident pages 24.
        guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
            let start = Double(fields[19]), let pages = Int(fields[21])
        else { return nil }
        cpuSeconds = (user + system) / ticks
        residentBytes = pages * pageSize
        startSeconds = bootSeconds + start / ticks
    }

    func write(to text: inout MetricsText) {
        text.family("tidemark_process_cpu_seconds_total", .counter, "Processor time of all threads")
        text.sample(cpuSeconds)
        text.family("tidemark_process_resident_memory_bytes", .gauge, "Resident memory")
        text.sample(residentBytes)
        text.family("tidemark_process_start_time_seconds", .gauge, "When the process started")
        text.sample(startSeconds)
    }

    private static func bootSeconds() -> Double? {
        let line = contents("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) }
    }

    private static func contents(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
