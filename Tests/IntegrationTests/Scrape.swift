import Foundation

/// The metrics of a process as read over HTTP: values by series, as in `name{label="value"}`.
struct Scrape {
    let values: [String: Double]

    /// The sum of all series of a name.
    func sum(_ name: String) -> Double { series(name).reduce(0) { $0 + $1.value } }

    /// All series of a name.
    func series(_ name: String) -> [String: Double] {
        values.filter { $0.key == name || $0.key.hasPrefix(name + "{") }
    }

    subscript(series: String) -> Double? { values[series] }

    /// Reads `/metrics` at an address such as `127.0.0.1:9464`.
    static func read(_ address: String) throws -> Scrape {
        let (status, text) = try page("/metrics", address)
        guard status == 200 else { throw TestFailure("/metrics answers \(status): \(text)") }
        var values: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let place = line.lastIndex(of: " ") ?? line.endIndex
            guard let value = Double(line[place...].dropFirst()) else { throw TestFailure("not a sample: \(line)") }
            values[String(line[..<place])] = value
        }
        return Scrape(values: values)
    }

    /// Status and body of a page.
    static func page(_ path: String, _ address: String) throws -> (status: Int, body: String) {
        let parts = address.split(separator: ":")
        guard parts.count == 2, let port = UInt16(parts[1]) else { throw TestFailure("\(address) is no address") }
        let text = try exchange("GET \(path) HTTP/1.1\r\nHost: \(address)\r\n\r\n", port: port)
        let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) }
        guard let status, let end = text.range(of: "\r\n\r\n") else { throw TestFailure("no answer: \(text)") }
        return (status, String(text[end.upperBound...]))
    }

    private static func exchange(_ request: String, port: UInt16) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw TestFailure("port \(port): \(String(cString: strerror(errno)))") }
        _ = Array(request.utf8).withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}

extension TidemarkProcess {
    /// Where the process serves metrics, as its log says.
    func metricsAddress() throws -> String {
        var address: String?
        try eventually(within: 30, "no address in the log: \(log)") {
            guard isRunning else { throw TestFailure("the process has ended: \(log)") }
            let after = log.range(of: "/readyz at http://").map { log[$0.upperBound...] }
            // A line that is still being written has no end yet.
            address = after.flatMap { rest in
                rest.contains("\n") ? String(rest.prefix { $0.isNumber || $0 == "." || $0 == ":" }) : nil
            }
            return address != nil
        }
        return address ?? ""
    }
}
