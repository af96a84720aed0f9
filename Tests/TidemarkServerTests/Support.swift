import Foundation
import TidemarkEvents

@testable import TidemarkProcessor

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What a server sent for one request, as text.
struct RawAnswer {
    let text: String

    var statusLine: String { String(text.prefix { $0 != "\r\n" }) }
    var headers: [String: String] {
        let head = text.components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n").dropFirst()
        return head.reduce(into: [:]) { headers, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
    }
    var body: String {
        text.range(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }
}

/// A connection to a port of this host, as raw as it gets.
final class RawConnection {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        // Nobody waits for ever for a server that does not answer.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// All that comes until the server closes the connection.
    func receive() -> RawAnswer {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return RawAnswer(text: String(decoding: bytes, as: UTF8.self)) }
            bytes += buffer[..<count]
        }
    }
}

/// Sends one request and takes the answer.
func request(_ line: String, port: UInt16, headers: String = "", body: String = "") throws -> RawAnswer {
    let connection = try RawConnection(port: port)
    connection.send("\(line) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n\(body)")
    return connection.receive()
}

extension RunStatus {
    /// A process in the middle of its work, with a figure of its own in each place.
    static var sample: RunStatus {
        var status = RunStatus()
        status.phase = .running
        status.records = 1_234
        status.counts.accepted = 1_000
        status.counts.duplicates = 100
        status.counts.skipped = 30
        status.counts.deadLetters = [.late: 3, .malformed: 1]
        for milliseconds in [4, 30, 30, 700, 45_000] { status.commitDurations.add(.milliseconds(milliseconds)) }
        for seconds in [-5, 0, 10, 11, 86_400, 86_501] { status.lateness.add(seconds) }
        status.aborts = 2
        status.pauses = 9
        status.isHeldBack = true
        status.restarts = 1
        status.rebalances = 6
        status.deltasPublished = 17
        status.rowsPublished = 40
        status.loops = [.worker, .aggregator, .standby]
        return status
    }
}

extension LoopStatus {
    static var worker: LoopStatus {
        var loop = LoopStatus(name: "worker-0")
        loop.overdueSeconds = -30
        loop.isJoined = true
        var live = TaskStatus(partition: 10)
        live.users = 5
        live.stateBytes = 640
        live.watermark = 1_700_000_000
        live.inputs = [InputStatus(topic: "in", next: 90, end: 100, stableEnd: 95)]
        var idle = TaskStatus(partition: 2)
        idle.checkpointRemaining = 12
        idle.inputs = [InputStatus(topic: "in", next: 7)]
        loop.tasks = [live, idle]
        return loop
    }

    static var standby: LoopStatus {
        var loop = LoopStatus(name: "standby")
        loop.overdueSeconds = -30
        loop.isJoined = true
        loop.standbys = [
            StandbyStatus(partition: 3, users: 8, stateBytes: 800, remaining: 2),
            StandbyStatus(partition: 4, users: 0, stateBytes: 0, remaining: nil),
        ]
        return loop
    }

    static var repartitioner: LoopStatus {
        var loop = LoopStatus(name: "repartitioner")
        loop.isJoined = true
        loop.sources = [
            SourceStatus(partition: 0, input: InputStatus(topic: "b", next: 9, stableEnd: 9), watermark: 0),
            SourceStatus(partition: 10, input: InputStatus(topic: "a", next: 2, end: 3), watermark: 0),
            SourceStatus(
                partition: 2, input: InputStatus(topic: "a", next: 4, end: 10, stableEnd: 8), watermark: 1_700_000_007),
        ]
        return loop
    }

    static var aggregator: LoopStatus {
        var loop = LoopStatus(name: "aggregator")
        loop.overdueSeconds = -30
        loop.isJoined = true
        loop.reports = [
            ReportStatus(partition: 1, next: 5, end: nil), ReportStatus(partition: 0, next: 5, end: 9),
        ]
        return loop
    }
}
